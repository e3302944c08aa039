// The parts that PodDefaults add to pods of their namespace, and the contradictions that refuse pods (kubeflow.md 5.2).
#include "admission/rules/pod_defaults.h"

#include <gtest/gtest.h>

#include "admission/rules/hooks.h"
#include "api/kubeflow/v1alpha1/poddefault.h"
#include "base/format.h"

namespace admission {
namespace {

class Defaults final : public ObjectReader {
 public:
  explicit Defaults(std::vector<std::string> specs) {
    for (std::size_t i = 0; i < specs.size(); ++i)
      all_.push_back(*api::parse_json(
          base::format(R"({{"metadata": {{"name": "d{}", "namespace": "ns", "resourceVersion": "{}"}}, "spec": {}}})",
                       i, i + 7, specs[i])));
  }
  std::optional<Json> find(const api::ResourceId&, std::string_view, std::string_view) const override { return {}; }
  std::vector<Json> list_by(const api::TextField& field, std::string_view value, bool) const override {
    EXPECT_EQ(field.resource, api::resources::kPodDefaults);
    return value == "ns" ? all_ : std::vector<Json>();
  }

 private:
  std::vector<Json> all_;
};

constexpr std::string_view kPod = R"({"metadata": {"name": "p", "labels": {"a": "b"}}, "spec": {"containers":
    [{"name": "c", "image": "i", "env": [{"name": "X", "value": "1"}]}, {"name": "istio-proxy", "image": "s"}]}})";

AdmissionAnswer answer_to(std::vector<std::string> specs, std::string_view pod = kPod, std::string ns = "ns") {
  return apply_pod_defaults({.resource = api::resources::kPods,
                             .kind = "Pod",
                             .ns = std::move(ns),
                             .name = "p",
                             .object = *api::parse_json(pod)},
                            Defaults(std::move(specs)));
}

std::string with(std::string_view rest) {
  return base::format(R"({{"selector": {{"matchLabels": {{"a": "b"}}}}, {}}})", rest);
}

TEST(PodDefaults, everything_they_say_reaches_the_pod) {
  const AdmissionAnswer answer = answer_to({with(
      R"("env": [{"name": "Y", "value": "2"}, {"name": "X", "value": "1"}], "envFrom": [{"secretRef": {"name": "s"}}],
           "volumes": [{"name": "v", "emptyDir": {}}], "volumeMounts": [{"name": "v", "mountPath": "/v"}],
           "initContainers": [{"name": "first", "image": "f"}], "sidecars": [{"name": "side", "image": "s"}],
           "tolerations": [{"key": "k"}], "labels": {"l": "m"}, "annotations": {"n": "o"}, "serviceAccountName": "sa",
           "automountServiceAccountToken": false, "imagePullSecrets": [{"name": "pull"}], "command": ["run"],
           "args": ["fast"])")});
  ASSERT_TRUE(answer.allowed) << answer.message;
  ASSERT_TRUE(answer.object);
  const Json& pod = *answer.object;
  const Json& spec = pod["spec"];
  const Json& own = spec["containers"][std::size_t{0}];
  EXPECT_EQ(own["env"].dump(), R"([{"name":"X","value":"1"},{"name":"Y","value":"2"}])");
  EXPECT_EQ(own["envFrom"].dump(), R"([{"secretRef":{"name":"s"}}])");
  EXPECT_EQ(own["volumeMounts"].dump(), R"([{"name":"v","mountPath":"/v"}])");
  EXPECT_EQ(own["command"].dump(), R"(["run"])");
  EXPECT_EQ(own["args"].dump(), R"(["fast"])");
  EXPECT_TRUE(spec["containers"][std::size_t{1}]["command"].is_null()) << "the sidecar of Istio";
  EXPECT_EQ(spec["containers"][std::size_t{2}].dump(), R"({"name":"side","image":"s"})");
  EXPECT_EQ(spec["volumes"].dump(), R"([{"name":"v","emptyDir":{}}])");
  EXPECT_EQ(spec["initContainers"].dump(), R"([{"name":"first","image":"f"}])");
  EXPECT_EQ(spec["tolerations"].dump(), R"([{"key":"k"}])");
  EXPECT_EQ(spec["imagePullSecrets"].dump(), R"([{"name":"pull"}])");
  EXPECT_EQ(spec["serviceAccountName"].as_string(), "sa");
  EXPECT_FALSE(spec["automountServiceAccountToken"].as_bool(true));
  EXPECT_EQ(pod["metadata"]["labels"].dump(), R"({"a":"b","l":"m"})");
  EXPECT_EQ(pod["metadata"]["annotations"].dump(),
            R"({"n":"o","poddefault.admission.kubeflow.org/poddefault-d0":"7"})");
}

TEST(PodDefaults, a_command_of_its_own_stays) {
  const AdmissionAnswer answer =
      answer_to({with(R"("command": ["run"])")},
                R"({"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "command": ["own"]}]}})");
  EXPECT_EQ((*answer.object)["spec"]["containers"][std::size_t{0}]["command"].dump(), R"(["own"])");
}

