// The rules of Jobs that expressions can say (webhooks.md 14.1, and of its gaps what can be closed).
#include "admission/policies/policy_objects.h"
#include "admission/rules/vocabulary.h"
#include "api/batch/v1alpha1/job_plugins.h"
#include "base/format.h"

namespace admission {
namespace {

template <class Words>
std::string listed(const Words& words) {
  return text_list({words.begin(), words.end()});
}

// A rule of creation, of updates.
std::string on_create(const std::string& rule) { return "request.operation != 'CREATE' || (" + rule + ")"; }
std::string on_update(const std::string& rule) { return "request.operation != 'UPDATE' || (" + rule + ")"; }

// The rules hold of the list of the job and of that of each task.
std::string each_policy(const std::string& rule) { return "variables.policyLists.all(l, l.all(p, " + rule + "))"; }

// A text that is not said and an empty one are the same.
std::string reported(const std::string& of, const std::string& field) {
  return base::format("has({0}.{1}) && {0}.{1} != ''", of, field);
}

std::string both_tiers(const std::string& of) {
  return base::format("!has({0}.networkTopology) || !has({0}.networkTopology.highestTierAllowed) || !({1})", of,
                      reported(of + ".networkTopology", "highestTierName"));
}

void add_sizes(std::vector<PolicyRule>& rules) {
  rules.push_back({"int(variables.spec.?minAvailable.orValue(0)) >= 0", "job 'minAvailable' must be >= 0"});
  rules.push_back({"int(variables.spec.?maxRetry.orValue(0)) >= 0", "'maxRetry' cannot be less than zero"});
  rules.push_back({"int(variables.spec.?ttlSecondsAfterFinished.orValue(0)) >= 0",
                   "'ttlSecondsAfterFinished' cannot be less than zero"});
  rules.push_back({"size(variables.tasks) > 0", "No task specified in job spec"});
  rules.push_back({"variables.names.all(n, variables.names.exists_one(m, m == n))", "duplicated task name found"});
  rules.push_back({"variables.names.all(n, size(n) <= 63 && n.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$'))",
                   "a lowercase RFC 1123 label must consist of lower case alphanumeric characters"});
  rules.push_back({"variables.tasks.all(t, int(t.?replicas.orValue(0)) >= 0)", "'replicas' < 0 in task"});
  rules.push_back({"variables.tasks.all(t, int(t.?minAvailable.orValue(0)) >= 0)", "'minAvailable' < 0 in task"});
  rules.push_back({"variables.tasks.all(t, int(t.?minAvailable.orValue(0)) <= int(t.?replicas.orValue(0)))",
                   "'minAvailable' is greater than 'replicas' in task"});
  const std::string fits = "int(variables.spec.?minAvailable.orValue(0)) <= variables.replicas";
  rules.push_back({on_create(fits), "job 'minAvailable' should not be greater than total replicas in tasks"});
  rules.push_back({on_update(fits), "job 'minAvailable' must not be greater than total replicas"});
}

void add_policies(std::vector<PolicyRule>& rules) {
  const std::string has_event = "((" + reported("p", "event") + ") || size(p.?events.orValue([])) > 0)";
  rules.push_back({"variables.policyEvents.all(l, l.all(e, e.all(x, x in " + listed(kPolicyEvents) + ")))",
                   "invalid policy event"});
  rules.push_back({each_policy("!" + has_event + " || p.?action.orValue('') in " + listed(kPolicyActions)),
                   "invalid policy action"});
  rules.push_back(
      {each_policy("!has(p.exitCode) || !" + has_event), "must not specify event and exitCode simultaneously"});
  rules.push_back({each_policy("has(p.exitCode) || " + has_event), "either event and exitCode should be specified"});
  rules.push_back({each_policy("!has(p.exitCode) || p.exitCode != 0"), "0 is not a valid error code"});
  rules.push_back(
      {"variables.policyEvents.all(l, l.all(e, e.all(x, l.exists_one(f, x in f))))", "duplicate policy event found"});
  rules.push_back({each_policy("!has(p.exitCode) || l.exists_one(q, has(q.exitCode) && q.exitCode == p.exitCode)"),
                   "duplicate exitCode found"});
  rules.push_back({"variables.policyEvents.all(l, !l.exists(e, '*' in e) || l.all(e, e.all(x, x == '*')))",
                   "if there's * here, no other policy should be here"});
}

void add_volumes(std::vector<PolicyRule>& rules) {
  const std::string claim_name = "(" + reported("v", "volumeClaimName") + ")";
  rules.push_back({"variables.volumes.all(v, " + reported("v", "mountPath") + ")", "mountPath is required"});
  rules.push_back(
      {"variables.volumes.all(v, variables.volumes.exists_one(w, w.?mountPath.orValue('') == "
       "v.?mountPath.orValue('')))",
       "duplicated mountPath found"});
  rules.push_back({"variables.volumes.all(v, has(v.volumeClaim) || " + claim_name + ")",
                   "either VolumeClaim or VolumeClaimName must be specified"});
  // The controller names the claims that it makes.
  rules.push_back(
      {on_create("variables.volumes.all(v, !has(v.volumeClaim) || !" + claim_name + ")"), std::string(kTwoClaims)});
  rules.push_back({on_create("variables.volumes.all(v, !" + claim_name +
                             " || !format.dns1123Subdomain().validate(v.volumeClaimName).hasValue())"),
                   "invalid VolumeClaimName"});
}

// Rules that 14.1 leaves to webhooks, although expressions can say them.
void add_gaps(std::vector<PolicyRule>& rules) {
  rules.push_back({both_tiers("variables.spec"), std::string(kBothTiers)});
  rules.push_back({"variables.partitioned.all(t, " + both_tiers("t.partitionPolicy") + ")", std::string(kBothTiers)});
  rules.push_back(
      {"variables.partitioned.all(t, int(t.?replicas.orValue(0)) == int(t.partitionPolicy.totalPartitions) "
       "* int(t.partitionPolicy.partitionSize))",
       "'Replicas' are not equal to TotalPartitions*PartitionSize"});
  rules.push_back(
      {"variables.partitioned.all(t, !has(t.minAvailable) || "
       "int(t.partitionPolicy.?minPartitions.orValue(0)) <= 0 || int(t.minAvailable) == "
       "int(t.partitionPolicy.minPartitions) * int(t.partitionPolicy.partitionSize))",
       "'MinAvailable' is not equal to MinPartitions*PartitionSize"});
  rules.push_back({on_create("variables.spec.?plugins.orValue({}).all(k, k in " + listed(api::kJobPlugins) + ")"),
                   "unable to find job plugin"});
  rules.push_back({on_create("!has(variables.spec.plugins) || !has(variables.spec.plugins.mpi) || "
                             "size(variables.spec.plugins.mpi) > 0 || 'master' in variables.names"),
                   "The specified mpi master task was not found"});
  rules.push_back({on_create("variables.spec.?queue.orValue('') != 'root'"), "can not submit job to root queue"});
  rules.push_back({on_create("variables.tasks.all(t, t.?dependsOn.name.orValue([]).all(d, d in variables.names && d != "
                             "t.?name.orValue('')))"),
                   "job has dependencies between tasks, but doesn't form a directed acyclic graph(DAG)"});
  const std::string whole = "quantity(string(c.?resources.requests.cpu.orValue(c.?resources.limits.cpu.orValue('0'))))";
  rules.push_back(
      {on_create("variables.tasks.all(t, t.?topologyPolicy.orValue('') in ['', 'none'] || "
                 "(t.?template.spec.containers.orValue([]) + t.?template.spec.initContainers.orValue([])).all(c, " +
                 whole + ".isInteger() && " + whole + ".isGreaterThan(quantity('0'))))"),
       "the cpu request isn't an integer in a task with a topology policy"});
  // With the largest index.
  rules.push_back(
      {on_create("variables.tasks.all(t, size(object.metadata.name) + size(string(t.?name.orValue(''))) + 2 + "
                 "size(string(int(t.?replicas.orValue(0)) > 1 ? int(t.replicas) - 1 : 0)) <= 63)"),
       "create pod validate failed: name part must be no more than 63 bytes"});
}

void add_updates(std::vector<PolicyRule>& rules) {
  rules.push_back(
      {on_update("size(variables.tasks) == size(variables.oldTasks)"), "job updates may not add or remove tasks"});
  rules.push_back({on_update("variables.spec.?queue == variables.oldSpec.?queue && variables.tasks.all(t, "
                             "variables.oldTasks.exists(o, o.?name.orValue('') == t.?name.orValue('')))"),
                   std::string(kFrozenJob)});
  // Defaults may have filled in on one side what the other leaves out.
  rules.push_back({on_update("['schedulerName', 'plugins', 'policies', 'ttlSecondsAfterFinished', 'minSuccess', "
                             "'networkTopology', 'runningEstimate'].all(k, !(k in variables.spec) || !(k in "
                             "variables.oldSpec) || variables.spec[k] == variables.oldSpec[k])"),
                   std::string(kFrozenJob)});
}

}  // namespace

ValidatingTable job_policy() {
  ValidatingTable table{"job", api::resources::kJobs, {"CREATE", "UPDATE"}, {}, {}};
  table.variables = {
      {"spec", "object.?spec.orValue({})"},
      {"oldSpec", "(oldObject == null ? object : oldObject).?spec.orValue({})"},
      {"tasks", "variables.spec.?tasks.orValue([])"},
      {"oldTasks", "variables.oldSpec.?tasks.orValue([])"},
      {"volumes", "variables.spec.?volumes.orValue([])"},
      {"names", "variables.tasks.filter(t, has(t.name)).map(t, string(t.name))"},
      {"replicas", "variables.tasks.map(t, int(t.?replicas.orValue(0))).sum()"},
      {"partitioned", "variables.tasks.filter(t, has(t.partitionPolicy))"},
      {"policyLists", "[variables.spec.?policies.orValue([])] + variables.tasks.map(t, t.?policies.orValue([]))"},
      {"policyEvents", "variables.policyLists.map(l, l.map(p, p.?events.orValue([]) + (" + reported("p", "event") +
                           " ? [p.event] : [])))"},
  };
  add_sizes(table.rules);
  add_policies(table.rules);
  add_volumes(table.rules);
  add_updates(table.rules);
  add_gaps(table.rules);
  table.rules.push_back(
      {"!format.qualifiedName().validate(object.metadata.name).hasValue()", "job name must be a valid qualified name",
       "'job name errors: ' + format.qualifiedName().validate(object.metadata.name).value().join(' ')"});
  return table;
}

}  // namespace admission
