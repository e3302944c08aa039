// The requests of pods as a whole, and their class of service.
#include "api/pod_requests.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace api {
namespace {

Json yaml(std::string_view text) { return *parse_yaml(text); }

std::string text_of(const ResourceList& list) {
  std::string text;
  for (const auto& [name, amount] : list) text += (text.empty() ? "" : " ") + name + "=" + amount.to_string();
  return text;
}

TEST(PodRequests, what_a_pod_says_as_a_whole_goes_before_its_containers) {
  const Json spec = yaml(R"({containers: [{resources: {requests: {cpu: 1, memory: 1Gi, example.com/x: 2}}}],
    resources: {requests: {cpu: 3, example.com/x: 9}, limits: {memory: 4Gi}}})");
  EXPECT_EQ(text_of(pod_total(spec, "requests")), "cpu=3 example.com/x=2 memory=1Gi");
  EXPECT_EQ(text_of(pod_total(spec, "limits")), "memory=4Gi");
}

TEST(PodRequests, the_class_of_service_is_that_of_the_pod_as_a_whole) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"{containers: [{}]}", "BestEffort"},
      {"{containers: [{}], resources: {}}", "BestEffort"},
      {"{containers: [{}], resources: {requests: {cpu: 0}}}", "BestEffort"},
      {"{containers: [{}], resources: {requests: {cpu: 1}}}", "Burstable"},
      {"{containers: [{}], resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}", "Guaranteed"},
      {"{containers: [{}], resources: {requests: {cpu: 1}, limits: {cpu: 1}}}", "Burstable"},
      {"{containers: [{resources: {limits: {cpu: 1, memory: 1Gi}}}], resources: {requests: {cpu: 1, memory: 1Gi}, "
       "limits: "
       "{cpu: 2, memory: 1Gi}}}",
       "Burstable"},
      {"{containers: [{resources: {limits: {cpu: 1, memory: 1Gi}}}]}", "Guaranteed"},
  };
  for (const auto& [spec, expected] : rows) EXPECT_EQ(qos_class(yaml(spec)), expected) << spec;
}

}  // namespace
}  // namespace api
