// Pods that name a RuntimeClass, when they are made.
#include <gtest/gtest.h>

#include <map>

#include "apiserver/kinds/pods/runtime_class_hook.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;

struct Classes : api::ObjectReader {
  std::map<std::string, Json> known;

  std::optional<Json> find(const api::ResourceId& id, std::string_view, std::string_view name) const override {
    const auto found = known.find(std::string(name));
    if (id.plural != "runtimeclasses" || found == known.end()) return std::nullopt;
    return found->second;
  }
  std::vector<Json> list_by(const api::TextField&, std::string_view, bool) const override { return {}; }
};

TEST(RuntimeClasses, give_pods_overhead_and_places) {
  Classes classes;
  classes.known["plain"] = *api::parse_json(R"({"handler": "runc"})");
  classes.known["vm"] =
      *api::parse_json(R"({"handler": "kata", "overhead": {"podFixed": {"cpu": "250m", "memory": "64Mi"}},
      "scheduling": {"nodeSelector": {"vm": "yes"}, "tolerations": [
        {"key": "vm", "operator": "Exists", "effect": "NoSchedule"}]}})");
  classes.known["short"] = *api::parse_json(R"({"handler": "x", "scheduling": {"tolerations": [
        {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}]}})");
  struct Row {
    const char* spec;
    const char* expected;  // the spec afterwards, or the refusal
  };
  const Row rows[] = {
      {R"({"a": 1})", "unchanged"},
      {R"({"runtimeClassName": "plain"})", R"({"runtimeClassName":"plain"})"},
      {R"({"runtimeClassName": "none"})", R"(pod rejected: RuntimeClass "none" not found)"},
      {R"({"runtimeClassName": "vm"})",
       R"({"runtimeClassName":"vm","overhead":{"cpu":"250m","memory":"64Mi"},"nodeSelector":{"vm":"yes"},)"
       R"("tolerations":[{"key":"vm","operator":"Exists","effect":"NoSchedule"}]})"},
      {R"({"runtimeClassName": "vm", "overhead": {"memory": "65536Ki", "cpu": "0.25"}, "nodeSelector": {"a": "b", "vm": "yes"},
           "tolerations": [{"key": "vm", "operator": "Equal", "value": "v", "effect": "NoSchedule"}, {"key": "z"}]})",
       R"({"runtimeClassName":"vm","overhead":{"cpu":"250m","memory":"64Mi"},"nodeSelector":{"a":"b","vm":"yes"},)"
       R"("tolerations":[{"key":"z"},{"key":"vm","operator":"Exists","effect":"NoSchedule"}]})"},
      {R"({"runtimeClassName": "vm", "tolerations": [{"operator": "Exists"}]})",
       R"({"runtimeClassName":"vm","tolerations":[{"operator":"Exists"}],"overhead":{"cpu":"250m","memory":"64Mi"},)"
       R"("nodeSelector":{"vm":"yes"}})"},
      {R"({"runtimeClassName": "short", "tolerations": [{"key": "a", "operator": "Exists", "effect": "NoExecute"}]})",
       R"({"runtimeClassName":"short","tolerations":[{"key":"a","operator":"Exists","effect":"NoExecute"}]})"},
      {R"({"runtimeClassName": "vm", "overhead": {"cpu": "1"}})",
       "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"},
      {R"({"runtimeClassName": "plain", "overhead": {"cpu": "1"}})",
       "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
      {R"({"overhead": {"cpu": "1"}})",
       "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"},
      {R"({"runtimeClassName": "vm", "nodeSelector": {"vm": "no"}})",
       "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no"},
      // Validation, which comes later, names these.
      {R"({"runtimeClassName": "vm", "nodeSelector": "x"})",
       R"({"runtimeClassName":"vm","nodeSelector":"x","overhead":{"cpu":"250m","memory":"64Mi"}})"},
      {R"({"runtimeClassName": "vm", "tolerations": 5})",
       R"({"runtimeClassName":"vm","tolerations":5,"overhead":{"cpu":"250m","memory":"64Mi"}})"},
  };
  for (const Row& row : rows) {
    api::AdmissionRequest request;
    request.object = *api::parse_json(base::format(R"({{"metadata": {{"name": "p"}}, "spec": {}}})", row.spec));
    const api::AdmissionAnswer answer = runtime_class_hook().review(request, classes);
    EXPECT_EQ(!answer.allowed ? answer.message
              : answer.object ? (*answer.object)["spec"].dump()
                              : "unchanged",
              row.expected)
        << row.spec;
    EXPECT_EQ(answer.code, base::Code::kForbidden);
  }
}

// Each compared with each other would be a thousand million comparisons.
TEST(RuntimeClasses, join_any_number_of_tolerations) {
  Classes classes;
  classes.known["c"] = *api::parse_json(R"({"scheduling": {"tolerations": [{"key": "k1"}, {"key": "class"}]}})");
  Json tolerations = Json::array();
  for (int i = 0; i < 40'000; ++i) tolerations.push_back(Json::object({{"key", base::format("k{}", i)}}));
  api::AdmissionRequest request;
  request.object =
      Json::object({{"spec", Json::object({{"runtimeClassName", "c"}, {"tolerations", std::move(tolerations)}})}});
  const api::AdmissionAnswer answer = runtime_class_hook().review(request, classes);
  ASSERT_TRUE(answer.object);
  EXPECT_EQ((*answer.object)["spec"]["tolerations"].size(), 40'001u);
}

}  // namespace
}  // namespace apiserver
