// JSON patch: operations on paths, within limits of what they may cost.
#include <charconv>
#include <optional>
#include <set>
#include <span>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/schema/patch.h"
#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::make_error;
using base::Result;
using base::Status;

using Path = std::vector<std::string>;
using PathView = std::span<const std::string>;

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

// A path as a message shows it.
std::string shown_path(const Json& path) { return shortened(path.as_string(), 256); }

Result<Path> parse_pointer(const Json& pointer) {
  if (!pointer.is_string()) return make_error(Code::kInvalid, "json patch: path must be a string");
  std::string_view text = pointer.as_string();
  Path tokens;
  if (text.empty()) return tokens;
  if (text[0] != '/')
    return make_error(Code::kBadRequest,
                      base::format("json patch: path \"{}\" must begin with '/'", shown_path(pointer)));
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
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || end != token.data() + token.size() || index > size) return {};
  return index;
}

const Json* lookup(const Json& document, PathView path) {
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

PathView above(const Path& path) { return PathView(path).first(path.size() - 1); }

// The value at an existing path, for editing.
Json& edit_at(Json& document, PathView path) {
  Json* at = &document;
  for (const std::string& token : path)
    at = at->is_array() ? &at->edit(*index_for(token, at->size())) : &at->edit(token);
  return *at;
}

bool add(Json& document, const Path& path, Json value) {
  if (path.empty()) {
    document = std::move(value);
    return true;
  }
  const Json* there = lookup(document, above(path));
  if (!there || !(there->is_array() || there->is_object())) return false;
  const bool at_end = there->is_array() && path.back() == "-";
  const auto index = there->is_array() && !at_end ? index_for(path.back(), there->size()) : std::nullopt;
  if (there->is_array() && !at_end && !index) return false;
  Json& parent = edit_at(document, above(path));
  if (at_end)
    parent.push_back(std::move(value));
  else if (index)
    parent.insert(*index, std::move(value));
  else
    parent.set(path.back(), std::move(value));
  return true;
}

bool remove(Json& document, const Path& path) {
  if (path.empty() || !lookup(document, path)) return false;
  Json& parent = edit_at(document, above(path));
  if (parent.is_array())
    parent.erase_at(*index_for(path.back(), parent.size()));
  else
    parent.erase(path.back());
  return true;
}

// One patch under way: the document as it is by now, and what was spent.
class Patching {
 public:
  Patching(const Json& document, const Json& patch, const JsonPatchLimits& limits)
      : document_(document), operations_(patch.items()), limits_(limits) {}

  Result<Json> run() {
    const std::uint64_t begun = work_steps;
    while (at_ < operations_.size()) {
      TRY_VOID(step());
      if (work_steps - begun > limits_.steps)
        return make_error(
            Code::kTooLarge,
            base::format("the JSON patch takes more than {} steps of work: it stopped at operation {} of {}",
                         limits_.steps, at_ - 1, operations_.size()));
    }
    return std::move(document_);
  }

 private:
  // "the server rejected our request due to an error in our request: operation 3, test of /a/b: WHY".
  base::Error refused(std::string_view why) const {
    const Json& operation = operations_[at_];
    return make_error(
        Code::kInvalid,
        base::format("the server rejected our request due to an error in our request: operation {}, {} of {}: {}", at_,
                     operation["op"].as_string(), shown_path(operation["path"]), why));
  }
  base::Error missing(const Json& path) const {
    return refused(base::format("path {} does not exist", shown_path(path)));
  }

  Status step() {
    const Json& operation = operations_[at_];
    const std::string_view op = operation["op"].as_string();
    TRY(const Path path, parse_pointer(operation["path"]));
    if (op == "add" || op == "replace" || op == "test") {
      const Json* value = operation.find("value");
      if (!value) return make_error(Code::kBadRequest, base::format("json patch: operation \"{}\" needs a value", op));
      TRY_VOID(op == "test" ? test(path, *value) : op == "add" ? put(path, *value) : replace(path, *value));
    } else if (op == "remove") {
      return remove_run(path);
    } else if (op == "move" || op == "copy") {
      TRY(const Path from, parse_pointer(operation["from"]));
      TRY_VOID(op == "move" ? move(from, path) : copy(from, path));
    } else {
      return make_error(Code::kInvalid, base::format("json patch: unknown operation \"{}\"", shortened(op, 64)));
    }
    ++at_;
    return {};
  }

  Status test(const Path& path, const Json& value) const {
    const Json* current = lookup(document_, path);
    if (current ? *current == value : value.is_null()) return {};
    return refused(base::format("testing value {} failed", shown_path(operations_[at_]["path"])));
  }

  Status put(const Path& path, const Json& value) {
    TRY_VOID(check_extent(path, value));
    if (!add(document_, path, value)) return missing(operations_[at_]["path"]);
    return {};
  }

  Status replace(const Path& path, const Json& value) {
    TRY_VOID(check_extent(path, value));
    if (!lookup(document_, path)) return missing(operations_[at_]["path"]);
    edit_at(document_, path) = value;
    return {};
  }

  Status move(const Path& from, const Path& path) {
    const Json* source = lookup(document_, from);
    if (!source) return missing(operations_[at_]["from"]);
    const Json value = *source;
    if (path.size() > from.size()) TRY_VOID(check_extent(path, value));
    if (!remove(document_, from)) return missing(operations_[at_]["from"]);
    if (!add(document_, path, value)) return missing(operations_[at_]["path"]);
    return {};
  }

  Status copy(const Path& from, const Path& path) {
    const Json* source = lookup(document_, from);
    if (!source) return missing(operations_[at_]["from"]);
    const Json value = *source;
    TRY_VOID(check_extent(path, value, &copied_));
    if (!add(document_, path, value)) return missing(operations_[at_]["path"]);
    return {};
  }

  // Checks a value that takes its place below `path`; `sum` adds its size to that of earlier copies.
  Status check_extent(const Path& path, const Json& value, std::size_t* sum = nullptr) const {
    const std::size_t levels = kObjectLevelsMax > path.size() ? kObjectLevelsMax - path.size() : 0;
    const auto extent = extent_within(value, {.bytes = sum ? limits_.copied_bytes - *sum : SIZE_MAX, .levels = levels});
    if (extent) {
      if (sum) *sum += extent->bytes;
      return {};
    }
    if (extent_within(value, {.bytes = limits_.copied_bytes, .levels = levels}))
      return refused(base::format("all that the patch copies is more than {} bytes", limits_.copied_bytes));
    return refused(base::format("what it adds is larger than {} bytes, or nested more than {} levels deep",
                                limits_.copied_bytes, kObjectLevelsMax));
  }

  // This removal, together with those that follow it from the same object: one look at its members for all of them.
  Status remove_run(const Path& first) {
    const Json* there = first.empty() ? nullptr : lookup(document_, above(first));
    if (!there || !there->is_object()) {
      if (!remove(document_, first)) return missing(operations_[at_]["path"]);
      ++at_;
      return {};
    }
    const auto parent_text = [this] {
      const std::string_view path = operations_[at_]["path"].as_string();
      return path.substr(0, path.rfind('/'));
    };
    const std::string_view parent = parent_text();
    std::set<std::string, std::less<>> names;
    for (; at_ < operations_.size(); ++at_) {
      const Json& operation = operations_[at_];
      if (operation["op"].as_string() != "remove" || parent_text() != parent) break;
      // An operation without a name in its path, or malformed, is the next step's.
      const auto path = parse_pointer(operation["path"]);
      if (!path.ok() || path->empty()) break;
      if (!there->has(path->back()) || !names.insert(path->back()).second) return missing(operation["path"]);
    }
    erase_members(edit_at(document_, above(first)), names);
    return {};
  }

  Json document_;
  std::span<const Json> operations_;
  const JsonPatchLimits& limits_;
  std::size_t at_ = 0;
  std::size_t copied_ = 0;
};

}  // namespace

Result<Json> apply_json_patch(const Json& document, const Json& patch, const JsonPatchLimits& limits) {
  if (!patch.is_array()) return make_error(Code::kBadRequest, "json patch: the patch must be a list of operations");
  if (patch.size() > limits.operations)
    return make_error(Code::kTooLarge, base::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                                    limits.operations, patch.size()));
  return Patching(document, patch, limits).run();
}

}  // namespace api
