// How checks of containers begin, and what their answers do.
#include "node/agent/pods/pod_checks.h"

#include <algorithm>
#include <csignal>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"
#include "node/pod/probe.h"

namespace node {

using api::Json;

namespace {

constexpr std::string_view kPostStart = "postStart", kPreStop = "preStop";
// The limit of a hook that has no other; its container's end is its end, too.
constexpr base::Duration kPostStartMax = base::hours(1);
// The time that a program has after its preStop hook, at least.
constexpr base::Duration kAfterPreStop = base::seconds(2);

std::optional<ProbeKind> kind_of(std::string_view word) {
  for (const ProbeKind kind : kProbeKinds)
    if (word == probe_word(kind)) return kind;
  return std::nullopt;
}

// A command may say nothing.
std::string with_text(std::string what, const std::string& text) {
  return text.empty() ? what : std::move(what) + ": " + text;
}

}  // namespace

PodChecks::PodChecks(AgentLoop& loop, const Options& options, const PodTable& pods, PodEvents& events, PodSteps& steps)
    : loop_(loop),
      options_(options),
      pods_(pods),
      events_(events),
      steps_(steps),
      streams_(loop.runtime() ? loop.runtime()->streams() : nullptr) {}

void PodChecks::end(const std::string& uid, const std::string& container_id) {
  if (const auto of_pod = checks_.find(uid); of_pod != checks_.end())
    std::erase_if(of_pod->second, [&](const auto& check) { return check.first.starts_with(container_id); });
}

// The answer counts only while the attempt it was asked of runs.
void PodChecks::check(PodWorker& worker, std::size_t index, std::string what, const Json& handler,
                      base::Duration timeout, Done done) {
  const ContainerState& container = worker.state.containers[index];
  const std::string uid(api::uid_of(worker.pod)), id = container.id;
  const std::string key = base::format("{} {}", id, what);
  CheckRequest request{handler, container_spec(worker.pod, container), uid,
                       worker.state.ip.empty() ? options_.host_ip : worker.state.ip, timeout};
  if (handler.has("grpc") && !grpc_) {
    if (auto made = rt::make_grpc_io(); made.ok())
      grpc_ = std::move(*made);
    else
      base::log_warning("node", made.error().message);
  }
  checks_[uid][key] = begin_check(
      {loop_.env(), streams_.get(), grpc_.get()}, std::move(request),
      loop_.while_alive([this, uid, id, index, key, what = std::move(what), done](const CheckAnswer& answer) {
        PodWorker* found = pods_.find(uid);
        if (found == nullptr) return;
        checks_[uid].erase(key);
        ContainerState& of = found->state.containers[index];
        if (of.id != id || of.phase != RunPhase::kRunning) return;
        (this->*done)(*found, of, what, answer);
        steps_.step(uid);
      }));
}

void PodChecks::probe(PodWorker& worker, std::size_t index, ProbeKind kind) {
  ContainerState& container = worker.state.containers[index];
  const Json& json = probe_of(container_spec(worker.pod, container), kind);
  const ProbeSettings settings = probe_settings(json);
  ProbeState& state = container.probes[static_cast<std::size_t>(kind)];
  state.busy = true;
  state.next = loop_.uptime() + settings.period;
  check(worker, index, std::string(probe_word(kind)), json, settings.timeout, &PodChecks::probed);
}

void PodChecks::probed(PodWorker& worker, ContainerState& container, const std::string& what,
                       const CheckAnswer& answer) {
  const ProbeKind kind = *kind_of(what);
  const ProbeSettings settings = probe_settings(probe_of(container_spec(worker.pod, container), kind));
  ProbeState& state = container.probes[static_cast<std::size_t>(kind)];
  state.busy = false;
  if (container.term_sent || container.kill_sent || !container.doom.empty()) return;
  if (answer.answer != Answer::kSuccess)
    events_.record(
        worker.pod, "Warning", "Unhealthy",
        base::format("{} probe {}: {}", what, answer.answer == Answer::kFailure ? "failed" : "errored", answer.text),
        container);
  const Verdict verdict = weigh(settings, answer.answer, state);
  container.started_once = container.started_once || is_started(container);
  if (verdict != Verdict::kFails || kind == ProbeKind::kReadiness) return;
  const bool again = container.sidecar || restart_policy(worker.pod, container_spec(worker.pod, container)) != "Never";
  container.doom =
      base::format("Container {} failed {} probe{}", container.name,
                   kind == ProbeKind::kStartup ? "startup" : "liveness", again ? ", will be restarted" : "");
  container.doom_grace = settings.grace;
}

void PodChecks::post_start(PodWorker& worker, std::size_t index) {
  ContainerState& container = worker.state.containers[index];
  if (container.post_start != HookPhase::kDue) return;
  container.post_start = HookPhase::kBusy;
  check(worker, index, std::string(kPostStart), container_spec(worker.pod, container)["lifecycle"]["postStart"],
        kPostStartMax, &PodChecks::post_started);
}

void PodChecks::post_started(PodWorker& worker, ContainerState& container, const std::string&,
                             const CheckAnswer& answer) {
  container.post_start = HookPhase::kDone;
  if (answer.answer == Answer::kSuccess || container.term_sent || container.kill_sent) return;
  events_.record(worker.pod, "Warning", "FailedPostStartHook", with_text("PostStartHook failed", answer.text),
                 container);
  container.doom = "FailedPostStartHook";
}

void PodChecks::terminate(PodWorker& worker, std::size_t index, base::Duration grace) {
  ContainerState& container = worker.state.containers[index];
  const std::string uid(api::uid_of(worker.pod));
  container.term_sent = true;
  container.kill_at = loop_.uptime() + grace;
  if (container.pre_stop == HookPhase::kDue) {
    container.pre_stop = HookPhase::kBusy;
    return check(worker, index, std::string(kPreStop), container_spec(worker.pod, container)["lifecycle"]["preStop"],
                 grace, &PodChecks::pre_stopped);
  }
  send_term(worker, container);
}

void PodChecks::pre_stopped(PodWorker& worker, ContainerState& container, const std::string&,
                            const CheckAnswer& answer) {
  container.pre_stop = HookPhase::kDone;
  if (answer.answer != Answer::kSuccess)
    events_.record(worker.pod, "Warning", "FailedPreStopHook", with_text("PreStopHook failed", answer.text), container);
  if (container.kill_sent) return;
  container.kill_at = std::max(container.kill_at, loop_.uptime() + kAfterPreStop);
  send_term(worker, container);
}

// And looks again when the time is over.
void PodChecks::send_term(PodWorker& worker, ContainerState& container) {
  const std::string uid(api::uid_of(worker.pod));
  loop_.runtime()->signal(uid, container.id, SIGTERM);
  steps_.step_after(uid, container.kill_at - loop_.uptime());
}

}  // namespace node
