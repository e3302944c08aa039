// Does the judgement of a pod cost what the pod is large, whatever it has many of?
#include <gtest/gtest.h>

#include "api/pod_requests.h"
#include "api/pods/pod_spec.h"
#include "base/format.h"

namespace api {
namespace {

constexpr int kMany = 20'000;  // which squared takes minutes

Json list(std::string_view pattern, int count = kMany) {
  Json all = Json::array();
  for (int i = 0; i < count; ++i) {
    std::string text(pattern);
    for (std::size_t at; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, std::to_string(i));
    all.push_back(*parse_json(text));
  }
  return all;
}

std::size_t bytes_of(const std::vector<base::Cause>& causes) {
  std::size_t bytes = 0;
  for (const base::Cause& cause : causes) bytes += cause.field.size() + cause.message.size();
  return bytes;
}

TEST(PodCosts, devices_and_claims_of_containers_are_looked_up) {
  Json spec = Json::object();
  spec.set("volumes", list(R"({"name":"v#","persistentVolumeClaim":{"claimName":"c"}})"));
  spec.set("resourceClaims", list(R"({"name":"r#","resourceClaimName":"c"})"));
  spec.set("containers", list(R"({"name":"c#","image":"i","volumeDevices":[{"name":"v#","devicePath":"/d"}],
                                  "resources":{"claims":[{"name":"r#"}]}})"));
  EXPECT_EQ(check_pod_spec(spec, "spec", {}).size(), 0u);
  Json one = *parse_json(R"({"name":"c","image":"i"})");
  one.set("volumeDevices", list(R"({"name":"v#","devicePath":"/d#"})"));
  one.set("volumeMounts", list(R"({"name":"w","mountPath":"/m#"})"));
  spec.edit("volumes").push_back(*parse_json(R"({"name":"w","emptyDir":{}})"));
  spec.set("containers", Json::array({std::move(one)}));
  EXPECT_EQ(check_pod_spec(spec, "spec", {}).size(), 0u);
}

// Each problem shows what it is about: all of them would be a thousand million bytes.
TEST(PodCosts, problems_are_told_as_far_as_anybody_reads_them) {
  Json added = list(R"("CAP_SYS_ADMIN")");
  Json context =
      Json::object({{"allowPrivilegeEscalation", false}, {"capabilities", Json::object({{"add", std::move(added)}})}});
  Json container = *parse_json(R"({"name":"c","image":"i"})");
  container.set("securityContext", std::move(context));
  Json spec = Json::object({{"containers", Json::array({std::move(container)})}});
  EXPECT_EQ(check_pod_spec(spec, "spec", {}).size(), 1u);
  spec = Json::object();
  spec.set("resourceClaims", list(R"({"name":"r#","resourceClaimName":"c"})"));
  spec.set("containers", list(R"({"name":"c#","image":"i","resources":{"claims":[{"name":"x#"}]}})"));
  const auto claims = check_pod_spec(spec, "spec", {});
  EXPECT_GE(claims.size(), 100u);
  EXPECT_LE(bytes_of(claims), 2'000'000u);
}

TEST(PodCosts, keys_of_labels_are_looked_up) {
  Json spec = *parse_json(R"({"containers":[{"name":"c","image":"i"}]})");
  Json selector = Json::object({{"matchExpressions", list(R"({"key":"e#","operator":"Exists"})")}});
  Json term = Json::object({{"topologyKey", "zone"}, {"labelSelector", std::move(selector)}});
  term.set("matchLabelKeys", list(R"("k#")"));
  term.set("mismatchLabelKeys", list(R"("m#")"));
  const Json terms = Json::object({{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({std::move(term)})}});
  spec.set("affinity", Json::object({{"podAffinity", terms}}));
  EXPECT_EQ(check_pod_spec(spec, "spec", {}).size(), 0u);
}

// A sidecar of many resources, and many containers that begin after it.
TEST(PodCosts, sums_over_init_containers) {
  Json requests = Json::object();
  for (int i = 0; i < kMany; ++i) requests.set(base::format("x/r{}", i), "1");
  Json sidecar = *parse_json(R"({"name":"s","restartPolicy":"Always"})");
  sidecar.edit("resources").set("requests", std::move(requests));
  Json first = Json::array({std::move(sidecar)});
  const Json others = list(R"({"name":"c#","resources":{"requests":{"x/r1":"2","cpu":"#m"}}})");
  for (const Json& one : others.items()) first.push_back(one);
  const Json spec = Json::object({{"initContainers", std::move(first)}});
  const ResourceList sum = containers_total(spec, "requests");
  EXPECT_EQ(sum.size(), static_cast<std::size_t>(kMany) + 1);
  EXPECT_EQ(sum.at("x/r1").to_string(), "3");
  EXPECT_EQ(sum.at("x/r2").to_string(), "1");
  EXPECT_EQ(sum.at("cpu").to_string(), base::format("{}m", kMany - 1));
}

TEST(PodCosts, statuses_of_containers_are_looked_up) {
  Json pod = Json::object();
  pod.edit("spec").set("containers", list(R"({"name":"c#","resources":{"requests":{"cpu":"1m"}}})"));
  pod.edit("status").set("containerStatuses", list(R"({"name":"c#","resources":{"requests":{"cpu":"2m"}}})"));
  EXPECT_EQ(containers_in_use(pod, "requests").at("cpu").milli_value(), 2 * kMany);
}

}  // namespace
}  // namespace api
