// Are the evictions that an action planned for a group made?
//
// A plan is all that was placed and evicted since a mark: the group's pods with their places, and the victims. Before
// it is made, victims that the whole of it does not need are spared, all places are proven once more, and plugins are
// asked whether a victim would have a right to its room afterwards, which would start the same round again.
#pragma once

#include <string_view>
#include <vector>

#include "scheduler/actions/eviction_cost.h"
#include "scheduler/actions/node_victims.h"

namespace scheduler {

class EvictionPlans {
 public:
  // All of them outlive it; `action` is the one that plans.
  EvictionPlans(Session& session, const EvictionCosts& costs, SearchBudget& budget, std::string_view action)
      : session_(session), model_(session.model()), costs_(costs), budget_(budget), action_(action) {}

  enum class Spare : std::uint8_t { kNobody, kWhomItCan };
  // Commits what was done for the job since the mark, or takes it back and says why. False: it was taken back. A plan
  // without an eviction is left to allocate where that is still to come.
  bool settle(JobId job, Journal::Mark mark, Spare spares = Spare::kWhomItCan);
  // The last plan was made of fewer evictions than were planned.
  bool has_spared() const { return has_spared_; }

 private:
  using Saved = Journal::Saved;
  struct Parts {
    std::vector<Saved> evictions;
    std::vector<Saved> places;
  };

  Parts parts_since(Journal::Mark mark) const;
  // Spares victims without whom the whole plan works as well; what is left stays in the journal.
  void spare(JobId job, Journal::Mark mark);
  bool can_move(const std::vector<Saved>& places) const;
  bool works_without(JobId job, Journal::Mark mark, const Parts& parts, const std::vector<TaskId>& spared);
  bool place_again(const Saved& place);
  bool is_proven(JobId job, Journal::Mark mark);
  bool takes_back(const Saved& victim, const std::vector<Saved>& places) const;
  bool allocate_follows() const;
  bool may_take(const Task& victim, const std::vector<TaskId>& there) const;

  Session& session_;
  Model& model_;
  const EvictionCosts& costs_;
  SearchBudget& budget_;
  const std::string_view action_;
  bool has_spared_ = false;
};

}  // namespace scheduler
