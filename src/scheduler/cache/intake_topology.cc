// API objects in, the model kept current: HyperNodes, and what groups ask of the network's topology.
#include <memory>
#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "scheduler/cache/intake.h"

namespace scheduler {
bool Intake::set_hyper_node(const api::Json& object) { return model_.hyper_nodes.set(api::name_of(object), object); }

bool Intake::remove_hyper_node(const api::Json& object) { return model_.hyper_nodes.remove(api::name_of(object)); }

void Intake::set_topology(const api::Json& group, JobId id) {
  const api::Json& spec = group["spec"];
  Job& job = model_.edit_job(id);
  const bool asks = spec["networkTopology"].is_object() || !spec["subGroupPolicy"].empty();
  if (!asks && !job.topology) return;
  if (spec["subGroupPolicy"].size() > kSubGroupPoliciesMax && !std::exchange(told_of_policies_, true)) {
    base::log_warning("scheduler", base::format("PodGroup {}: only the first {} entries of subGroupPolicy count",
                                                job.key, kSubGroupPoliciesMax));
  }
  std::unique_ptr<JobTopology> topology;
  if (asks) topology = std::make_unique<JobTopology>(topology_from(spec, job.key, job.min_available, model_.symbols));
  model_.set_topology(id, std::move(topology));
}

}  // namespace scheduler
