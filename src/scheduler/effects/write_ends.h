// The consequences of a write's end: the model and the ledger hear what became of it.
//
// Owns the writes that were lost, until they are said again. Loop thread only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "rt/env.h"
#include "scheduler/cache/intake.h"
#include "scheduler/effects/held_events.h"
#include "scheduler/effects/outbox.h"
#include "scheduler/effects/write.h"
#include "scheduler/ledger/ledger.h"

namespace scheduler {

class WriteEnds {
 public:
  struct Needs {
    rt::Env& env;
    Intake& intake;
    Ledger& ledger;
    HeldEvents& events;
    OnStage on_stage;                   // may be unset
    std::function<void(Work)> submit;   // a write that follows
    std::function<void()> on_change{};  // the model was corrected, or a write ended
  };
  explicit WriteEnds(Needs needs) : needs_(std::move(needs)) {}

  // `end` is done or failed; `answer` is the last one, if there was one.
  void ended(Work work, const Step& end, Reply answer);
  // A newer write took the place of this one.
  void superseded(const Work& work);
  // The pod that is about to be bound waits for something: it is said once.
  void waits(const PodBinding& write, const std::string& text);
  // Everything before the binding is done.
  void prepared(const PodBinding& write) const;
  void write_condition(PlannedPodCondition condition);

 private:
  void ended(PodBinding& write, const Step& end, Reply answer);
  void ended(PodEviction& write, const Step& end, Reply answer);
  void ended(PodStatusWrite& write, const Step& end, Reply answer);
  void ended(GateRemoval& write, const Step& end, Reply answer);
  void ended(GroupStatusWrite& write, const Step& end, Reply answer);
  void ended(QueueStatusWrite& write, const Step& end, Reply answer);
  void ended(ShardStatusWrite& write, const Step& end, Reply answer);
  void ended(ClaimRelease&, const Step&, Reply) {}
  void ended(PodLookup& write, const Step& end, Reply answer);
  void ended(GroupLookup& write, const Step& end, Reply answer);
  void ended(QueueLookup& write, const Step& end, Reply answer);
  void ended(Retelling& write, const Step& end, Reply answer);
  void ended(QueueCreation&, const Step&, Reply) {}  // tried until it exists
  void ended(NumatopologyDeletion& write, const Step& end, Reply answer);
  void record_lost(LostStatus lost);
  void report_stage(const PlannedBind& plan, std::string_view stage, base::Duration since) const;

  Needs needs_;
  std::map<std::string, LostStatus> lost_;  // by what was lost; each has a Retelling under way
};

}  // namespace scheduler
