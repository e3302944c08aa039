// Selectors as text.
#include "api/selector_text.h"

#include <functional>
#include <map>

#include "base/format.h"

namespace api {

std::string selector_text(const Json& selector) {
  const bool is_map = !selector.has("matchLabels") && !selector.has("matchExpressions");
  std::map<std::string, std::string, std::less<>> terms;  // in order of keys
  for (const Json::Member& label : (is_map ? selector : selector["matchLabels"]).members())
    terms[std::string(label.name())] = base::format("{}={}", label.name(), label.value.as_string());
  std::string text;
  for (const auto& [key, term] : terms) text += (text.empty() ? "" : ",") + term;
  for (const Json& one : selector["matchExpressions"].items()) {
    const std::string_view op = one["operator"].as_string();
    std::string values;
    for (const Json& value : one["values"].items()) values += (values.empty() ? "" : ",") + value.str();
    std::string term = (op == "DoesNotExist" ? "!" : "") + one["key"].str();
    if (op == "In" || op == "NotIn") term += base::format(" {} ({})", op == "In" ? "in" : "notin", values);
    text += (text.empty() ? "" : ",") + term;
  }
  return text;
}

}  // namespace api
