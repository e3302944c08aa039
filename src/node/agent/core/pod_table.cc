// How workers are found and added.
#include "node/agent/core/pod_table.h"

#include "api/kinds.h"
#include "node/pod/pod_plan.h"

namespace node {

bool has_begun(const PodWorker& worker) {
  return worker.state.start_time.is_set() && worker.state.sandbox != Sandbox::kGone && !worker.refused &&
         !is_over(worker.pod, worker.state);
}

PodTable::PodTable(client::Client& client, rt::Env& env, const std::string& node_name)
    : watch_(client, env, api::resources::kPods, {.field_selector = "spec.nodeName=" + node_name}) {}

PodWorker* PodTable::find(const std::string& uid) const {
  const auto it = workers_.find(uid);
  return it == workers_.end() ? nullptr : it->second.get();
}

PodWorker& PodTable::add(const std::string& uid) { return *(workers_[uid] = std::make_unique<PodWorker>()); }

}  // namespace node