TEST(PodDefaults, contradictions_are_named) {
  struct Row {
    std::vector<std::string> specs;
    const char* message;  // null: allowed
  };
  const Row rows[] = {
      {{with(R"("env": [{"name": "X", "value": "2"}])")},
       R"(conflict occurred while applying poddefaults: d0 on pod: p err: env "X" of d0 has another value in container c)"},
      {{with(R"("env": [{"name": "Y", "value": "2"}])"), with(R"("env": [{"name": "Y", "value": "2"}])")}, nullptr},
      {{with(R"("volumes": [{"name": "v", "emptyDir": {}}])"),
        with(R"("volumes": [{"name": "v", "hostPath": {"path": "/"}}])")},
       R"(conflict occurred while applying poddefaults: d0,d1 on pod: p err: volumes "v" of d1 has another value in the pod)"},
      {{with(R"("volumeMounts": [{"name": "v", "mountPath": "/v"}])"),
        with(R"("volumeMounts": [{"name": "w", "mountPath": "/v"}])")},
       "volumeMounts"},
      {{with(R"("labels": {"a": "c"})")}, R"(labels "a" of d0 has another value in the pod)"},
      {{with(R"("sidecars": [{"name": "c", "image": "other"}])")},
       R"(sidecars "c" of d0 has another value in the pod)"},
      {{with(R"("tolerations": [{"key": "k", "value": "1"}])"), with(R"("tolerations": [{"key": "k", "value": "2"}])")},
       nullptr}};
  for (const Row& row : rows) {
    const AdmissionAnswer answer = answer_to(row.specs);
    EXPECT_EQ(answer.allowed, row.message == nullptr) << row.specs.front();
    EXPECT_NE(answer.message.find(row.message != nullptr ? row.message : ""), std::string::npos) << answer.message;
  }
}

TEST(PodDefaults, pods_that_get_nothing) {
  const std::string spec = with(R"("env": [{"name": "Y", "value": "2"}])");
  EXPECT_FALSE(answer_to({spec}, kPod, "other").object);
  EXPECT_FALSE(answer_to({spec}, R"({"metadata": {"labels": {"a": "c"}}, "spec": {"containers": []}})").object);
  for (const char* annotation :
       {R"("poddefault.admission.kubeflow.org/exclude": "true")", R"("kubernetes.io/config.mirror": "x")"})
    EXPECT_FALSE(answer_to({spec}, base::format(R"({{"metadata": {{"labels": {{"a": "b"}}, "annotations": {{{}}}}},
        "spec": {{"containers": []}}}})",
                                                annotation))
                     .object);
  EXPECT_TRUE(answer_to({R"({"selector": {}, "labels": {"x": "y"}})"}).object) << "an empty selector is all pods";
}

TEST(PodDefaults, any_shape_is_answered) {
  for (const char* spec :
       {R"({"selector": 7})", R"({"selector": {}, "env": 7})", R"({"selector": {}, "env": [7, null, "x"]})",
        R"({"selector": {}, "labels": [1]})", R"({"selector": {}, "sidecars": {"a": 1}})"})
    for (const char* pod :
         {R"({"metadata": 7, "spec": 9})", R"({"spec": {"containers": 7}})",
          R"({"spec": {"containers": [7, {"env": 9}]}, "metadata": {"labels": 3, "annotations": 4}})"})
      answer_to({spec}, pod);
}

// A pod is merged while its request holds the API server's loop.
TEST(PodDefaults, entries_for_one_pod_are_bounded) {
  std::string env, containers;
  for (int i = 0; i < 3000; ++i)
    env += base::format("{}{{\"name\": \"E{}\", \"value\": \"1\"}}", i == 0 ? "" : ", ", i);
  for (int i = 0; i < 7; ++i)
    containers += base::format("{}{{\"name\": \"c{}\", \"image\": \"i\"}}", i == 0 ? "" : ", ", i);
  const auto pod = [](const std::string& list) {
    return base::format(R"({{"metadata": {{"name": "p", "labels": {{"a": "b"}}}}, "spec": {{"containers": [{}]}}}})",
                        list);
  };
  const AdmissionAnswer refused = answer_to({with("\"env\": [" + env + "]")}, pod(containers));
  EXPECT_FALSE(refused.allowed);
  EXPECT_NE(refused.message.find("PodDefaults d0 have 21000 entries"), std::string::npos) << refused.message;
  const AdmissionAnswer taken = answer_to({with("\"env\": [" + env + "]")}, pod(R"({"name": "c", "image": "i"})"));
  ASSERT_TRUE(taken.allowed) << taken.message;
  EXPECT_EQ((*taken.object)["spec"]["containers"][std::size_t{0}]["env"].size(), 3000U);
}

// A cluster's API server reaches the same rule by its path.
TEST(PodDefaults, are_applied_by_the_webhook_server) {
  const auto all = hooks({.enabled = std::vector<std::string>{"/apply-poddefault"}, .in_process = false});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].mutating);
  const AdmissionRequest request{
      .resource = api::resources::kPods, .kind = "Pod", .ns = "ns", .name = "p", .object = *api::parse_json(kPod)};
  const AdmissionAnswer answer = all[0].review(request, Defaults({with(R"("env": [{"name": "Y", "value": "2"}])")}));
  ASSERT_TRUE(answer.object);
  EXPECT_EQ((*answer.object)["spec"]["containers"][std::size_t{0}]["env"][std::size_t{1}]["name"].as_string(), "Y");
}

}  // namespace
}  // namespace admission
