// Walks two schemas side by side.
#include "api/schema_differences.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"

namespace api {
namespace {

std::string_view type_of(const Json& schema) {
  if (schema["x-kubernetes-int-or-string"].as_bool()) return "integer or string";
  const std::string_view type = schema["type"].as_string();
  return type.empty() ? "anything" : type;
}

bool takes_all_of(std::string_view after, std::string_view before) {
  if (after == before || after == "anything") return true;
  if (after == "number") return before == "integer";
  return after == "integer or string" && (before == "integer" || before == "string");
}

bool asks_for(const Json& schema, std::string_view name) {
  return std::ranges::any_of(schema["required"].items(), [&](const Json& one) { return one.as_string() == name; });
}

void compare(const Json& before, const Json& after, const std::string& path, std::vector<std::string>& out) {
  const std::string_view there = type_of(before), here = type_of(after);
  if (!takes_all_of(here, there)) {
    out.push_back(base::format("{} is {} instead of {}", path.empty() ? "an object" : path, here, there));
    return;
  }
  if (before["nullable"].as_bool() && !after["nullable"].as_bool() && after["default"].is_null())
    out.push_back(base::format("{} may not be null", path));
  const auto inner = [&path](std::string_view name) {
    return path.empty() ? std::string(name) : base::format("{}.{}", path, name);
  };
  for (const Json& one : after["required"].items()) {
    const std::string_view name = one.as_string();
    if (!asks_for(before, name) && after["properties"][name]["default"].is_null())
      out.push_back(inner(name) + " is required");
  }
  for (const Json::Member& member : before["properties"].members())
    if (const Json* same = after["properties"].find(member.name()))
      compare(member.value, *same, inner(member.name()), out);
  if (before["items"].is_object() && after["items"].is_object())
    compare(before["items"], after["items"], path + "[]", out);
  if (before["additionalProperties"].is_object() && after["additionalProperties"].is_object())
    compare(before["additionalProperties"], after["additionalProperties"], path + "{}", out);
}

}  // namespace

std::vector<std::string> narrower_places(const Json& before, const Json& after) {
  std::vector<std::string> out;
  compare(before, after, "", out);
  return out;
}

}  // namespace api
