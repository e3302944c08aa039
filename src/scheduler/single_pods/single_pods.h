// The turns of pods that are decided one by one. Keeps the queue in step with the model.
//
// Owned by the scheduler's loop.
#pragma once

#include <optional>
#include <vector>

#include "api/meta/resource.h"
#include "scheduler/cache/intake.h"
#include "scheduler/model/model.h"
#include "scheduler/session/session.h"
#include "scheduler/single_pods/claim_holds.h"
#include "scheduler/single_pods/pod_queue.h"

namespace scheduler {

class SinglePods {
 public:
  // Both outlive it.
  SinglePods(const Model& model, Intake& intake) : model_(model), intake_(intake) {}

  // An object of this resource came, changed or went; `matters`: a decision could differ.
  void object_changed(const api::ResourceId& id, bool matters, base::Time now);
  // Something that no watch told may help: an answer from the API server, or a new configuration.
  void facts_changed(base::Time now);
  // At most so many pods whose turn it is now, in order.
  std::vector<TaskId> take_turns(std::size_t count_max, base::Time now);
  void record_ends(const std::vector<SinglePodEnd>& ends, base::Time now);

  bool has_turns() const { return queue_.has_active(); }
  // When somebody has a turn though nothing happens; unset: never.
  std::optional<base::Time> next_due() const;
  // The keys of pods that wait, and were told why.
  std::vector<std::string> unschedulable_keys() const;

 private:
  void take_news(base::Time now);
  // Queues the pod, or holds it back as long as it lacks a claim.
  void queue_or_hold(WaitingPod pod, TaskId id, bool is_other, base::Time now);

  const Model& model_;
  Intake& intake_;
  PodQueue queue_;
  ClaimHolds holds_;  // pods in here are not in the queue, except for the turn in which they are told
};

}  // namespace scheduler
