// Selectors of nodes and of labels, as they stand in affinities, spread constraints and policies.
#include "api/schema/selector_rules.h"

#include <algorithm>
#include <array>

#include "api/schema/names.h"

namespace api {

namespace {

constexpr std::array<std::string_view, 6> kNodeOperators = {"DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"};
constexpr std::array<std::string_view, 4> kLabelOperators = {"DoesNotExist", "Exists", "In", "NotIn"};

bool is_choice(std::string_view op) { return op == "In" || op == "NotIn"; }

void check_expression(const Json& expression, const std::string& where, std::span<const std::string_view> operators,
                      FieldErrors& errors) {
  const std::string op = expression["operator"].str();
  const Json& values = expression["values"];
  if (is_choice(op) && values.empty())
    errors.required(in(where, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
  else if ((op == "Exists" || op == "DoesNotExist") && !values.empty())
    errors.forbidden(in(where, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
  else if ((op == "Gt" || op == "Lt") && operators.size() == kNodeOperators.size() && values.size() != 1)
    errors.required(in(where, "values"), "must be specified single value when `operator` is 'Lt' or 'Gt'");
  if (std::ranges::find(operators, op) == operators.end())
    errors.invalid(in(where, "operator"), op, "not a valid selector operator");
  const std::string key = expression["key"].str();
  errors.invalid(in(where, "key"), key, check_qualified_name(key));
  for (std::size_t i = 0; i < values.size(); ++i)
    errors.invalid(at(in(where, "values"), i), values[i], check_label_value(values[i].as_string()));
}

// Only the name of a node's fields can be asked for.
void check_node_field(const Json& field, const std::string& where, FieldErrors& errors) {
  const std::string op = field["operator"].str();
  const Json& values = field["values"];
  if (!is_choice(op))
    errors.invalid(in(where, "operator"), op, "not a valid selector operator");
  else if (values.size() != 1)
    errors.required(in(where, "values"),
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  if (field["key"].as_string() != "metadata.name")
    return errors.invalid(in(where, "key"), field["key"].str(), "not a valid field selector key");
  for (std::size_t i = 0; i < values.size(); ++i)
    errors.invalid(at(in(where, "values"), i), values[i], check_dns_subdomain(values[i].as_string()));
}

}  // namespace

void check_node_term(const Json& term, const std::string& path, FieldErrors& errors) {
  const Json& expressions = term["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i)
    check_expression(expressions[i], at(in(path, "matchExpressions"), i), kNodeOperators, errors);
  const Json& fields = term["matchFields"];
  for (std::size_t i = 0; i < fields.size(); ++i) check_node_field(fields[i], at(in(path, "matchFields"), i), errors);
}

void check_node_selector(const Json& selector, const std::string& path, FieldErrors& errors) {
  const std::string where = in(path, "nodeSelectorTerms");
  const Json& terms = selector["nodeSelectorTerms"];
  if (terms.empty()) errors.required(where, "must have at least one node selector term");
  for (std::size_t i = 0; i < terms.size(); ++i) check_node_term(terms[i], at(where, i), errors);
}

void check_label_selector(const Json& selector, const std::string& path, FieldErrors& errors) {
  check_labels(selector["matchLabels"], in(path, "matchLabels"), errors);
  const Json& expressions = selector["matchExpressions"];
  for (std::size_t i = 0; i < expressions.size(); ++i)
    check_expression(expressions[i], at(in(path, "matchExpressions"), i), kLabelOperators, errors);
}

}  // namespace api
