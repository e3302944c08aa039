// Resizing in place as effects: what is set aside for pods, what of it their containers have, and who is told.
#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"
#include "node/machine/container_text.h"
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

}  // namespace

std::string Agent::State::allocations_folder() const {
  return options.data_dir.empty() ? std::string() : options.data_dir + "/allocations";
}

Allocation Agent::State::allocation_of(const PodWorker& worker) const {
  return {std::string(api::uid_of(worker.pod)), worker.set_aside, held_by(worker), worker.state.resize.in_progress};
}

// The amounts set aside before this agent began count, not those that the spec has come to say since.
void Agent::State::begin_allocation(PodWorker& worker) {
  const auto found = allocations.find(std::string(api::uid_of(worker.pod)));
  worker.set_aside = amounts_of(worker.pod);
  worker.state.limits_held = !runtime->no_resize();
  if (found != allocations.end())
    for (auto& [name, resources] : worker.set_aside)
      if (const auto known = found->second.set_aside.find(name); known != found->second.set_aside.end())
        resources = known->second;
  const Json pod = with_amounts(worker.pod, worker.set_aside);
  const auto held_before = [&](std::string_view name, Json& held) {
    if (found == allocations.end()) return;
    if (const auto known = found->second.held.find(name); known != found->second.held.end()) held = known->second;
  };
  if (worker.state.sandbox == Sandbox::kReady) worker.state.held = worker.set_aside[std::string(kWholePod)];
  held_before(kWholePod, worker.state.held);
  for (ContainerState& container : worker.state.containers) {
    if (!is_live(container) || container.ephemeral) continue;
    container.held = effective_resources(pod, container_spec(pod, container));
    held_before(container.name, container.held);
    container.actual = runtime->actual_resources(std::string(api::uid_of(pod)), container.id, container.held);
  }
  ResizeState& resize = worker.state.resize;
  worker.pod_held = pod_amounts(pod);
  if (found != allocations.end()) {
    worker.written = found->second;
    resize.in_progress = found->second.resizing;
    resize.generation = condition_of(worker.pod, "PodResizeInProgress")["observedGeneration"].as_int();
    if (resize.in_progress) worker.pod_held.reset();
    allocations.erase(found);
  }
  // Until it is decided anew, what was said before stands.
  const Json& pending = condition_of(worker.pod, "PodResizePending");
  for (const char* reason : {kDeferred, kInfeasible})
    if (pending["reason"].as_string() == reason) resize.pending = reason;
  resize.pending_message = reason_text(pending["message"].as_string());
  resize.pending_generation = pending["observedGeneration"].as_int();
  resize.pending_since = env.uptime();
}

void Agent::State::forget_allocations() {
  off_loop<int>(
      [folder = allocations_folder(), gone = std::exchange(allocations, {})](Runtime&) {
        for (const auto& row : gone) erase_allocation(folder, row.first);
        return 0;
      },
      [](int) {});
}

void Agent::State::take_spec(PodWorker& worker, const Json& pod) {
  worker.wanted = pod;
  worker.pod = with_amounts(pod, worker.set_aside);
  decide_resize(worker);
}

api::ResourceList Agent::State::taken_by_others(const PodWorker& worker) const {
  api::ResourceList sum;
  for (const auto& [uid, other] : pods.workers()) {
    if (other.get() == &worker || other->settled || is_over(other->pod, other->state)) continue;
    api::ResourceList taken = taken_by(other->pod);
    api::raise(taken, taken_by(with_amounts(other->pod, held_by(*other))));
    api::add(sum, taken);
  }
  return sum;
}

void Agent::State::decide_resize(PodWorker& worker) {
  ResizeState& resize = worker.state.resize;
  const ContainerAmounts wish = amounts_of(worker.wanted);
  const bool same = std::ranges::all_of(wish, [&](const auto& row) {
    const auto present = worker.set_aside.find(row.first);
    return present == worker.set_aside.end() || same_amounts(row.second, present->second);
  });
  if (same) {
    resize.pending.clear();
    return;
  }
  if (!pods_known || worker.settled || api::is_deleting(worker.pod) || is_over(worker.pod, worker.state)) return;
  ResizeVerdict verdict = judge_resize(worker.wanted, worker.pod, node.allocatable(), taken_by_others(worker));
  const std::optional<std::string> unable = runtime->no_resize();
  if (unable && std::ranges::any_of(worker.state.containers, is_live))
    verdict = {ResizeVerdict::Kind::kInfeasible, "In-place resize is not possible on this node: " + *unable};
  const std::int64_t generation = generation_of(worker.wanted);
  if (verdict.kind == ResizeVerdict::Kind::kFits) {
    worker.set_aside = wish;
    worker.pod = worker.wanted;
    const bool busy = resize.busy;
    resize = {.in_progress = true, .generation = generation};
    resize.busy = busy;
    return event(worker.pod, "Normal", "ResizeStarted", resize_text("started", worker.pod, generation, {}));
  }
  const bool deferred = verdict.kind == ResizeVerdict::Kind::kDeferred;
  const char* reason = deferred ? kDeferred : kInfeasible;
  const bool news = resize.pending != reason || resize.pending_generation != generation;
  if (resize.pending.empty()) resize.pending_since = env.uptime();
  resize.pending = reason;
  resize.pending_message = verdict.message;
  resize.pending_generation = generation;
  if (news)
    event(worker.pod, "Warning", deferred ? "ResizeDeferred" : "ResizeInfeasible",
          resize_text(reason, worker.wanted, generation, verdict.message));
}

