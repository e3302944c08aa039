// The checks of a container that joins a running pod, which cannot be refused any more.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/agent/agent_state.h"
#include "node/pod/pod_specs.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

// The pod as if it had this container alone.
Json with_only(const Json& pod, const ContainerState& container) {
  Json alone = pod;
  Json& spec = alone.edit("spec");
  spec.set("containers", Json::array({container_spec(pod, container)}));
  spec.erase("initContainers");
  spec.erase("ephemeralContainers");
  return alone;
}

}  // namespace

base::Result<ContainerSpec> Agent::State::spec_to_start(const PodWorker& worker, const ContainerState& container) {
  TRY(ContainerSpec spec, container_spec_for(worker.pod, container, lookups(worker)));
  if (!container.ephemeral) return spec;
  if (auto why = runtime->refusal(with_only(worker.pod, container))) return make_error(Code::kInvalid, *std::move(why));
  const std::string_view target = container_spec(worker.pod, container)["targetContainerName"].as_string();
  if (target.empty()) return spec;
  for (const ContainerState& one : worker.state.containers)
    if (one.name == target && one.phase == RunPhase::kRunning) spec.target_id = one.id;
  if (spec.target_id.empty())
    return make_error(Code::kNotFound, base::format("unable to find target container {}", target));
  return spec;
}

}  // namespace node
