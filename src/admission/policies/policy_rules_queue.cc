// The rules of one Queue by itself that expressions can say; what concerns its relatives only webhooks know.
#include "admission/policies/policy_objects.h"
#include "admission/rules/vocabulary.h"
#include "base/format.h"

namespace admission {
namespace {

struct Amounts {
  std::string_view field;     // in messages
  std::string_view variable;  // which holds them
};
constexpr Amounts kAmounts[] = {{"capability", "capability"}, {"deserved", "deserved"}, {"guarantee", "guarantee"}};

void add_amounts(std::vector<PolicyRule>& rules) {
  for (const Amounts& one : kAmounts)
    rules.push_back({base::format("variables.{0}.all(k, string(variables.{0}[k]) != '')", one.variable),
                     base::format("{} resource values must not be empty", one.field)});
  for (const Amounts& one : kAmounts)
    rules.push_back({base::format("variables.{0}.all(k, !quantity(string(variables.{0}[k])).isLessThan(quantity('0')))",
                                  one.variable),
                     base::format("{} resource values must be greater than or equal to 0", one.field)});
  for (const Amounts& one : kAmounts)
    rules.push_back(
        {base::format("variables.{0}.all(k, !(k in {1} || (k.contains('/') && !k.contains('kubernetes.io/') && "
                      "!k.startsWith('requests.'))) || quantity(string(variables.{0}[k])).isInteger())",
                      one.variable, text_list({kCountedResources.begin(), kCountedResources.end()})),
         base::format("{} of a counted resource must be an integer", one.field)});
  rules.push_back(
      {"variables.deserved.all(k, !(k in variables.capability) || "
       "quantity(string(variables.deserved[k])).compareTo(quantity(string(variables.capability[k]))) <= 0)",
       "deserved resource values must be <= capability"});
  rules.push_back(
      {"variables.guarantee.all(k, k in variables.deserved && "
       "quantity(string(variables.deserved[k])).compareTo(quantity(string(variables.guarantee[k]))) >= 0)",
       "deserved resource values must be >= guarantee"});
}

void add_hierarchy(std::vector<PolicyRule>& rules) {
  rules.push_back(
      {"(variables.hierarchy == '' && variables.weights == '') || size(variables.hierarchy.split('/')) == "
       "size(variables.weights.split('/'))",
       base::format("{} must have the same length with {}", kHierarchy, kWeights)});
  // Go's numbers, exponents included.
  const std::string number = "^[+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([eE][+-]?[0-9]+)?$";
  rules.push_back({base::format("(variables.hierarchy == '' && variables.weights == '') || "
                                "variables.weights.split('/').all(w, w.matches('{}') && double(w) > 0.0)",
                                number),
                   base::format("weights in {} must be larger than 0", kWeights)});
}

// Names between commas.
void add_access(std::vector<PolicyRule>& rules) {
  for (const auto& [annotation, pattern] : {std::pair{kAllowedNamespaces, "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"},
                                            {kAllowedUsers, "^[^[:cntrl:]]+$"},
                                            {kAllowedGroups, "^[^[:cntrl:]]+$"}})
    rules.push_back({base::format("!('{0}' in variables.annotations) || "
                                  "string(variables.annotations['{0}']).split(',').all(w, w.trim().matches('{1}'))",
                                  annotation, pattern),
                     base::format("{} must be a comma-separated list of names", annotation)});
}

// The same amounts, in whatever words: 1000m is 1.
std::string same_amounts(std::string_view variable) {
  return base::format(
      "size(variables.{0}) == size(variables.old_{0}) && variables.{0}.all(k, k in variables.old_{0} && "
      "quantity(string(variables.{0}[k])).compareTo(quantity(string(variables.old_{0}[k]))) == 0)",
      variable);
}

// By the object's name: the deletion of a collection has none.
void add_special_queues(std::vector<PolicyRule>& rules) {
  for (const char* name : {"default", "root"})
    rules.push_back({base::format("request.operation != 'DELETE' || variables.queue.metadata.name != '{}'", name),
                     base::format("`{}` queue can not be deleted", name)});
  rules.push_back(
      {base::format("request.operation != 'UPDATE' || variables.queue.metadata.name != 'root' || ({} && {} && {})",
                    same_amounts("capability"), same_amounts("deserved"), same_amounts("guarantee")),
       std::string(kFrozenRoot)});
  rules.push_back(
      {"request.operation == 'DELETE' || variables.queue.metadata.name == 'root' || "
       "variables.spec.?parent.orValue('') != variables.queue.metadata.name",
       "a queue cannot use itself as parent",
       "'queue ' + string(object.metadata.name) + ' cannot use itself as parent'"});
}

}  // namespace

ValidatingTable queue_policy() {
  ValidatingTable table{"queue", api::resources::kQueues, {"CREATE", "UPDATE", "DELETE"}, {}, {}};
  // The content of a deleted object is not judged.
  table.variables = {
      {"queue", "object == null ? oldObject : object"},
      {"spec", "object == null ? dyn({}) : object.?spec.orValue({})"},
      {"oldSpec", "oldObject == null ? dyn({}) : oldObject.?spec.orValue({})"},
      {"annotations", "object == null ? dyn({}) : object.metadata.?annotations.orValue({})"},
      {"hierarchy", base::format("string(variables.annotations[?'{}'].orValue(''))", kHierarchy)},
      {"weights", base::format("string(variables.annotations[?'{}'].orValue(''))", kWeights)},
      {"capability", "variables.spec.?capability.orValue({})"},
      {"deserved", "variables.spec.?deserved.orValue({})"},
      {"guarantee", "variables.spec.?guarantee.resource.orValue({})"},
      {"old_capability", "variables.oldSpec.?capability.orValue({})"},
      {"old_deserved", "variables.oldSpec.?deserved.orValue({})"},
      {"old_guarantee", "variables.oldSpec.?guarantee.resource.orValue({})"},
  };
  // COMPAT(queue-state-on-update)
  table.rules.push_back(
      {"object == null || object.?status.state.orValue('') in ['', 'Open', 'Closed'] || (oldObject != "
       "null && oldObject.?status.state == object.?status.state)",
       "queue state must be in [Open, Closed]"});
  add_amounts(table.rules);
  add_hierarchy(table.rules);
  add_access(table.rules);
  add_special_queues(table.rules);
  return table;
}

}  // namespace admission
