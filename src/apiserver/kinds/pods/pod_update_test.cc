// The changes that a pod may have: rows of before, after and the fields that are named.
#include "apiserver/kinds/pods/pod_update.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"

namespace apiserver {
namespace {

std::string problems_of_update(std::string_view before, std::string_view after) {
  const auto pod = [](std::string_view more) {
    return *api::parse_yaml(base::format("{{spec: {{containers: [{{name: c, image: i}}], {}}}}}", more));
  };
  api::FieldErrors errors;
  check_pod_update(pod(before), pod(after), errors);
  std::string text;
  for (const base::Cause& cause : errors.take()) text += (text.empty() ? "" : " ") + cause.field;
  return text;
}

TEST(PodUpdate, lets_a_deadline_come_nearer_only) {
  struct Row {
    const char *before, *after, *fields;
  };
  const Row rows[] = {
      {"", "activeDeadlineSeconds: 5", ""},
      {"activeDeadlineSeconds: 5", "activeDeadlineSeconds: 5", ""},
      {"activeDeadlineSeconds: 5", "activeDeadlineSeconds: 4", ""},
      {"activeDeadlineSeconds: 5", "activeDeadlineSeconds: 6", "spec.activeDeadlineSeconds"},
      {"activeDeadlineSeconds: 5", "", "spec.activeDeadlineSeconds"},
      {"", "activeDeadlineSeconds: -5", "spec.activeDeadlineSeconds"},
      {"", "activeDeadlineSeconds: 3000000000", "spec.activeDeadlineSeconds"},
      {"terminationGracePeriodSeconds: -3", "terminationGracePeriodSeconds: 1", ""},
      {"terminationGracePeriodSeconds: 30", "terminationGracePeriodSeconds: 1", "spec"},
      {"terminationGracePeriodSeconds: -3", "terminationGracePeriodSeconds: 2", "spec"},
      {"nodeSelector: {a: b}", "nodeSelector: {a: b, c: d}", "spec"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(problems_of_update(row.before, row.after), row.fields) << row.before << " " << row.after;
}

TEST(PodUpdate, of_one_with_gates_narrows_where_it_runs) {
  const char* const terms =
      "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const std::string first = base::format("{}[0]", terms);
  const std::string required =
      "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [";
  const std::string end = "]}}}";
  const std::string a = "{key: a, operator: Exists}", b = "{key: b, operator: Exists}";
  const auto with = [&](const std::string& list) { return required + "{matchExpressions: [" + list + "]}" + end; };
  const std::tuple<std::string, std::string, std::string> rows[] = {
      {"", "nodeSelector: {a: b}", ""},
      {"nodeSelector: {a: b}", "nodeSelector: {a: b, c: d}", ""},
      {"nodeSelector: {a: b}", "nodeSelector: {a: c}", "spec.nodeSelector"},
      {"nodeSelector: {a: b}", "", "spec.nodeSelector"},
      {"", with(a), ""},
      {with(a), with(a + ", " + b), ""},
      {with(a), with(b + ", " + a), first},
      {with(a), with(b), first},
      {with(a), "", terms},
      {with(a), required + "{matchExpressions: [" + a + "]}, {matchExpressions: [" + b + "]}" + end, terms},
      {"", "affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h}]}}", "spec"},
      {"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h}]}}",
       "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: h}]}, nodeAffinity: "
       "{preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]}}",
       ""},
  };
  for (const auto& [before, after, fields] : rows)
    for (const char* gates : {"schedulingGates: [{name: g}]", ""})
      EXPECT_EQ(problems_of_update(before + (before.empty() ? "" : ", ") + "schedulingGates: [{name: g}]",
                                   after + (after.empty() ? "" : ", ") + gates),
                fields)
          << before << " -> " << after;
  EXPECT_EQ(problems_of_update("", "schedulingGates: [{name: g}]"), "spec.schedulingGates");
}

}  // namespace
}  // namespace apiserver
