// The rules of PodGroups, Pods, HyperNodes, JobFlows and CronJobs that expressions can say, and of the queues that
// objects name.
#include "admission/policies/policy_objects.h"
#include "admission/rules/vocabulary.h"
#include "base/format.h"

namespace admission {
namespace {

std::string one_tier(const std::string& of) {
  return base::format(
      "!has({0}.networkTopology) || !has({0}.networkTopology.highestTierAllowed) || "
      "{0}.networkTopology.?highestTierName.orValue('') == ''",
      of);
}

PolicyRule budget_rule(std::string_view annotation) {
  const std::string name(annotation.substr(annotation.find('/') + 1));
  return {base::format("!variables.ours || !('{0}' in variables.annotations) || "
                       "variables.annotations['{0}'].matches('^([+]?0*[1-9][0-9]*|0*[1-9][0-9]?%)$')",
                       annotation),
          base::format("{} must be a positive integer or a valid percentage which between 1% ~ 99%", name)};
}

struct Pair {
  std::string_view open, close, what;
};
// As regular expressions spell them; they are counted outside of classes, and where no backslash stands before them.
constexpr Pair kPairs[] = {{"(", ")", "parentheses"}, {"{", "}", "curly braces"}};

std::string count_of(std::string_view text) {
  return base::format("(size(p.split('{0}')) - size(p.findAll('[[][^]]*[]]').join('').split('{0}')))", text);
}

void add_patterns(std::vector<PolicyRule>& rules) {
  const auto unmatched = [](std::string_view what) {
    return base::format("member regexMatch pattern is invalid: unmatched {}", what);
  };
  rules.push_back(
      {base::format("variables.plainPatterns.all(p, {} == {})", count_of(kPairs[0].open), count_of(kPairs[0].close)),
       unmatched(kPairs[0].what)});
  // Inside of a class an opening bracket is a letter.
  rules.push_back({"variables.plainPatterns.all(p, !p.matches('[[][^]]*$'))", unmatched("square brackets")});
  rules.push_back(
      {base::format("variables.plainPatterns.all(p, {} == {})", count_of(kPairs[1].open), count_of(kPairs[1].close)),
       unmatched(kPairs[1].what)});
  // Evaluation fails where the pattern is none, and the failure says why.
  rules.push_back({"variables.patterns.all(p, ''.matches(p) ? true : true)", "member regexMatch pattern is invalid"});
}

struct QueueUser {
  std::string table;
  api::ResourceId resource;
  std::vector<std::string> operations;
  std::string queue;  // an expression of `of`, which is object or oldObject
};

std::vector<QueueUser> queue_users() {
  namespace r = api::resources;
  const std::string in_spec = "{}.?spec.queue.orValue('')";
  return {
      {"job", r::kJobs, {"CREATE"}, in_spec},
      {"jobtemplate", r::kJobTemplates, {"CREATE", "UPDATE"}, in_spec},
      {"cronjob", r::kCronJobs, {"CREATE", "UPDATE"}, "{}.?spec.jobTemplate.spec.queue.orValue('')"},
      {"podgroup", r::kPodGroups, {"CREATE", "UPDATE"}, in_spec},
      {"pod",
       r::kPods,
       {"CREATE", "UPDATE"},
       base::format("string({{}}.metadata.?annotations[?'{}'].orValue(''))", kNamespaceQueue)},
  };
}

std::string with(std::string text, std::string_view word) {
  const std::size_t at = text.find("{}");
  return text.replace(at, 2, word);
}

PolicyVariable list_variable(const char* name, std::string_view annotation) {
  return {name, base::format("params.metadata.?annotations[?'{0}'].hasValue() ? "
                             "string(params.metadata.annotations['{0}']).split(',').map(w, w.trim()) : []",
                             annotation)};
}

ValidatingTable access_table(const QueueUser& of) {
  ValidatingTable table{of.table + "-queue-access", of.resource, of.operations, {}, {}, true};
  table.variables = {
      {"queue", with(of.queue, "object")},
      {"before", "oldObject == null ? '' : " + with(of.queue, "oldObject")},
      {"judged", "variables.queue == params.metadata.name && variables.queue != variables.before"},
      list_variable("namespaces", kAllowedNamespaces),
      list_variable("users", kAllowedUsers),
      list_variable("groups", kAllowedGroups),
      {"user", "request.userInfo.?username.orValue('')"},
      {"userGroups", "request.userInfo.?groups.orValue([])"},
      {"trusted",
       "'system:masters' in variables.userGroups || (variables.user.startsWith('system:') && variables.user != "
       "'system:anonymous' && !variables.user.startsWith('system:serviceaccount:' + request.namespace + ':'))"},
  };
  table.rules = {
      {"!variables.judged || size(variables.namespaces) == 0 || request.namespace in variables.namespaces",
       base::format("the queue is not for this namespace ({})", kAllowedNamespaces),
       base::format("'queue `' + variables.queue + '` is not for namespace `' + request.namespace + '` ({})'",
                    kAllowedNamespaces)},
      {"!variables.judged || size(variables.users) + size(variables.groups) == 0 || variables.trusted || "
       "variables.user in variables.users || variables.userGroups.exists(g, g in variables.groups)",
       base::format("the queue is not for this user ({}, {})", kAllowedUsers, kAllowedGroups),
       base::format("'queue `' + variables.queue + '` is not for user `' + variables.user + '` ({}, {})'",
                    kAllowedUsers, kAllowedGroups)}};
  return table;
}

}  // namespace

ValidatingTable podgroup_policy() {
  ValidatingTable table{"podgroup", api::resources::kPodGroups, {"CREATE"}, {}, {}};
  table.variables = {{"spec", "object.?spec.orValue({})"}};
  table.rules = {{one_tier("variables.spec"), std::string(kBothTiers)},
                 {"variables.spec.?subGroupPolicy.orValue([]).all(s, " + one_tier("s") + ")", std::string(kBothTiers)}};
  return table;
}

ValidatingTable pod_policy() {
  ValidatingTable table{"pod", api::resources::kPods, {"CREATE"}, {}, {}};
  table.variables = {{"ours", "object.?spec.schedulerName.orValue('') == 'volcano'"},
                     {"annotations", "object.metadata.?annotations.orValue({})"}};
  table.rules = {budget_rule(kMinAvailable), budget_rule(kMaxUnavailable)};
  table.rules.push_back({base::format("!variables.ours || !('{}' in variables.annotations && '{}' in "
                                      "variables.annotations)",
                                      kMinAvailable, kMaxUnavailable),
                         "not allow configure multiple annotations at same time"});
  return table;
}

ValidatingTable hypernode_policy() {
  ValidatingTable table{"hypernode", api::resources::kHyperNodes, {"CREATE", "UPDATE"}, {}, {}};
  table.variables = {
      {"members", "object.?spec.members.orValue([])"},
      {"selectors", "variables.members.filter(m, has(m.selector)).map(m, m.selector)"},
      {"names", "variables.selectors.filter(s, has(s.exactMatch)).map(s, string(s.exactMatch.?name.orValue('')))"},
      {"patterns",
       "variables.selectors.filter(s, has(s.regexMatch)).map(s, string(s.regexMatch.?pattern.orValue('')))"},
      // Without what a backslash makes a letter.
      {"plainPatterns",
       R"(variables.patterns.map(p, p.replace('\\\\', '').replace('\\(', '').replace('\\)', '').replace('\\[', '').replace('\\]', '').replace('\\{', '').replace('\\}', '')))"},
  };
  const std::string kinds = "[has(s.exactMatch), has(s.regexMatch), has(s.labelMatch)].filter(x, x)";
  table.rules = {
      {"size(variables.members) > 0", "member must have at least one member"},
      {"variables.selectors.all(s, size(" + kinds + ") >= 1)",
       "member selector must have one of exactMatch, regexMatch, or labelMatch"},
      {"variables.selectors.all(s, size(" + kinds + ") <= 1)",
       "cannot specify more than one selector type (exactMatch, regexMatch, labelMatch)"},
      {"variables.names.all(n, n != '')", "member exactMatch name is required"},
      {"variables.names.all(n, n == '' || !format.qualifiedName().validate(n).hasValue())",
       "member exactMatch validate failed",
       "'member exactMatch validate failed [' + variables.names.filter(n, "
       "format.qualifiedName().validate(n).hasValue()).map(n, format.qualifiedName().validate(n).value().join(' "
       "')).join(' ') + ']'"},
      {"variables.patterns.all(p, p != '')", "member regexMatch pattern is required"},
  };
  add_patterns(table.rules);
  return table;
}

ValidatingTable jobflow_policy() {
  ValidatingTable table{"jobflow", api::resources::kJobFlows, {"CREATE", "UPDATE"}, {}, {}};
  table.variables = {{"flows", "object.?spec.flows.orValue([])"},
                     {"names", "variables.flows.map(f, f.?name.orValue(''))"}};
  const std::string each = "variables.flows.all(f, f.?dependsOn.targets.orValue([]).all(t, ";
  table.rules = {
      {each + "t in variables.names))", "jobflow Flow is not DAG: vertex is not defined"},
      // The last of two flows with one name counts, which expressions cannot say: a flow named twice is left alone.
      {each + "t != f.?name.orValue('') || !variables.names.exists_one(n, n == t)))", "jobflow Flow is not DAG"},
      {each + "!variables.names.exists_one(n, n == t) || !variables.names.exists_one(n, n == f.?name.orValue('')) || "
              "!variables.flows.exists(g, g.?name.orValue('') == t && f.?name.orValue('') in "
              "g.?dependsOn.targets.orValue([]))))",
       "jobflow Flow is not DAG"}};
  return table;
}

ValidatingTable cronjob_policy() {
  ValidatingTable table{"cronjob", api::resources::kCronJobs, {"CREATE", "UPDATE"}, {}, {}};
  table.variables = {{"schedule", "string(object.?spec.schedule.orValue(''))"},
                     {"zone", "string(object.?spec.timeZone.orValue('UTC'))"}};
  const std::string fields =
      R"(^(@(yearly|annually|monthly|weekly|daily|midnight|hourly)|@every .+|\\s*\\S+(\\s+\\S+){4}\\s*)$)";
  table.rules = {
      {"variables.schedule != ''", "schedule is required, but got empty"},
      {"!variables.schedule.contains('TZ')",
       "schedule should not contain TZ or CRON_TZ, TZ should only be set in the timeZone field"},
      {"variables.schedule == '' || variables.schedule.contains('TZ') || variables.schedule.matches('" + fields + "')",
       "schedule is not a valid cron expression"},
      {"variables.zone != ''", "timeZone must be nil or non-empty string, got empty string"},
      {"variables.zone == '' || variables.zone.split('/').all(z, z != '.' && z != '..' && "
       "z.matches('^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$'))",
       "unknown timeZone"},
      {"variables.zone.lowerAscii() != 'local'",
       "timeZone can't be Local, and must be defined in https://www.iana.org/time-zones"},
      {"size(object.metadata.name) <= 52",
       "cronJob name must be no more than 52 characters to accommodate job name suffix (max 63 total)"},
      {"size(object.metadata.name) > 52 || !format.qualifiedName().validate(object.metadata.name).hasValue()",
       "invalid cronJob name",
       "'invalid cronJob name \"' + string(object.metadata.name) + '\": ' + "
       "format.qualifiedName().validate(object.metadata.name).value().join('; ')"},
  };
  return table;
}

std::vector<ValidatingTable> access_policies() {
  std::vector<ValidatingTable> all;
  for (const QueueUser& one : queue_users()) all.push_back(access_table(one));
  return all;
}

}  // namespace admission
