// libyaml's events turned into Json. This file is the only one that sees libyaml.
#include "api/json/yaml.h"

#include <yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <memory>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/json/yaml_scalar.h"
#include "base/format.h"

namespace api {
namespace {

using base::Code;
using base::Error;
using base::make_error;
using base::Result;

constexpr int kRecursionMax = 500;  // deeper documents are refused, before the stack is at risk
constexpr std::size_t kAliasNodesMax = 100'000;
constexpr std::size_t kAliasBytesMax = std::size_t{3} << 20;  // what aliases stand for, as text

// libyaml looks at all open brackets for each token, and at all directives for each directive.
constexpr std::size_t kNestedMax = 16'000'000;  // sum over all values of how deep each is
constexpr int kDirectivesMax = 64;

// Lines of "%": before the first document, and after the end of one.
base::Status check_directives(std::string_view text) {
  bool may_come = true;
  int directives = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\r\n", at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (may_come && line.starts_with('%') && ++directives > kDirectivesMax)
      return make_error(Code::kBadRequest, base::format("yaml: more than {} directives", kDirectivesMax));
    may_come =
        line.starts_with("...") || (may_come && (line.empty() || line.starts_with('%') || line.starts_with('#')));
  }
  return {};
}

struct Event {
  yaml_event_t raw{};
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { yaml_event_delete(&raw); }
};

// The value that an alias stands for, once more.
struct Repeated {
  std::size_t nodes = 0;
  std::size_t bytes = 0;