// Something became free, or all pods are known. Later, because who calls this is in the middle of another pod.
void Agent::State::retry_resizes() {
  env.loop().post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self || self->stopping) return;
    std::vector<PodWorker*> waiting;
    for (const auto& [uid, worker] : self->pods.workers())
      if (worker->state.resize.pending != kInfeasible) waiting.push_back(worker.get());
    std::ranges::sort(waiting, goes_before);
    for (PodWorker* worker : waiting) {
      const ResizeState before = worker->state.resize;
      self->decide_resize(*worker);
      if (before.pending != worker->state.resize.pending || before.in_progress != worker->state.resize.in_progress)
        self->step(std::string(api::uid_of(worker->pod)));
    }
  });
}

// Brings what runs to what is set aside, one step at a time.
void Agent::State::carry_out_resize(PodWorker& worker) {
  ResizeState& resize = worker.state.resize;
  const bool over = worker.settled || api::is_deleting(worker.pod) || is_over(worker.pod, worker.state);
  if (over && !worker.freed) {
    worker.freed = true;
    retry_resizes();
  }
  if (!resize.in_progress || resize.busy || over || worker.state.stopping) return;
  if (worker.state.sandbox == Sandbox::kPreparing || worker.state.sandbox == Sandbox::kRemoving) return;
  if (env.uptime() < resize.retry_at) return;
  // A pod without limits, or without a sandbox, needs no change.
  if (runtime->no_resize() || is_to_be_made(worker.state.sandbox)) worker.pod_held = pod_amounts(worker.pod);
  const ResizeStep next = next_resize_step(worker.pod, worker.state, worker.pod_held);
  switch (next.kind) {
    case ResizeStep::Kind::kApply: return apply_resize(worker, next);
    case ResizeStep::Kind::kWait: return;
    case ResizeStep::Kind::kRestart:
      for (const std::size_t index : next.restarted) {
        ContainerState& container = worker.state.containers[index];
        container.doom = base::format("Container {} resize requires restart", container.name);
        container.doom_grace.reset();
      }
      return step_after(std::string(api::uid_of(worker.pod)), {});
    case ResizeStep::Kind::kDone: break;
  }
  const std::int64_t generation = resize.generation;
  resize.in_progress = false;
  resize.error.clear();
  event(worker.pod, "Normal", "ResizeCompleted", resize_text("completed", worker.pod, generation, {}));
  keep_allocation(worker);
  retry_resizes();
}

void Agent::State::apply_resize(PodWorker& worker, const ResizeStep& next) {
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
    change.containers[i].oom_score = {oom_score_adjustment(was, container_spec(was, container), node.allocatable()),
                                      oom_score_adjustment(worker.pod, spec, node.allocatable())};
  }
  if (change.pod == pod_amounts(worker.pod))
    after.held[std::string(kWholePod)] = worker.set_aside[std::string(kWholePod)];
  worker.written = after;
  call_for<base::Status>(
      uid,
      [folder = allocations_folder(), file = worker.allocation_file, began = worker.allocation_file->decide(), before,
       after, change](Runtime& machine) -> base::Status {
        TRY_VOID(file->write(folder, before, began));
        TRY_VOID(machine.resize(change));
        return file->write(folder, after, file->decide());
      },
      [this, uid, after, change](base::Status done) {
        PodWorker* found = find(uid);
        if (found == nullptr) return;
        resized(*found, change, after, done);
        step(uid);
      });
}

void Agent::State::resized(PodWorker& worker, const PodResize& change, const Allocation& after,
                           const base::Status& done) {
  ResizeState& resize = worker.state.resize;
  resize.busy = false;
  if (done.ok()) {
    worker.pod_held = change.pod;
    for (ContainerState& container : worker.state.containers)
      for (const ContainerResize& one : change.containers) {
        if (one.id != container.id) continue;
        container.held = after.held.at(one.name);
        container.actual = runtime->actual_resources(change.pod_uid, one.id, container.held);
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
    event(worker.pod, "Warning", "ResizeError", resize_text("error", worker.pod, resize.generation, why));
  resize.error = why;
  resize.retry_back_off = next_back_off(resize.retry_back_off);
  resize.retry_at = env.uptime() + resize.retry_back_off;
  step_after(std::string(api::uid_of(worker.pod)), resize.retry_back_off + base::milliseconds(1));
}

std::function<base::Status()> Agent::State::allocation_write(PodWorker& worker) {
  const Allocation now = allocation_of(worker);
  if (now == worker.written || !has_amounts(worker.pod)) return [] { return base::Status(); };
  worker.written = now;
  return [folder = allocations_folder(), now, file = worker.allocation_file,
          decided = worker.allocation_file->decide()] { return file->write(folder, now, decided); };
}

void Agent::State::keep_allocation(PodWorker& worker) {
  call_for<base::Status>(
      std::string(api::uid_of(worker.pod)), [write = allocation_write(worker)](Runtime&) { return write(); },
      [](const base::Status& written) {
        if (!written.ok()) base::log_error("node", written.error().message);
      });
}

// A patch that leaves a condition out would leave it in the pod.
void Agent::State::drop_old_conditions(const PodWorker& worker, Json& status) const {
  for (const char* type : {"PodResizePending", "PodResizeInProgress"}) {
    const auto has = [&](const Json& list) {
      return std::ranges::any_of(list.items(), [&](const Json& one) { return one["type"].as_string() == type; });
    };
    if (has(status["conditions"]) || (!has(worker.pod["status"]["conditions"]) && !has(worker.reported["conditions"])))
      continue;
    status.edit("conditions").push_back(Json::object({{"$patch", "delete"}, {"type", type}}));
  }
}

}  // namespace node
