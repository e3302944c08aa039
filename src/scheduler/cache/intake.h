// API objects in, the model kept current.
//
// The same intake serves a live scheduler (informers) and one-shot runs (files). It runs between cycles only, on the
// scheduler's loop. Objects are read leniently: admission has refused what is malformed, and what is left of it must
// not stop the others.
#pragma once

#include <string>
#include <utility>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "scheduler/cache/intake_group.h"
#include "scheduler/cache/intake_options.h"
#include "scheduler/cache/intake_pod.h"
#include "scheduler/cache/intake_queue.h"
#include "scheduler/cache/intake_shard.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"

namespace scheduler {

class Intake {
 public:
  Intake(Model& model, Ledger& ledger, IntakeOptions options);
  Intake(const Intake&) = delete;
  Intake& operator=(const Intake&) = delete;

  // An object exists in this state now; or it is gone. True when a decision could differ.
  bool set(const api::ResourceId& id, const api::Json& object);
  bool remove(const api::ResourceId& id, const api::Json& object);
  // The same for what a request of ours was answered. Answers and watches travel apart, so it counts only for an object
  // that the watch has shown and not taken back, and only if it is not older.
  bool set_answer(const api::ResourceId& id, const api::Json& object);

  const IntakeOptions& options() const { return options_; }

 private:
  bool set_priority_class(const api::Json& object, bool exists);
  // Devices, policies and storage.
  bool set_facts(const api::ResourceId& id, const api::Json& object, bool exists);

  Model& model_;
  const IntakeOptions options_;
  std::string default_priority_class_;

 public:
  PodIntake pods;
  GroupIntake groups;
  QueueIntake queues;
  ShardIntake shard;
};

}  // namespace scheduler
