// How the actions of a plan are carried out.
#include "node/agent/pods/plan_runner.h"

#include <csignal>

#include "api/meta/resource.h"
#include "base/format.h"
#include "node/pod/pod_plan.h"

namespace node {

using api::Json;

void PlanRunner::step(const std::string& uid) {
  PodWorker* worker = needs_.pods.find(uid);
  if (worker == nullptr || worker->stepping || worker->gone) return;
  if (worker->settled && !api::is_deleting(worker->pod) && worker->state.sandbox == Sandbox::kGone) {
    needs_.claims.release(*worker);  // an agent that stopped has not waited for it
    return stepped_();
  }
  worker->stepping = true;
  if (!worker->settled && !worker->refused && worker->state.failure_reason.empty() &&
      is_to_be_made(worker->state.sandbox))
    needs_.admission.admit(*worker);
  if (!worker->settled && worker->state.sandbox == Sandbox::kReady) needs_.tokens.fetch(*worker);
  if (api::is_deleting(worker->pod) || !worker->state.failure_reason.empty()) *worker->given_up = true;
  const Moment now{needs_.loop.uptime(), needs_.loop.now()};
  const Plan plan = plan_pod(worker->pod, worker->state, now);
  for (const Action& action : plan.actions) act(*worker, action);
  hold_to_deadline(*worker, now.wall);
  if (worker->timer != 0) needs_.loop.cancel(std::exchange(worker->timer, 0));
  if (plan.wake) {
    worker->timer = needs_.loop.after(*plan.wake - now.uptime + base::milliseconds(1), [this, uid] {
      if (PodWorker* found = needs_.pods.find(uid)) found->timer = 0;
      step(uid);
    });
  }
  worker->stepping = false;
  needs_.devices.release(*worker);
  needs_.claims.release(*worker);
  needs_.resizes.carry_out(*worker);
  needs_.reports.report(*worker);
  stepped_();
}

void PlanRunner::hold_to_deadline(PodWorker& worker, base::Time now) {
  const Json& deadline = worker.pod["spec"]["activeDeadlineSeconds"];
  if (!deadline.is_number() || !worker.state.start_time.is_set() || !worker.state.failure_reason.empty() ||
      worker.settled || is_over(worker.pod, worker.state) ||
      now < worker.state.start_time + base::seconds(deadline.as_int()))
    return;
  worker.state.failure_reason = "DeadlineExceeded";
  worker.state.failure_message = "Pod was active on the node longer than the specified deadline";
  needs_.events.record(worker.pod, "Normal", "DeadlineExceeded", worker.state.failure_message);
}

void PlanRunner::step_after(const std::string& uid, base::Duration delay) {
  needs_.loop.after(delay, [this, uid] { step(uid); });
}

void PlanRunner::act(PodWorker& worker, const Action& action) {
  switch (action.kind) {
    case ActionKind::kPrepare: return needs_.sandboxes.prepare(worker);
    case ActionKind::kPull: return needs_.images.pull(worker, action.container);
    case ActionKind::kStart: return needs_.containers.start(worker, action.container);
    case ActionKind::kRemove: return needs_.sandboxes.remove(worker);
    case ActionKind::kFinalize: return needs_.reports.finalize(worker);
    case ActionKind::kProbe: return needs_.checks.probe(worker, action.container, action.probe);
    case ActionKind::kTerminate:
    case ActionKind::kKill: return end_container(worker, action);
  }
}

void PlanRunner::end_container(PodWorker& worker, const Action& action) {
  ContainerState& container = worker.state.containers[action.container];
  const bool first = !container.term_sent && !container.kill_sent;
  if (first)
    needs_.events.record(
        worker.pod, "Normal", "Killing",
        container.doom.empty() ? base::format("Stopping container {}", container.name) : container.doom, container);
  if (action.kind == ActionKind::kKill) {
    container.kill_sent = container.term_sent = true;
    return needs_.loop.runtime()->signal(std::string(api::uid_of(worker.pod)), container.id, SIGKILL);
  }
  base::Duration grace = action.grace;
  if (worker.state.stopping && needs_.options.stop_grace < grace) grace = needs_.options.stop_grace;
  needs_.checks.terminate(worker, action.container, grace);
}

}  // namespace node
