// JSON patch and merge patch.
#include "api/patch.h"

#include <charconv>
#include <optional>

#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;

std::string unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1'))
      out += token[++i] == '0' ? '~' : '/';
    else
      out += token[i];
  }
  return out;
}

Result<std::vector<std::string>> parse_pointer(const Json& pointer) {
  if (!pointer.is_string()) return make_error(Code::kBadRequest, "json patch: path must be a string");
  std::string_view text = pointer.as_string();
  std::vector<std::string> tokens;
  if (text.empty()) return tokens;
  if (text[0] != '/')
    return make_error(Code::kBadRequest, base::format("json patch: path \"{}\" must begin with '/'", text));
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::size_t slash = text.find('/');
    tokens.push_back(unescape(text.substr(0, slash)));
    text = slash == std::string_view::npos ? std::string_view() : text.substr(slash);
  }
  return tokens;
}

std::optional<std::size_t> index_for(const std::string& token, std::size_t size) {
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return {};
  std::size_t index = 0;
  if (std::from_chars(token.data(), token.data() + token.size(), index).ptr != token.data() + token.size()) return {};
  if (index > size) return {};
  return index;
}

using Path = std::vector<std::string>;

base::Error missing(const Json& path) {
  return make_error(
      Code::kInvalid,
      base::format("the server rejected our request due to an error in our request: path {} does not exist",
                   path.as_string()));
}

const Json* lookup(const Json& document, const Path& path) {
  const Json* at = &document;
  for (const std::string& token : path) {
    if (at->is_array()) {
      const auto index = index_for(token, at->size());
      if (!index || *index >= at->size()) return nullptr;
      at = &(*at)[*index];
    } else {
      at = at->find(token);
      if (!at) return nullptr;
    }
  }
  return at;
}

// The parent of the last token, for editing; null when it does not exist.
Json* parent_of(Json& document, const Path& path) {
  if (!lookup(document, Path(path.begin(), path.end() - 1))) return nullptr;
  Json* at = &document;
  for (std::size_t i = 0; i + 1 < path.size(); ++i)
    at = at->is_array() ? &at->edit(*index_for(path[i], at->size())) : &at->edit(path[i]);
  return at;
}

bool add(Json& document, const Path& path, Json value) {
  if (path.empty()) {
    document = std::move(value);
    return true;
  }
  Json* parent = parent_of(document, path);
  if (!parent) return false;
  if (parent->is_array()) {
    if (path.back() == "-") {
      parent->push_back(std::move(value));
      return true;
    }
    const auto index = index_for(path.back(), parent->size());
    if (!index) return false;
    parent->insert(*index, std::move(value));
    return true;
  }
  if (!parent->is_object()) return false;
  parent->set(path.back(), std::move(value));
  return true;
}

bool remove(Json& document, const Path& path) {
  if (path.empty() || !lookup(document, path)) return false;
  Json* parent = parent_of(document, path);
  if (parent->is_array())
    parent->erase_at(*index_for(path.back(), parent->size()));
  else
    parent->erase(path.back());
  return true;
}

base::Status apply_operation(Json& document, const Json& operation) {
  const std::string_view op = operation["op"].as_string();
  TRY(const Path path, parse_pointer(operation["path"]));
  if (op == "add" || op == "replace" || op == "test") {
    const Json* value = operation.find("value");
    if (!value) return make_error(Code::kBadRequest, base::format("json patch: operation \"{}\" needs a value", op));
    if (op == "test") {
      const Json* current = lookup(document, path);
      if (!(current ? *current == *value : value->is_null()))
        return make_error(
            Code::kInvalid,
            base::format("the server rejected our request due to an error in our request: testing value {} failed",
                         operation["path"].as_string()));
      return {};
    }
    if (op == "replace" && !path.empty()) {
      if (!lookup(document, path)) return missing(operation["path"]);
      Json* parent = parent_of(document, path);
      if (parent->is_array())
        parent->edit(*index_for(path.back(), parent->size())) = *value;
      else
        parent->set(path.back(), *value);
      return {};
    }
    if (!add(document, path, *value)) return missing(operation["path"]);
    return {};
  }
  if (op == "remove") {
    if (!remove(document, path)) return missing(operation["path"]);
    return {};
  }
  if (op == "move" || op == "copy") {
    TRY(const Path from, parse_pointer(operation["from"]));
    const Json* source = lookup(document, from);
    if (!source) return missing(operation["from"]);
    Json value = *source;
    if (op == "move" && !remove(document, from)) return missing(operation["from"]);
    if (!add(document, path, std::move(value))) return missing(operation["path"]);
    return {};
  }
  return make_error(Code::kBadRequest, base::format("json patch: unknown operation \"{}\"", op));
}

}  // namespace

Result<Json> apply_json_patch(const Json& document, const Json& patch) {
  static constexpr std::size_t kOperationsMax = 10'000;
  if (!patch.is_array()) return make_error(Code::kBadRequest, "json patch: the patch must be a list of operations");
  if (patch.size() > kOperationsMax)
    return make_error(Code::kTooLarge, base::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                                    kOperationsMax, patch.size()));
  Json result = document;
  for (const Json& operation : patch.items()) TRY_VOID(apply_operation(result, operation));
  return result;
}

Json apply_merge_patch(const Json& document, const Json& patch) {
  if (!patch.is_object()) return patch;
  Json result = document.is_object() ? document : Json::object();
  for (const Json::Member& member : patch.members()) {
    if (member.value.is_null())
      result.erase(member.name());
    else if (member.value.is_object())
      result.set(member.name(), apply_merge_patch(result[member.name()], member.value));
    else
      result.set(member.name(), member.value);
  }
  return result;
}

Json make_merge_patch(const Json& before, const Json& after) {
  Json patch = Json::object();
  for (const Json::Member& member : after.members()) {
    const Json* old = before.find(member.name());
    if (old && *old == member.value) continue;
    if (old && old->is_object() && member.value.is_object())
      patch.set(member.name(), make_merge_patch(*old, member.value));
    else
      patch.set(member.name(), member.value);
  }
  for (const Json::Member& member : before.members())
    if (!after.has(member.name())) patch.set(member.name(), Json());
  return patch;
}

}  // namespace api
