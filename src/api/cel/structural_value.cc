// Names as Kubernetes escapes them, and values by their schema.
#include "api/cel/structural_value.h"

#include <algorithm>
#include <array>

#include "api/schema/text_formats.h"
#include "base/base64.h"
#include "base/unix_time.h"

namespace api::cel {
namespace {

// Words of the language.
constexpr std::array<std::string_view, 21> kWords = {
    "true", "false",  "null", "in",   "as",      "break",     "const",  "continue", "else", "for",  "function",
    "if",   "import", "let",  "loop", "package", "namespace", "return", "var",      "void", "while"};

Value text_of(const Structural& schema, const Json& value) {
  const std::string_view format = schema.limits ? std::string_view(schema.limits->format) : std::string_view();
  const std::string_view text = value.as_string();
  if (format == "date-time" || format == "date") {
    const auto time = base::parse_rfc3339_unix(format == "date" ? std::string(text) + "T00:00:00Z" : std::string(text));
    if (time) return TimeValue{time->seconds, time->nanos};
  }
  if (format == "duration")
    if (const auto span = parse_duration_text(text)) return DurationValue{span->ns};
  if (format == "byte")
    if (auto bytes = base::base64_decode(text); bytes.ok()) return Bytes{*std::move(bytes)};
  return Value(text);
}

}  // namespace

std::string escaped_name(std::string_view name) {
  if (std::ranges::find(kWords, name) != kWords.end()) return "__" + std::string(name) + "__";
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9' && i > 0);
    if (c == '_' && name.substr(i).starts_with("__")) {
      out += "__underscores__";
      ++i;
    } else if (letter || c == '_') {
      out += c;
    } else if (c == '.') {
      out += "__dot__";
    } else if (c == '-') {
      out += "__dash__";
    } else if (c == '/') {
      out += "__slash__";
    } else {
      return {};
    }
  }
  return out;
}

bool may_be_selected(std::string_view property, std::string_view field) {
  return escaped_name(property) == field || (property == field && std::ranges::find(kWords, property) != kWords.end());
}

Value value_of(const Structural& schema, const Json& value) {
  if (value.is_string()) return text_of(schema, value);
  if (value.is_number() && schema.type == Structural::Type::kNumber) return Value(value.as_double());
  if (value.is_array()) {
    if (!schema.items) return Value::from_json(value);
    List list;
    for (const Json& item : value.items()) list.push_back(value_of(*schema.items, item));
    list.is_set = schema.list_type == Schema::ListType::kSet;
    if (schema.list_type == Schema::ListType::kMap) {
      std::vector<std::string> keys;
      for (const std::string& key : schema.list_keys) keys.push_back(escaped_name(key));
      list.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
    }
    return list;
  }
  if (!value.is_object()) return Value::from_json(value);
  Map map;
  for (const Json::Member& one : value.members()) {
    if (const Structural* of = schema.member(one.name())) {
      std::string name = escaped_name(one.name());
      if (name.empty()) continue;
      Value of_member = value_of(*of, one.value);
      if (name != one.name() && may_be_selected(one.name(), one.name()))
        map.entries.emplace_back(Value(one.name()), of_member);
      map.entries.emplace_back(Value(std::move(name)), std::move(of_member));
    } else {
      map.entries.emplace_back(
          Value(one.name()), schema.additional ? value_of(*schema.additional, one.value) : Value::from_json(one.value));
    }
  }
  return map;
}

}  // namespace api::cel
