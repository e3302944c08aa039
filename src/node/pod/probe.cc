// How probes' settings and answers become verdicts on a container.
#include "node/pod/probe.h"

#include <algorithm>
#include <limits>

namespace node {

using api::Json;

namespace {

int bounded(const Json& value, int fallback, int least) {
  return static_cast<int>(
      std::clamp<std::int64_t>(value.as_int(fallback), least, std::numeric_limits<std::int32_t>::max()));
}

const ProbeState& state_of(const ContainerState& container, ProbeKind kind) {
  return container.probes[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string_view probe_word(ProbeKind kind) {
  static constexpr std::string_view kWords[] = {"Startup", "Liveness", "Readiness"};
  return kWords[static_cast<std::size_t>(kind)];
}

ProbeSettings probe_settings(const Json& probe) {
  ProbeSettings settings;
  settings.initial_delay = base::seconds(bounded(probe["initialDelaySeconds"], 0, 0));
  settings.period = base::seconds(bounded(probe["periodSeconds"], 10, 1));
  settings.timeout = base::seconds(bounded(probe["timeoutSeconds"], 1, 1));
  settings.success_threshold = bounded(probe["successThreshold"], 1, 1);
  settings.failure_threshold = bounded(probe["failureThreshold"], 3, 1);
  if (probe["terminationGracePeriodSeconds"].is_number())
    settings.grace = base::seconds(bounded(probe["terminationGracePeriodSeconds"], 1, 1));
  return settings;
}

const Json& probe_of(const Json& container, ProbeKind kind) {
  static constexpr const char* kFields[] = {"startupProbe", "livenessProbe", "readinessProbe"};
  return container[kFields[static_cast<std::size_t>(kind)]];
}

bool is_checkable(const Json& handler) {
  return handler.has("exec") || handler.has("httpGet") || handler.has("tcpSocket") || handler.has("grpc") ||
         handler.has("sleep");
}

void reset_probes(const Json& spec, ContainerState& container) {
  const bool probed = !container.init || container.sidecar;
  for (const ProbeKind kind : kProbeKinds)
    container.probes[static_cast<std::size_t>(kind)] = {.wanted = probed && is_checkable(probe_of(spec, kind)),
                                                        .holds = kind == ProbeKind::kLiveness};
  container.post_start = probed && is_checkable(spec["lifecycle"]["postStart"]) ? HookPhase::kDue : HookPhase::kDone;
  container.pre_stop = probed && is_checkable(spec["lifecycle"]["preStop"]) ? HookPhase::kDue : HookPhase::kDone;
  container.doom.clear();
  container.doom_grace.reset();
}

bool is_started(const ContainerState& container) {
  const ProbeState& startup = state_of(container, ProbeKind::kStartup);
  return container.phase == RunPhase::kRunning && container.post_start == HookPhase::kDone &&
         (!startup.wanted || startup.holds);
}

bool is_ready(const ContainerState& container) {
  const ProbeState& readiness = state_of(container, ProbeKind::kReadiness);
  return is_started(container) && (!readiness.wanted || readiness.holds);
}

std::optional<base::Duration> probe_due(const Json& spec, const ContainerState& container, ProbeKind kind) {
  const ProbeState& probe = state_of(container, kind);
  if (!probe.wanted || probe.busy || container.phase != RunPhase::kRunning || container.term_sent ||
      container.kill_sent || !container.doom.empty() || container.post_start != HookPhase::kDone)
    return std::nullopt;
  const bool asked = kind == ProbeKind::kStartup ? !probe.holds : is_started(container);
  if (!asked) return std::nullopt;
  return std::max(probe.next, container.started_at + probe_settings(probe_of(spec, kind)).initial_delay);
}

Verdict weigh(const ProbeSettings& settings, Answer answer, ProbeState& probe) {
  if (answer == Answer::kUnknown) return Verdict::kNothing;
  const bool good = answer == Answer::kSuccess;
  if (probe.streak_good != good) probe.streak = 0;
  probe.streak_good = good;
  const int threshold = good ? settings.success_threshold : settings.failure_threshold;
  if (probe.streak < threshold) ++probe.streak;
  if (probe.streak < threshold) return Verdict::kNothing;
  probe.holds = good;
  return good ? Verdict::kHolds : Verdict::kFails;
}

}  // namespace node
