// API objects in, the model kept current: PodGroups.
#pragma once

#include <string>

#include "api/json/json.h"
#include "scheduler/cache/intake_options.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/core/group_status.h"
#include "scheduler/model/model.h"

namespace scheduler {

class GroupIntake {
 public:
  // All of them outlive it.
  GroupIntake(Model& model, Ledger& ledger, const IntakeOptions& options)
      : model_(model), ledger_(ledger), options_(options) {}

  // True when a decision could differ.
  bool set(const api::Json& group);
  bool remove(const api::Json& group);
  // The answer to a write counts if the watch has shown this group.
  bool takes_answer(const api::Json& group) const;
  // The next state of the group counts, also if it is not newer than the last one.
  void forget_version(const std::string& key);

 private:
  void recall_round(const api::Json& group, JobId id);
  void set_topology(const api::Json& group, JobId id);

  Model& model_;
  Ledger& ledger_;
  const IntakeOptions& options_;
  bool has_warned_of_policies_ = false;  // that a group has too many of its subgroups
};

// Readers shared with other parts.
GroupStatus group_status_from(const api::Json& status, SharedTexts& shared_texts);
api::Json to_json(const GroupStatus& status);

}  // namespace scheduler
