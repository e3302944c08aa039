// Label selectors, as text ("app in (a,b),tier!=db,!legacy") and as LabelSelector objects; field selectors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace api {

struct Requirement {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreaterThan, kLessThan };

  std::string key;
  Operator op = Operator::kIn;
  std::vector<std::string> values = {};

  // `value` is null when the label is absent.
  bool matches(const std::string_view* value) const;
  bool operator==(const Requirement&) const = default;
};

// All requirements must hold; none means everything matches.
struct LabelSelector {
  std::vector<Requirement> requirements;

  bool matches(const Json& labels) const;  // an object of strings, or null
  bool operator==(const LabelSelector&) const = default;
};

// The text form of list and watch requests.
base::Result<LabelSelector> parse_label_selector(std::string_view text);
// metav1.LabelSelector {matchLabels, matchExpressions}. A null or absent selector selects nothing in most APIs: callers
// decide.
base::Result<LabelSelector> label_selector_from(const Json& json);

// One term of "spec.nodeName=n1,status.phase!=Running".
struct FieldTerm {
  std::string path;
  bool equal = true;
  std::string value;
};
base::Result<std::vector<FieldTerm>> parse_field_selector(std::string_view text);
// The value at a dotted path as text: absent and null are "", booleans and numbers their JSON text.
std::string field_text(const Json& object, std::string_view path);
bool matches(const std::vector<FieldTerm>& terms, const Json& object);

}  // namespace api
