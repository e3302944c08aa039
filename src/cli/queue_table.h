// Queues with the groups that they hold by phase, for `vcctl queue` and `vqueues` alike.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/command.h"

namespace cli {

using QueueCounts = std::map<std::string, std::map<std::string, std::int64_t>>;  // queue, phase

// Counts groups. An account that may not list them all is told the counts of the queues' own status.
QueueCounts count_groups_or_ask(Api& server, const std::vector<api::Json>& queues);
// Volcano's columns; those of `vqueues` have no parent and no completed groups.
std::string queue_table(const std::vector<api::Json>& queues, QueueCounts& counts, bool is_full);
std::string queue_table_for_people(const World& world, const std::vector<api::Json>& queues, QueueCounts& counts);

}  // namespace cli
