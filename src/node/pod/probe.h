// Probes of a container: when one is due, and what its answers come to. Pure.
#pragma once

#include <string_view>

#include "api/json/json.h"
#include "node/pod/pod_state.h"

namespace node {

struct ProbeSettings {
  base::Duration initial_delay;
  base::Duration period;  // at least one second, as `timeout`
  base::Duration timeout;
  int success_threshold = 1;  // at least one, as `failure_threshold`
  int failure_threshold = 3;
  std::optional<base::Duration> grace;  // instead of the pod's, when the container is ended for it
};

enum class Answer : std::uint8_t { kSuccess, kFailure, kUnknown };
enum class Verdict : std::uint8_t { kNothing, kHolds, kFails };

inline constexpr ProbeKind kProbeKinds[] = {ProbeKind::kStartup, ProbeKind::kLiveness, ProbeKind::kReadiness};
std::string_view probe_word(ProbeKind kind);  // Startup, Liveness, Readiness

// Values out of their ranges count as the nearest one that is in.
ProbeSettings probe_settings(const api::Json& probe);
// The container's probe of that kind; null when it has none.
const api::Json& probe_of(const api::Json& container, ProbeKind kind);
// Whether the node can do what a probe or a hook asks for: exec, httpGet, tcpSocket, sleep.
bool is_checkable(const api::Json& handler);

// As for an attempt that has not begun.
void reset_probes(const api::Json& spec, ContainerState& container);
// Runs, its postStart hook is through and its startup probe has held.
bool is_started(const ContainerState& container);
bool is_ready(const ContainerState& container);
// The uptime at which the probe is to be asked next; nothing while it is not to be asked at all.
std::optional<base::Duration> probe_due(const api::Json& spec, const ContainerState& container, ProbeKind kind);
// Counts an answer. A verdict other than kNothing says that its threshold is reached, and `holds` has it.
Verdict weigh(const ProbeSettings& settings, Answer answer, ProbeState& probe);

}  // namespace node