  bool excessive() const { return nodes > kAliasNodesMax || bytes > kAliasBytesMax; }
  void add(const Json& json) {
    ++nodes;
    bytes += json.as_string().size();
    for (const Json& item : json.items()) {
      if (excessive()) return;
      add(item);
    }
    for (const Json::Member& member : json.members()) {
      if (excessive()) return;
      bytes += member.name().size();
      add(member.value);
    }
  }
};

class Reader {
 public:
  Reader(std::string_view text, YamlOptions options) : options_(options) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.empty() ? "" : text.data()),
                                 text.size());
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { yaml_parser_delete(&parser_); }

  // The next document; `end` is set when the stream is over.
  Result<YamlDocument> next(bool& end) {
    anchors_.clear();
    repeated_ = {};
    for (;;) {
      Event event;
      TRY_VOID(read(event));
      if (event.raw.type == YAML_STREAM_END_EVENT) {
        end = true;
        return YamlDocument{};
      }
      if (event.raw.type == YAML_STREAM_START_EVENT || event.raw.type == YAML_DOCUMENT_END_EVENT) continue;
      if (event.raw.type == YAML_DOCUMENT_START_EVENT) continue;
      const int line = static_cast<int>(event.raw.start_mark.line) + 1;
      TRY(Json value, node(event.raw, 0));
      // Aliases of aliases are deeper than what was read.
      if (repeated_.nodes > 0 && !extent_within(value, {.levels = kDocumentLevelsMax}))
        return at_line(event.raw, base::format("more than {} levels", kDocumentLevelsMax));
      return YamlDocument{std::move(value), line};
    }
  }

 private:
  base::Status read(Event& event) {
    if (yaml_parser_parse(&parser_, &event.raw)) return count(event.raw);
    const std::size_t line = (parser_.problem_mark.line ? parser_.problem_mark.line : parser_.context_mark.line) + 1;
    const char* problem = parser_.problem ? parser_.problem : "unknown problem";
    return make_error(Code::kBadRequest, base::format("yaml: line {}: {}", line, problem));
  }

  base::Status count(const yaml_event_t& event) {
    if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) --open_;
    nested_ += open_;
    if (event.type == YAML_SEQUENCE_START_EVENT || event.type == YAML_MAPPING_START_EVENT) ++open_;
    if (nested_ > kNestedMax) return at_line(event, "too many values are nested too deeply");
    return {};
  }

  static Error at_line(const yaml_event_t& event, std::string_view problem) {
    return make_error(Code::kBadRequest, base::format("yaml: line {}: {}", event.start_mark.line + 1, problem));
  }

  void keep_anchor(const yaml_char_t* anchor, const Json& value) {
    if (anchor) anchors_.insert_or_assign(reinterpret_cast<const char*>(anchor), value);
  }

  Result<Json> node(const yaml_event_t& event, int depth) {
    if (depth > kRecursionMax) return at_line(event, "exceeded max depth");
    switch (event.type) {
      case YAML_SCALAR_EVENT: {
        TRY(Json value, scalar(event));
        keep_anchor(event.data.scalar.anchor, value);
        return value;
      }
      case YAML_ALIAS_EVENT: {
        const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
        const auto found = anchors_.find(name);
        if (found == anchors_.end()) return at_line(event, base::format("unknown anchor '{}' referenced", name));
        repeated_.add(found->second);
        if (repeated_.excessive()) return at_line(event, "document contains excessive aliasing");
        return found->second;
      }
      case YAML_SEQUENCE_START_EVENT: return sequence(event, depth);
      case YAML_MAPPING_START_EVENT: return mapping(event, depth);
      default: return at_line(event, "unexpected event");
    }
  }

  Result<Json> scalar(const yaml_event_t& event) {
    const auto& raw = event.data.scalar;
    const std::string_view text(reinterpret_cast<const char*>(raw.value), raw.length);
    const std::string_view tag = raw.tag ? reinterpret_cast<const char*>(raw.tag) : "";
    const bool is_letter = text == "y" || text == "Y" || text == "n" || text == "N";
    if (options_.letters_are_texts && is_letter && tag.empty()) return Json(text);
    auto value = resolve_yaml_scalar(text, tag, raw.style == YAML_PLAIN_SCALAR_STYLE);
    if (!value.ok()) return at_line(event, value.error().message);
    return value;
  }

  Result<Json> sequence(const yaml_event_t& start, int depth) {
    const std::string anchor =
        start.data.sequence_start.anchor ? reinterpret_cast<const char*>(start.data.sequence_start.anchor) : "";
    std::vector<Json> items;
    const std::size_t mark = path_.size();
    for (;;) {
      Event event;
      TRY_VOID(read(event));
      if (event.raw.type == YAML_SEQUENCE_END_EVENT) break;
      if (options_.duplicate_keys) path_ += "[" + std::to_string(items.size()) + "]";
      TRY(Json item, node(event.raw, depth + 1));
      path_.resize(mark);
      items.push_back(std::move(item));
    }
    Json result = Json::array(std::move(items));
    if (!anchor.empty()) anchors_.insert_or_assign(anchor, result);
    return result;
  }

  Result<Json> mapping(const yaml_event_t& start, int depth) {
    const std::string anchor =
        start.data.mapping_start.anchor ? reinterpret_cast<const char*>(start.data.mapping_start.anchor) : "";
    Json result = Json::object();
    std::vector<Json> merges;
    const std::size_t mark = path_.size();
    for (;;) {
      Event key_event;
      TRY_VOID(read(key_event));
      if (key_event.raw.type == YAML_MAPPING_END_EVENT) break;
      const bool merge = key_event.raw.type == YAML_SCALAR_EVENT && is_merge_key(key_event.raw);
      TRY(const std::string key, key_text(key_event.raw, depth));
      Event value_event;
      TRY_VOID(read(value_event));
      if (options_.duplicate_keys) {
        if (!path_.empty()) path_ += ".";
        path_ += key;
        if (!merge && result.has(key)) record_duplicate(*options_.duplicate_keys, path_);
      }
      TRY(Json value, node(value_event.raw, depth + 1));
      path_.resize(mark);
      if (merge)
        merges.push_back(std::move(value));
      else
        result.set(key, std::move(value));
    }
    for (const Json& merge : merges) TRY_VOID(merge_into(result, merge, start));
    if (!anchor.empty()) anchors_.insert_or_assign(anchor, result);
    return result;
  }

  static bool is_merge_key(const yaml_event_t& event) {
    const auto& raw = event.data.scalar;
    return raw.style == YAML_PLAIN_SCALAR_STYLE &&
           std::string_view(reinterpret_cast<const char*>(raw.value), raw.length) == "<<";
  }

  static base::Status merge_into(Json& target, const Json& source, const yaml_event_t& where) {
    if (source.is_array()) {
      for (const Json& item : source.items()) TRY_VOID(merge_into(target, item, where));
      return {};
    }
    if (!source.is_object()) return at_line(where, "map merge requires map or sequence of maps as the value");
    for (const Json::Member& member : source.members())
      if (!target.has(member.name())) target.set(member.name(), member.value);
    return {};
  }

  Result<std::string> key_text(const yaml_event_t& event, int depth) {
    TRY(const Json key, node(event, depth + 1));
    if (key.is_string()) return key.str();
    if (key.is_bool()) return std::string(key.as_bool() ? "true" : "false");
    if (key.is_number()) return key.dump();
    if (key.is_null()) return std::string("null");
    return at_line(event, "invalid map key");
  }

  yaml_parser_t parser_{};
  YamlOptions options_;
  std::map<std::string, Json, std::less<>> anchors_;
  Repeated repeated_;
  std::string path_;
  std::size_t open_ = 0;    // lists and mappings
  std::size_t nested_ = 0;  // see kNestedMax
};

}  // namespace

Result<Json> parse_yaml(std::string_view text, YamlOptions options) {
  TRY_VOID(check_directives(text));
  Reader reader(text, options);
  bool end = false;
  TRY(YamlDocument document, reader.next(end));
  if (end) return Json();
  return std::move(document.value);
}

Result<std::vector<YamlDocument>> parse_yaml_documents(std::string_view text, YamlOptions options) {
  TRY_VOID(check_directives(text));
  Reader reader(text, options);
  std::vector<YamlDocument> documents;
  for (bool end = false;;) {
    TRY(YamlDocument document, reader.next(end));
    if (end) return documents;
    if (!document.value.is_null()) documents.push_back(std::move(document));
  }
}

}  // namespace api
