// The SDK writes whole numbers of constants as doubles, and items of loops as JSON texts.
#include "pipelines/ir/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/format.h"
#include "base/number.h"
#include "pipelines/ir/fields.h"

namespace pipelines {

using api::Json;

namespace {

constexpr std::array<std::pair<ParameterType, std::string_view>, 8> kNames = {{
    {ParameterType::kDouble, "NUMBER_DOUBLE"},
    {ParameterType::kInteger, "NUMBER_INTEGER"},
    {ParameterType::kString, "STRING"},
    {ParameterType::kBoolean, "BOOLEAN"},
    {ParameterType::kList, "LIST"},
    {ParameterType::kStruct, "STRUCT"},
    {ParameterType::kFinalStatus, "TASK_FINAL_STATUS"},
    {ParameterType::kTaskConfig, "TASK_CONFIG"},
}};
constexpr double kIntegerMax = 9.2e18;

base::Error no_fit(const Json& value, ParameterType type) {
  return base::make_error(base::Code::kInvalid, base::format("{} is not a {}", shown(value), type_name(type)));
}

base::Result<Json> fit_number(const Json& value, ParameterType type) {
  if (!value.is_number()) return no_fit(value, type);
  if (type == ParameterType::kDouble || value.is_int()) return value;
  const double number = value.as_double();
  if (std::floor(number) != number || std::abs(number) > kIntegerMax) return no_fit(value, type);
  return Json(static_cast<std::int64_t>(number));
}

// Python writes True and False.
base::Result<Json> boolean_in(std::string_view text) {
  if (text == "true" || text == "True") return Json(true);
  if (text == "false" || text == "False") return Json(false);
  return no_fit(Json(text), ParameterType::kBoolean);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

std::string_view type_name(ParameterType type) {
  for (const auto& [one, name] : kNames)
    if (one == type) return name;
  return "?";
}

base::Result<Json> fit(const Json& value, ParameterType type) {
  switch (type) {
    case ParameterType::kDouble:
    case ParameterType::kInteger: return fit_number(value, type);
    case ParameterType::kString:
      if (value.is_string()) return value;
      if (value.is_null()) return no_fit(value, type);
      return Json(value.dump());
    case ParameterType::kBoolean:
      if (value.is_bool()) return value;
      return no_fit(value, type);
    case ParameterType::kList:
    case ParameterType::kStruct: {
      const bool is_list = type == ParameterType::kList;
      if (is_list ? value.is_array() : value.is_object()) return value;
      if (!value.is_string()) return no_fit(value, type);
      auto parsed = api::parse_json(value.as_string());
      if (!parsed.ok() || !(is_list ? parsed->is_array() : parsed->is_object())) return no_fit(value, type);
      return parsed;
    }
    case ParameterType::kFinalStatus:
    case ParameterType::kTaskConfig: return value;
  }
  return value;
}

base::Result<Json> fit_text(std::string_view text, ParameterType type) {
  switch (type) {
    case ParameterType::kString: return Json(text);
    case ParameterType::kBoolean: return boolean_in(trimmed(text));
    case ParameterType::kDouble:
    case ParameterType::kInteger: {
      auto parsed = api::parse_json(trimmed(text));
      if (!parsed.ok()) return no_fit(Json(text), type);
      return fit(*parsed, type);
    }
    default: return fit(Json(text), type);
  }
}

bool may_fit(ParameterType given, ParameterType expected) {
  const auto is_number = [](ParameterType type) {
    return type == ParameterType::kDouble || type == ParameterType::kInteger;
  };
  if (given == expected || (is_number(given) && is_number(expected))) return true;
  // A text may be the JSON text of a list, and everything has a text.
  const auto has_text = [](ParameterType type) {
    return type == ParameterType::kList || type == ParameterType::kStruct;
  };
  return (given == ParameterType::kString && has_text(expected)) ||
         (expected == ParameterType::kString && has_text(given));
}

base::Status check_literals(const Json& value, const std::vector<Json>& literals) {
  if (literals.empty() || std::ranges::find(literals, value) != literals.end()) return {};
  return base::make_error(base::Code::kInvalid,
                          base::format("{} is none of {}", shown(value), Json::array(literals).dump()));
}

base::Result<std::vector<Json>> read_selector(std::string_view text) {
  constexpr std::string_view kStart = "parseJson(string_value)";
  const auto wrong = [&] {
    return base::make_error(
        base::Code::kInvalid,
        base::format("{} is not parseJson(string_value) with members in brackets", shown(Json(text))));
  };
  if (!text.starts_with(kStart)) return wrong();
  std::vector<Json> members;
  std::string_view rest = text.substr(kStart.size());
  while (!rest.empty()) {
    // The member is a JSON text or number; the bracket that ends it is the first behind which that can be read.
    if (rest.front() != '[') return wrong();
    bool found = false;
    for (std::size_t end = rest.find(']'); end != std::string_view::npos && !found; end = rest.find(']', end + 1)) {
      auto member = api::parse_json(rest.substr(1, end - 1));
      found = member.ok() && (member->is_string() || member->is_int());
      if (!found) continue;
      members.push_back(*std::move(member));
      rest = rest.substr(end + 1);
      break;
    }
    if (!found) return wrong();
  }
  return members;
}

base::Result<Json> select_members(const Json& value, const std::vector<Json>& members) {
  Json at = value;
  for (const Json& member : members) {
    if (at.is_string())
      if (auto parsed = api::parse_json(at.as_string()); parsed.ok()) at = *std::move(parsed);
    const Json* found = nullptr;
    if (member.is_string()) found = at.find(member.as_string());
    if (member.is_int() && member.as_int() >= 0 && static_cast<std::size_t>(member.as_int()) < at.size())
      found = &at.items()[static_cast<std::size_t>(member.as_int())];
    if (found == nullptr)
      return base::make_error(base::Code::kInvalid, base::format("{} has no member {}", shown(at), member.dump()));
    Json next = *found;
    at = std::move(next);
  }
  return at;
}

}  // namespace pipelines
