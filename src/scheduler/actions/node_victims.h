// Which pods of one node make room for a task, at the least cost?
//
// A choice is first made by amounts alone, which is quick; proving it asks everything that stands between the task and
// the node, with the victims gone. A proven choice is minimal: without any one of its evictions the task would not fit.
#pragma once

#include <optional>
#include <vector>

#include "scheduler/actions/eviction_cost.h"

namespace scheduler {

struct VictimChoice {
  std::vector<TaskId> victims;
  EvictionCost cost;
};

// How much searching is left in this run of an action. A step is one pod that is looked at.
class SearchBudget {
 public:
  static constexpr std::int64_t kStepsDefault = 2'000'000;
  explicit SearchBudget(std::int64_t steps) : left_(steps) {}
  // False: nothing is left, and the search ends with what it has.
  bool spend(std::int64_t steps) {
    left_ -= steps;
    return left_ >= 0;
  }
  bool is_spent() const { return left_ < 0; }

 private:
  std::int64_t left_;
};

class NodeVictims {
 public:
  // All of them outlive it. `action` is the word that evictions are told with.
  NodeVictims(Session& session, const EvictionCosts& costs, SearchBudget& budget, std::string_view action)
      : session_(session), model_(session.model()), costs_(costs), budget_(budget), action_(action) {}

  // The cheapest of those sets of `may_go` whose amounts are enough; `may_go` is in the order in which victims go,
  // which decides between equals, and has one pod for each unit, as have the victims. Empty where the node has room.
  // Nothing: all of them are not enough.
  std::optional<VictimChoice> choose(const Task& task, NodeId node, const std::vector<TaskId>& may_go) const;
  // A choice that passes every filter and limit, with its evictions left in the journal, and all that go as its
  // victims. The journal stays as it is where there is none. `chosen` is what choose() said.
  std::optional<VictimChoice> prove(const Task& task, NodeId node, const std::vector<TaskId>& may_go,
                                    VictimChoice chosen);
  // The last proof failed by the limits of queues, which other evictions may relax, and by nothing else.
  bool was_limited() const { return was_limited_; }

 private:
  using Mark = Journal::Mark;
  // Whether the task could go there by all that is asked of a placement, as the session is now.
  bool fits(const Task& task, NodeId node) const { return fits_node(task, node) && is_allocatable(task); }
  bool fits_node(const Task& task, NodeId node) const;
  bool is_allocatable(const Task& task) const;
  void evict(const std::vector<TaskId>& victims, JobId beneficiary);
  bool fits_without(const Task& task, NodeId node, const std::vector<TaskId>& victims, Mark mark);
  std::optional<VictimChoice> evict_until_it_fits(const Task& task, NodeId node, std::vector<TaskId> may_go, Mark mark);

  Session& session_;
  Model& model_;
  const EvictionCosts& costs_;
  SearchBudget& budget_;
  const std::string_view action_;
  bool was_limited_ = false;
};

}  // namespace scheduler
