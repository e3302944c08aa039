// Which wishes can never be met, even if every other pod left?
//
// The answers here are certain: amounts are lower bounds of what a group needs, and upper bounds of what nodes give.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/framework/wait_reason.h"
#include "scheduler/model/model.h"

namespace scheduler {

class Unschedulable {
 public:
  // Both outlive it; answers hold while nodes and queues do not change.
  Unschedulable(const Model& model, const PluginSet& plugins) : model_(model), plugins_(plugins) {}

  // Whether the group can never hold its minimum; then `out` says why.
  bool is_group(const Job& job, WaitReason& out);
  // The same of a request that admission judges as a sum, before there are pods.
  bool is_sum(const Request& request, WaitReason& out);
  // At least this much the `count` smallest of the pods that have no node ask for together.
  Resource need_of_pending(const Job& job, std::int32_t count) const;

 private:
  using Shapes = std::vector<std::pair<ShapeId, std::int32_t>>;  // and how many pods have it
  template <class Counts>
  Shapes shapes_of(const Job& job, Counts&& counts) const;
  Resource need_of(const Shapes& shapes, std::int32_t count) const;
  // How many pods of it the nodes take when they are empty, counted up to a bound that no group reaches.
  std::int64_t places(ShapeId shape);
  std::int64_t most(Dim dim);  // on one node
  bool is_pod(const Job& job, const Shapes& shapes, std::int32_t count, WaitReason& out);
  std::string why_no_node(const Request& request);

  const Model& model_;
  const PluginSet& plugins_;
  std::unordered_map<std::uint32_t, std::int64_t> places_;  // by shape
  std::unordered_map<Dim, std::int64_t> most_;
};

}  // namespace scheduler
