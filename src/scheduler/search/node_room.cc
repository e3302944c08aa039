// Which nodes have room for what a pod asks for?
#include "scheduler/search/node_room.h"

#include <cstddef>
#include <vector>

#include "scheduler/model/nodes/column_kernels.h"
#include "scheduler/search/words_in_use.h"

namespace scheduler {
namespace {

void keep_amounts(const NodeTable& nodes, const Request& request, bool future, NodeSet& among) {
  future = future && nodes.future_differs();
  const WordRange range = words_in_use(among);
  std::uint64_t* words = among.words().data() + range.begin;
  const std::size_t count = range.end - range.begin, first = range.begin * 64;
  for (const Part& part : request.parts) {
    const std::int64_t* idle = nodes.idle(part.dim).data() + first;
    if (future) {
      keep_future_at_least(idle, nodes.releasing(part.dim).data() + first, nodes.pipelined(part.dim).data() + first,
                           part.amount, words, count);
    } else {
      keep_at_least(idle, part.amount, words, count);
    }
  }
}

}  // namespace

void keep_idle(const NodeTable& nodes, const Request& request, NodeSet& among) {
  keep_amounts(nodes, request, false, among);
}

void keep_future_idle(const NodeTable& nodes, const Request& request, NodeSet& among) {
  keep_amounts(nodes, request, true, among);
}

void keep_room(const NodeTable& nodes, const Request& request, Room wanted, NodeSet& among) {
  keep_future_idle(nodes, request, among);
  if (wanted == Room::kNow && nodes.future_differs()) keep_idle(nodes, request, among);
}

void explain_room(const Model& model, const Request& request, const NodeSet& nodes, Room wanted, FitErrors& errors) {
  std::vector<std::size_t> short_of(request.parts.size());
  nodes.for_each([&](std::uint32_t n) {
    for (std::size_t i = 0; i < request.parts.size(); ++i) {
      const Part& part = request.parts[i];
      const bool is_short = part.amount > model.nodes.future_idle(part.dim, n) ||
                            (wanted == Room::kNow && part.amount > model.nodes.idle(part.dim)[n]);
      if (!is_short) continue;
      ++short_of[i];
      break;
    }
  });
  for (std::size_t i = 0; i < short_of.size(); ++i) {
    errors.add_short_of(model.dimensions.name(request.parts[i].dim), short_of[i]);
  }
}

bool fits_future(const Model& model, const Task& task, NodeId node) {
  for (const Part& part : model.shape_of(task).request.parts) {
    if (part.amount > model.nodes.future_idle(part.dim, node.index)) return false;
  }
  return true;
}

bool fits_idle(const Model& model, const Task& task, NodeId node) {
  for (const Part& part : model.shape_of(task).request.parts) {
    if (part.amount > model.nodes.idle(part.dim)[node.index]) return false;
  }
  return true;
}

bool some_node_has_room(const Model& model, const Task& task) {
  NodeSet nodes = model.nodes.known();
  keep_future_idle(model.nodes, model.shape_of(task).request, nodes);
  return !nodes.empty();
}

}  // namespace scheduler
