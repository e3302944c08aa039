// The next step for one pod, from what is wanted and what is known. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "node/pod/pod_state.h"

namespace node {

enum class ActionKind : std::uint8_t {
  kPrepare,    // folders, network, volumes
  kPull,       // make sure that the container's image is there
  kStart,      // the container's next attempt
  kTerminate,  // SIGTERM, and note when SIGKILL follows
  kKill,       // SIGKILL
  kProbe,      // ask what the probe asks
  kRemove,     // network, mounts, volumes; logs stay until the pod is gone
  kFinalize,   // nothing is left: tell the API server that the pod may go
};

struct Action {
  ActionKind kind;
  std::size_t container = 0;              // an index of PodState::containers
  base::Duration grace = {};              // of kTerminate
  ProbeKind probe = ProbeKind::kStartup;  // of kProbe

  bool operator==(const Action&) const = default;
};

struct Plan {
  std::vector<Action> actions;
  std::optional<base::Duration> wake;  // look again at this uptime, even if nothing happened; nothing: no need
};

// The state of a pod that the agent sees for the first time.
PodState initial_state(const api::Json& pod);
Plan plan_pod(const api::Json& pod, const PodState& state, const Moment& now);

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };
PodPhase phase_of(const api::Json& pod, const PodState& state);
bool is_over(const api::Json& pod, const PodState& state);  // Succeeded or Failed
// The pod's sandbox is lost: its life begins anew, init containers first, unless its restart policy is against that.
// Restarts count on. Ends that nobody saw are in `state` already.
void begin_anew(const api::Json& pod, PodState& state, base::Time now);
// All containers run again, init containers first.
void restart_all(PodState& state);
// The action of the container's restartPolicyRules for the exit code; empty: no rule is about it.
std::string_view restart_rule(const api::Json& container_spec, int exit_code);
// Whether a container in kEnded gets another attempt, by the restart policy.
bool will_restart(const api::Json& pod, const ContainerState& container);
// The uptime at which it is due.
base::Duration restart_at(const ContainerState& container);
std::string_view restart_policy(const api::Json& pod);
std::string_view restart_policy(const api::Json& pod, const api::Json& container_spec);  // its own goes before
// Takes note of ephemeral containers that were added since. Returns whether there are any.
bool add_ephemeral_containers(const api::Json& pod, PodState& state);
// "containers", "initContainers" or "ephemeralContainers": where the container is in the spec. In the status it is in
// status_list(), "containerStatuses" and so on.
std::string_view spec_list(const ContainerState& container);
std::string_view status_list(const ContainerState& container);
// The container's entry in its list of the spec.
const api::Json& container_spec(const api::Json& pod, const ContainerState& container);

}  // namespace node
