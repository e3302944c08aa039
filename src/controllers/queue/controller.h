// The queue controller: opening, closing and the tree's consequences (controllers.md 6).
#pragma once

#include <memory>

#include "base/metrics.h"
#include "controllers/framework/controller.h"

namespace controllers::queue {

struct Options {
  int requeues_max = 15;             // below zero: no limit
  bool reads_commands = true;        // the feature gate QueueCommandSync
  bool counts_children = false;      // the counters of a queue include those of the queues below it
  base::Metrics* metrics = nullptr;  // may be null; outlives the controller
};

std::unique_ptr<Controller> make_queue_controller(Options options);

}  // namespace controllers::queue
