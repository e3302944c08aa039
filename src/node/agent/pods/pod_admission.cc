// How a pod is judged before anything of it starts.
#include "node/agent/pods/pod_admission.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "api/pods/tolerations.h"
#include "base/format.h"
#include "node/machine/container_text.h"
#include "node/machine/security_context.h"
#include "node/machine/service_rules.h"
#include "node/pod/disk_limits.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_specs.h"

namespace node {

using api::Json;

PodAdmission::PodAdmission(AgentLoop& loop, const PodTable& pods, const NodeObject& node, PodDevices& devices,
                           PodEvents& events)
    : loop_(loop), pods_(pods), node_(node), devices_(devices), events_(events) {}

// In a kubelet's words.
void PodAdmission::fail_predicate(PodWorker& worker, const char* name, const char* description) {
  const std::string text = base::format("Predicate {} failed: {}", name, description);
  worker.refused = true;
  worker.state.failure_reason = name;
  worker.state.failure_message = "Pod was rejected: " + text;
  events_.record(worker.pod, "Warning", name, text);
}

// A pod that names its node was not seen by a scheduler. Pods that are being deleted count no more: a scheduler learns
// of their end in its own time, and a pod that it places must not be refused for one that is about to go.
std::optional<Shortage> PodAdmission::shortage_for(const PodWorker& worker) const {
  if (!pods_.is_complete() || worker.pod["spec"]["priority"].as_int() >= kCriticalPriority) return std::nullopt;
  api::ResourceList others;
  std::int64_t count = 0;
  for (const auto& [uid, other] : pods_.workers()) {
    if (other.get() == &worker || !has_begun(*other) || api::is_deleting(other->pod)) continue;
    api::add(others, taken_by(other->pod));
    ++count;
  }
  others["pods"] = api::Quantity::from_int(count);
  return lacks_room(worker.pod, node_.allocatable(), others);
}

// Whether a pod that has begun already has a port that this one asks for.
bool PodAdmission::lacks_ports(const PodWorker& worker) const {
  const std::vector<HostPort> wanted = host_ports_of(worker.pod, {});
  if (wanted.empty()) return false;
  return std::ranges::any_of(pods_.workers(), [&](const auto& entry) {
    const PodWorker& other = *entry.second;
    return &other != &worker && has_begun(other) && share_a_port(wanted, host_ports_of(other.pod, {}));
  });
}

void PodAdmission::admit(PodWorker& worker) {
  auto why = shape_refusal(worker.pod);
  if (!why) why = loop_.runtime()->refusal(worker.pod);
  if (why) {
    worker.refused = true;
    worker.state.failure_reason = "UnsupportedByNode";
    worker.state.failure_message = reason_text("Pod was rejected: " + *why);
    return events_.record(worker.pod, "Warning", "UnsupportedByNode", worker.state.failure_message);
  }
  if (!worker.state.start_time.is_set()) {
    if (const auto shortage = shortage_for(worker)) {
      worker.refused = true;
      worker.state.failure_reason = "OutOf" + shortage->resource;
      worker.state.failure_message = "Pod was rejected: " + shortage->message;
      return events_.record(worker.pod, "Warning", worker.state.failure_reason.c_str(), shortage->message);
    }
    if (lacks_ports(worker))
      return fail_predicate(worker, "NodePorts", "node(s) didn't have free ports for the requested pod ports");
    // Other effects say where new pods are placed, which is over.
    const Json* seen = node_.seen();
    if (seen != nullptr && api::has_taint_against(worker.pod["spec"], *seen, {"NoExecute"}))
      return fail_predicate(worker, "TaintToleration", "node(s) had taints that the pod didn't tolerate");
  }
  if (devices_.refuse(worker)) worker.refused = true;
}

}  // namespace node
