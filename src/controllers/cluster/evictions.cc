// The status of pods that are taken from their nodes.
#include "controllers/cluster/evictions.h"

#include "api/meta/resource.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

IndexBy pods_by_node() {
  return {resources::kPods, std::string(kPodsByNode), [](const Json& pod) {
            const std::string_view node = pod["spec"]["nodeName"].as_string();
            return node.empty() ? Keys{} : Keys{std::string(node)};
          }};
}

void record_reason(Plan& plan, const Json& pod, std::string_view reason, std::string_view message, base::Time now,
                   bool fails) {
  Json status = Json::object();
  if (fails) status.set("phase", "Failed");
  const Json& generation = pod["metadata"]["generation"];
  if (!reason.empty()) {
    Json condition = Json::object({{"type", "DisruptionTarget"},
                                   {"status", "True"},
                                   {"reason", reason},
                                   {"message", message},
                                   {"lastTransitionTime", base::format_rfc3339(now)}});
    if (generation.is_number()) condition.set("observedGeneration", generation);
    status.set("conditions", Json::array({std::move(condition)}));
  }
  if (status.empty()) return;
  Action& write = plan.patch(
      resources::kPods, pod, client::PatchType::kStrategic,
      Json::object({{"metadata", Json::object({{"uid", api::uid_of(pod)}})}, {"status", std::move(status)}}));
  write.subresource = "status";
  write.missing_is_fine = true;
}

}  // namespace controllers::cluster
