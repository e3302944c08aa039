// The defaults at creation, as JSON patches (webhooks.md 14.2, and of Jobs what webhooks fill in besides).
#include "admission/policies/policy_objects.h"
#include "admission/rules/vocabulary.h"
#include "base/format.h"

namespace admission {
namespace {

// A patch of one value, where a condition holds. `path` and `value` are expressions.
std::string add_where(const std::string& condition, const std::string& path, const std::string& value) {
  return base::format("{} ? [JSONPatch{{op: 'add', path: {}, value: {}}}] : []", condition, path, value);
}

std::string unset_text(const std::string& of, const std::string& field) {
  return base::format("{}.?{}.orValue('') == ''", of, field);
}

MutatingTable job_mutations() {
  MutatingTable table{"job", api::resources::kJobs, {}, {}};
  table.variables = {{"spec", "object.?spec.orValue({})"},
                     {"tasks", "variables.spec.?tasks.orValue([])"},
                     {"plugins", "variables.spec.?plugins.orValue({})"}};
  // An absent spec has nowhere to add to; it has no task, either, and is refused.
  const auto where = [](const std::string& condition) { return "has(object.spec) && " + condition; };
  // One operation for each task of which the condition holds.
  const auto each_task = [](const std::string& condition, const std::string& field, const std::string& value) {
    return base::format(
        "variables.tasks.transformList(i, t, {}, JSONPatch{{op: 'add', path: '/spec/tasks/' + string(i) + '/{}', "
        "value: {}}})",
        condition, field, value);
  };
  std::vector<std::string> distributed;
  for (const std::string_view name : kDistributedPlugins) distributed.emplace_back(name);
  table.patches = {
      add_where(where(unset_text("object.spec", "queue")), "'/spec/queue'", "'default'"),
      add_where(where(unset_text("object.spec", "schedulerName")), "'/spec/schedulerName'", "'volcano'"),
      add_where(where("int(object.spec.?maxRetry.orValue(0)) == 0"), "'/spec/maxRetry'", "3"),
      each_task(unset_text("t", "name"), "name", "'default' + string(i)"),
      each_task("has(t.template) && has(t.template.spec) && t.template.spec.?hostNetwork.orValue(false) == true && " +
                    unset_text("t.template.spec", "dnsPolicy"),
                "template/spec/dnsPolicy", "'ClusterFirstWithHostNet'"),
      each_task("!has(t.minAvailable)", "minAvailable",
                "int(t.?partitionPolicy.minPartitions.orValue(0)) > 0 ? int(t.partitionPolicy.minPartitions) * "
                "int(t.?partitionPolicy.partitionSize.orValue(0)) : int(t.?replicas.orValue(0))"),
      each_task("int(t.?maxRetry.orValue(0)) == 0", "maxRetry", "3"),
      add_where(where("int(object.spec.?minAvailable.orValue(0)) == 0"), "'/spec/minAvailable'",
                "variables.tasks.map(t, int(t.?minAvailable.orValue(t.?replicas.orValue(0)))).sum()"),
      add_where(
          base::format("{}.exists(p, p in variables.plugins) && !('svc' in variables.plugins)", text_list(distributed)),
          "'/spec/plugins/svc'", "[]"),
      add_where("'mpi' in variables.plugins && !('ssh' in variables.plugins)", "'/spec/plugins/ssh'", "[]"),
  };
  return table;
}

MutatingTable queue_mutations() {
  MutatingTable table{"queue", api::resources::kQueues, {}, {}};
  table.variables = {{"annotations", "object.metadata.?annotations.orValue({})"},
                     {"hierarchy", base::format("string(variables.annotations[?'{}'].orValue(''))", kHierarchy)},
                     {"weights", base::format("string(variables.annotations[?'{}'].orValue(''))", kWeights)}};
  const auto annotation = [](std::string_view name) {
    return base::format("'/metadata/annotations/' + jsonpatch.escapeKey('{}')", name);
  };
  table.patches = {
      base::format(
          "variables.hierarchy != '' && variables.weights != '' && !variables.hierarchy.startsWith('root') ? "
          "[JSONPatch{{op: 'add', path: {}, value: 'root/' + variables.hierarchy}}, JSONPatch{{op: 'add', path: "
          "{}, value: '1/' + variables.weights}}] : []",
          annotation(kHierarchy), annotation(kWeights)),
      add_where("!has(object.spec)", "'/spec'", "Object.spec{}"),
      add_where("!has(object.spec.reclaimable)", "'/spec/reclaimable'", "true"),
      add_where("int(object.spec.?weight.orValue(0)) == 0", "'/spec/weight'", "1"),
  };
  return table;
}

MutatingTable podgroup_mutations() {
  MutatingTable table{"podgroup", api::resources::kPodGroups, {}, {}};
  table.variables = {
      {"named", base::format("namespaceObject.metadata.?annotations[?'{}'].hasValue()", kNamespaceQueue)},
      {"queue", base::format("string(namespaceObject.metadata.?annotations[?'{}'].orValue(''))", kNamespaceQueue)}};
  table.patches = {
      add_where("object.?spec.queue.orValue('') == 'default' && variables.named", "'/spec/queue'", "variables.queue")};
  return table;
}

// Values for a demonstration, as Volcano ships them.
MutatingTable pod_mutations() {
  MutatingTable table{"pod", api::resources::kPods, {}, {}};
  table.variables = {{"group", "string(object.metadata.?annotations[?'volcano.sh/resource-group'].orValue(''))"},
                     {"chosen", "variables.group == 'default'"}};
  const std::string toleration =
      "Object.spec.tolerations{key: 'volcano.sh/node-group', operator: 'Equal', value: 'compute', effect: "
      "'NoSchedule'}";
  table.patches = {
      add_where("variables.chosen || (variables.group == '' && request.namespace == 'volcano-system')",
                "'/spec/schedulerName'", "'volcano'"),
      // Between two patches an API server drops what is empty: the first one brings all.
      add_where("variables.chosen && has(object.spec.nodeSelector)",
                "'/spec/nodeSelector/' + jsonpatch.escapeKey('volcano.sh/node-group')", "'compute'"),
      add_where("variables.chosen && !has(object.spec.nodeSelector)", "'/spec/nodeSelector'",
                "{'volcano.sh/node-group': 'compute'}"),
      add_where("variables.chosen && has(object.spec.tolerations)", "'/spec/tolerations/-'", toleration),
      add_where("variables.chosen && !has(object.spec.tolerations)", "'/spec/tolerations'", "[" + toleration + "]"),
  };
  return table;
}

}  // namespace

std::vector<MutatingTable> mutation_policies() {
  return {job_mutations(), queue_mutations(), podgroup_mutations(), pod_mutations()};
}

}  // namespace admission
