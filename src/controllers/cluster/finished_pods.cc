// The oldest finished pods beyond the limits, evicted ones before others.
#include "controllers/cluster/finished_pods.h"

#include <algorithm>
#include <vector>

#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

// Owners count what ended. They have this long for it, after the pod was made.
constexpr base::Duration kCounted = base::minutes(1);
constexpr std::size_t kDeletedPerLook = 500;

base::Time made_at(const Json& pod) {
  return base::parse_rfc3339(pod["metadata"]["creationTimestamp"].as_string()).value_or(base::Time{});
}

bool is_finished_job(const Json& job) {
  const std::string_view phase = job["status"]["state"]["phase"].as_string();
  return phase == "Completed" || phase == "Failed" || phase == "Terminated";
}

// A Job of ours makes again what is missing, and a training job counts by the pods that are there.
bool may_go(const View& view, const Json& pod) {
  const Json& owner = api::controller_of(pod);
  const std::string_view api_version = owner["apiVersion"].as_string();
  if (api_version.starts_with("kubeflow.org/")) return false;
  if (!api_version.starts_with("batch.volcano.sh/")) return true;
  const Json* job =
      view.find(resources::kJobs, base::format("{}/{}", api::namespace_of(pod), owner["name"].as_string()));
  return !job || api::uid_of(*job) != owner["uid"].as_string() || is_finished_job(*job);
}

bool goes_first(const Json* a, const Json* b) {
  const bool evicted = (*a)["status"]["reason"].as_string() == "Evicted";
  if (evicted != ((*b)["status"]["reason"].as_string() == "Evicted")) return evicted;
  if (made_at(*a) != made_at(*b)) return made_at(*a) < made_at(*b);
  return api::key_of(*a) < api::key_of(*b);
}

}  // namespace

IndexBy finished_pods() {
  return {resources::kPods, std::string(kFinishedPods), [](const Json& pod) {
            const std::string_view phase = pod["status"]["phase"].as_string();
            const bool is_over = (phase == "Succeeded" || phase == "Failed") && !api::is_deleting(pod);
            return is_over ? Keys{std::string(api::namespace_of(pod)), ""} : Keys{};
          }};
}

void collect_finished(const View& view, std::string_view ns, const FinishedPodLimits& limits, base::Time now,
                      Plan& plan) {
  const int limit = ns.empty() ? limits.everywhere : limits.in_namespace;
  const std::size_t count = view.count(resources::kPods, kFinishedPods, ns);
  if (limit <= 0 || count <= static_cast<std::size_t>(limit)) return;
  std::vector<const Json*> pods = view.by_index(resources::kPods, kFinishedPods, ns);
  std::size_t surplus = pods.size() - static_cast<std::size_t>(limit);
  std::erase_if(pods, [&](const Json* pod) { return now - made_at(*pod) < kCounted || !may_go(view, *pod); });
  std::ranges::sort(pods, goes_first);
  if (pods.size() < surplus) plan.requeue_after(kCounted);
  surplus = std::min(surplus, pods.size());
  if (surplus > kDeletedPerLook) plan.requeue_after({});
  for (std::size_t i = 0; i < std::min(surplus, kDeletedPerLook); ++i) {
    Action& action = plan.remove(resources::kPods, *pods[i]);
    action.body.set("gracePeriodSeconds", 0);
    action.stops_nothing = true;
  }
}

}  // namespace controllers::cluster
