// Which nodes have room for what a pod asks for?
#pragma once

#include <cstdint>

#include "scheduler/model/model.h"
#include "scheduler/search/fit.h"

namespace scheduler {

enum class Room : std::uint8_t { kNow, kLater };  // kLater: what is being released counts, too

// Keeps the nodes whose amounts suffice: kNow, of what is idle; kLater, of what will be.
void keep_idle(const NodeTable& nodes, const Request& request, NodeSet& among);
void keep_future_idle(const NodeTable& nodes, const Request& request, NodeSet& among);
// kNow: on which the pod fits now, and later, when others have come that were promised room there.
void keep_room(const NodeTable& nodes, const Request& request, Room wanted, NodeSet& among);
// Which amounts are short on how many of the nodes.
void explain_room(const Model& model, const Request& request, const NodeSet& nodes, Room wanted, FitErrors& errors);

bool fits_future(const Model& model, const Task& task, NodeId node);
bool fits_idle(const Model& model, const Task& task, NodeId node);
// Some node has room for the task once everything is released.
bool some_node_has_room(const Model& model, const Task& task);

}  // namespace scheduler
