// API objects in, the model kept current: queues.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"

namespace scheduler {

class QueueIntake {
 public:
  // Both outlive it.
  QueueIntake(Model& model, Ledger& ledger) : model_(model), ledger_(ledger) {}

  // True when a decision could differ.
  bool set(const api::Json& queue);
  bool remove(const api::Json& queue);
  // The answer to a write counts if it is not older than what the watch has shown of this queue.
  bool takes_answer(const api::Json& queue) const;
  // The status could not be written: what it should say is written again.
  void status_lost(std::string_view name, const std::vector<std::string>& gone);

 private:
  Model& model_;
  Ledger& ledger_;
};

}  // namespace scheduler
