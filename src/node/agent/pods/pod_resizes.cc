// How a resize is decided, carried out step by step, and kept on disk.
#include "node/agent/pods/pod_resizes.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "base/format.h"
#include "base/log.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_specs.h"

namespace node {

using api::Json;

namespace {

constexpr const char* kDeferred = "Deferred";
constexpr const char* kInfeasible = "Infeasible";

const Json& condition_of(const Json& pod, std::string_view type) {
  static const Json none;
  for (const Json& one : pod["status"]["conditions"].items())
    if (one["type"].as_string() == type) return one;
  return none;
}

bool is_live(const ContainerState& container) {
  return container.phase == RunPhase::kStarting || container.phase == RunPhase::kRunning;
}

std::int64_t generation_of(const Json& pod) { return pod["metadata"]["generation"].as_int(); }

ContainerAmounts held_by(const PodWorker& worker) {
  ContainerAmounts held = worker.set_aside;
  if (worker.state.held.is_object()) held[std::string(kWholePod)] = worker.state.held;
  for (const ContainerState& container : worker.state.containers)
    if (is_live(container) && container.held.is_object() && held.contains(container.name))
      held[container.name] = container.held;
  return held;
}

// The order in which those that wait are tried again, as a kubelet's.
bool goes_before(const PodWorker* one, const PodWorker* other) {
  const auto priority = [](const PodWorker* of) { return of->pod["spec"]["priority"].as_int(); };
  const auto guaranteed = [](const PodWorker* of) { return api::qos_class(of->pod["spec"]) == "Guaranteed"; };
  if (priority(one) != priority(other)) return priority(one) > priority(other);
  if (guaranteed(one) != guaranteed(other)) return guaranteed(one);
  if (one->state.resize.pending_since != other->state.resize.pending_since)
    return one->state.resize.pending_since < other->state.resize.pending_since;
  return api::uid_of(one->pod) < api::uid_of(other->pod);
}

Allocation allocation_of(const PodWorker& worker) {
  return {std::string(api::uid_of(worker.pod)), worker.set_aside, held_by(worker), worker.state.resize.in_progress};
}

}  // namespace

PodResizes::PodResizes(AgentLoop& loop, std::string folder, const NodeObject& node, const PodTable& pods, PodWork& work,
                       PodEvents& events, PodSteps& steps)
    : loop_(loop), folder_(std::move(folder)), node_(node), pods_(pods), work_(work), events_(events), steps_(steps) {}

std::string PodResizes::folder(const Options& options) {
  return options.data_dir.empty() ? std::string() : options.data_dir + "/allocations";
}

void PodResizes::start(std::vector<Allocation> found) {
  for (Allocation& one : found) found_[one.uid] = std::move(one);
}

// The amounts set aside before this agent began count, not those that the spec has come to say since.
void PodResizes::begin(PodWorker& worker) {
  const auto found = found_.find(std::string(api::uid_of(worker.pod)));
  worker.set_aside = amounts_of(worker.pod);
  worker.state.limits_held = !loop_.runtime()->no_resize();
  if (found != found_.end())
    for (auto& [name, resources] : worker.set_aside)
      if (const auto known = found->second.set_aside.find(name); known != found->second.set_aside.end())
        resources = known->second;
  const Json pod = with_amounts(worker.pod, worker.set_aside);
  const auto held_before = [&](std::string_view name, Json& held) {
    if (found == found_.end()) return;
    if (const auto known = found->second.held.find(name); known != found->second.held.end()) held = known->second;
  };
  if (worker.state.sandbox == Sandbox::kReady) worker.state.held = worker.set_aside[std::string(kWholePod)];
  held_before(kWholePod, worker.state.held);
  for (ContainerState& container : worker.state.containers) {
    if (!is_live(container) || container.ephemeral) continue;
    container.held = effective_resources(pod, container_spec(pod, container));
    held_before(container.name, container.held);
    container.actual = loop_.runtime()->actual_resources(std::string(api::uid_of(pod)), container.id, container.held);
  }
  ResizeState& resize = worker.state.resize;
  worker.pod_held = pod_amounts(pod);
  if (found != found_.end()) {
    worker.written = found->second;
    resize.in_progress = found->second.resizing;
    resize.generation = condition_of(worker.pod, "PodResizeInProgress")["observedGeneration"].as_int();
    if (resize.in_progress) worker.pod_held.reset();
    found_.erase(found);
  }
  // Until it is decided anew, what was said before stands.
  const Json& pending = condition_of(worker.pod, "PodResizePending");
  for (const char* reason : {kDeferred, kInfeasible})
    if (pending["reason"].as_string() == reason) resize.pending = reason;
  resize.pending_message = reason_text(pending["message"].as_string());
  resize.pending_generation = pending["observedGeneration"].as_int();
  resize.pending_since = loop_.uptime();
}

void PodResizes::forget_others() {
  loop_.off_loop<int>(
      [folder = folder_, gone = std::exchange(found_, {})](Runtime&) {
        for (const auto& row : gone) erase_allocation(folder, row.first);
        return 0;
      },
      [](int) {});
}

void PodResizes::take_spec(PodWorker& worker, const Json& pod) {
  worker.wanted = pod;
  worker.pod = with_amounts(pod, worker.set_aside);
  decide(worker);
}

api::ResourceList PodResizes::taken_by_others(const PodWorker& worker) const {
  api::ResourceList sum;
  for (const auto& [uid, other] : pods_.workers()) {
    if (other.get() == &worker || other->settled || is_over(other->pod, other->state)) continue;
    api::ResourceList taken = taken_by(other->pod);
    api::raise(taken, taken_by(with_amounts(other->pod, held_by(*other))));
    api::add(sum, taken);
  }
  return sum;
}

void PodResizes::decide(PodWorker& worker) {
  ResizeState& resize = worker.state.resize;
  const ContainerAmounts request = amounts_of(worker.wanted);
  const bool same = std::ranges::all_of(request, [&](const auto& row) {
    const auto present = worker.set_aside.find(row.first);
    return present == worker.set_aside.end() || same_amounts(row.second, present->second);
  });
  if (same) {
    resize.pending.clear();
    return;
  }
  if (!pods_.is_complete() || worker.settled || api::is_deleting(worker.pod) || is_over(worker.pod, worker.state))
    return;
  ResizeVerdict verdict = judge_resize(worker.wanted, worker.pod, node_.allocatable(), taken_by_others(worker));
  const std::optional<std::string> unable = loop_.runtime()->no_resize();
  if (unable && std::ranges::any_of(worker.state.containers, is_live))
    verdict = {ResizeVerdict::Kind::kInfeasible, "In-place resize is not possible on this node: " + *unable};
  const std::int64_t generation = generation_of(worker.wanted);
  if (verdict.kind == ResizeVerdict::Kind::kFits) {
    worker.set_aside = request;
    worker.pod = worker.wanted;
    const bool busy = resize.busy;
    resize = {.in_progress = true, .generation = generation};
    resize.busy = busy;
    return events_.record(worker.pod, "Normal", "ResizeStarted", resize_text("started", worker.pod, generation, {}));
  }
  const bool deferred = verdict.kind == ResizeVerdict::Kind::kDeferred;
  const char* reason = deferred ? kDeferred : kInfeasible;
  const bool news = resize.pending != reason || resize.pending_generation != generation;
  if (resize.pending.empty()) resize.pending_since = loop_.uptime();
  resize.pending = reason;
  resize.pending_message = verdict.message;
  resize.pending_generation = generation;
  if (news)
    events_.record(worker.pod, "Warning", deferred ? "ResizeDeferred" : "ResizeInfeasible",
                   resize_text(reason, worker.wanted, generation, verdict.message));
}

void PodResizes::retry() {
  loop_.post([this] {
    if (stopping_) return;
    std::vector<PodWorker*> waiting;
    for (const auto& [uid, worker] : pods_.workers())
      if (worker->state.resize.pending != kInfeasible) waiting.push_back(worker.get());
    std::ranges::sort(waiting, goes_before);
    for (PodWorker* worker : waiting) {
      const ResizeState before = worker->state.resize;
      decide(*worker);
      if (before.pending != worker->state.resize.pending || before.in_progress != worker->state.resize.in_progress)
        steps_.step(std::string(api::uid_of(worker->pod)));
    }
  });
}

void PodResizes::carry_out(PodWorker& worker) {
  ResizeState& resize = worker.state.resize;
  const bool over = worker.settled || api::is_deleting(worker.pod) || is_over(worker.pod, worker.state);
  if (over && !worker.freed) {
    worker.freed = true;
    retry();
  }
  if (!resize.in_progress || resize.busy || over || worker.state.stopping) return;
  if (worker.state.sandbox == Sandbox::kPreparing || worker.state.sandbox == Sandbox::kRemoving) return;
  if (loop_.uptime() < resize.retry_at) return;
  // A pod without limits, or without a sandbox, needs no change.
  if (loop_.runtime()->no_resize() || is_to_be_made(worker.state.sandbox)) worker.pod_held = pod_amounts(worker.pod);
  const ResizeStep next = next_resize_step(worker.pod, worker.state, worker.pod_held);
  switch (next.kind) {
    case ResizeStep::Kind::kApply: return apply(worker, next);
    case ResizeStep::Kind::kWait: return;
    case ResizeStep::Kind::kRestart:
      for (const std::size_t index : next.restarted) {
        ContainerState& container = worker.state.containers[index];
        container.doom = base::format("Container {} resize requires restart", container.name);
        container.doom_grace.reset();
      }
      return steps_.step_after(std::string(api::uid_of(worker.pod)), {});
    case ResizeStep::Kind::kDone: break;
  }
  const std::int64_t generation = resize.generation;
  resize.in_progress = false;
  resize.error.clear();
  events_.record(worker.pod, "Normal", "ResizeCompleted", resize_text("completed", worker.pod, generation, {}));
  keep(worker);
  retry();
}

void PodResizes::apply(PodWorker& worker, const ResizeStep& next) {
  worker.state.resize.busy = true;
  const std::string uid(api::uid_of(worker.pod));
  const Allocation before = allocation_of(worker);
  Allocation after = before;
  PodResize change = next.change;
  const Json was = with_amounts(worker.pod, before.held);
  for (std::size_t i = 0; i < next.updated.size(); ++i) {
    const ContainerState& container = worker.state.containers[next.updated[i]];
    const Json& spec = container_spec(worker.pod, container);
    after.held[container.name] = effective_resources(worker.pod, spec);
    change.containers[i].oom_score = {oom_score_adjustment(was, container_spec(was, container), node_.allocatable()),
                                      oom_score_adjustment(worker.pod, spec, node_.allocatable())};
  }
  if (change.pod == pod_amounts(worker.pod))
    after.held[std::string(kWholePod)] = worker.set_aside[std::string(kWholePod)];
  worker.written = after;
  work_.run<base::Status>(
      uid,
      [folder = folder_, file = worker.allocation_file, began = worker.allocation_file->decide(), before, after,
       change](Runtime& machine) -> base::Status {
        TRY_VOID(file->write(folder, before, began));
        TRY_VOID(machine.resize(change));
        return file->write(folder, after, file->decide());
      },
      [this, uid, after, change](base::Status done) {
        PodWorker* found = pods_.find(uid);
        if (found == nullptr) return;
        applied(*found, change, after, done);
        steps_.step(uid);
      });
}

void PodResizes::applied(PodWorker& worker, const PodResize& change, const Allocation& after,
                         const base::Status& done) {
  ResizeState& resize = worker.state.resize;
  resize.busy = false;
  if (done.ok()) {
    worker.pod_held = change.pod;
    for (ContainerState& container : worker.state.containers)
      for (const ContainerResize& one : change.containers) {
        if (one.id != container.id) continue;
        container.held = after.held.at(one.name);
        container.actual = loop_.runtime()->actual_resources(change.pod_uid, one.id, container.held);
      }
    worker.state.held = after.held.at(std::string(kWholePod));
    resize.error.clear();
    resize.retry_at = {};
    resize.retry_back_off = {};
    return;
  }
  worker.pod_held.reset();
  worker.written = {};
  const std::string why = reason_text(done.error().message);
  if (resize.error != why)
    events_.record(worker.pod, "Warning", "ResizeError", resize_text("error", worker.pod, resize.generation, why));
  resize.error = why;
  resize.retry_back_off = next_back_off(resize.retry_back_off);
  resize.retry_at = loop_.uptime() + resize.retry_back_off;
  steps_.step_after(std::string(api::uid_of(worker.pod)), resize.retry_back_off + base::milliseconds(1));
}

std::function<base::Status()> PodResizes::write_of(PodWorker& worker) {
  const Allocation now = allocation_of(worker);
  if (now == worker.written || !has_amounts(worker.pod)) return [] { return base::Status(); };
  worker.written = now;
  return [folder = folder_, now, file = worker.allocation_file, decided = worker.allocation_file->decide()] {
    return file->write(folder, now, decided);
  };
}

void PodResizes::keep(PodWorker& worker) {
  work_.run<base::Status>(
      std::string(api::uid_of(worker.pod)), [write = write_of(worker)](Runtime&) { return write(); },
      [](const base::Status& written) {
        if (!written.ok()) base::log_error("node", written.error().message);
      });
}

}  // namespace node
