// API objects in, the model kept current: node shards.
#pragma once

#include <optional>
#include <string>

#include "api/json/json.h"
#include "scheduler/cache/intake_options.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"

namespace scheduler {

class ShardIntake {
 public:
  // All of them outlive it.
  ShardIntake(Model& model, Ledger& ledger, const IntakeOptions& options)
      : model_(model), ledger_(ledger), options_(options) {}

  // True when a decision could differ.
  bool set(const api::Json& object);
  bool remove(const api::Json& object);
  // No write of the own NodeShard's status is under way any more: what the watch showed meanwhile counts.
  void write_ended();
  const std::string& version() const { return model_.shards.own_version(); }

 private:
  Model& model_;
  Ledger& ledger_;
  const IntakeOptions& options_;
  std::optional<NodeShard> observed_;  // the own one, as the watch showed it last
};

}  // namespace scheduler
