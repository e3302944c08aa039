// The decisions of a world's schedulers, and a check that every cycle keeps what must hold.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "scheduler/scheduler.h"
#include "scheduler/session/decider.h"
#include "scheduler/session/invariants.h"
#include "sim/world/chronicle.h"

namespace sim {

// Looks at the model of the scheduler that runs, so it holds at every instant, whatever the scheduler has not heard
// yet.
class Decisions final : public scheduler::CycleWitness {
 public:
  using OnPlan = std::function<void(const scheduler::Plan& plan)>;
  using OnBeliefs = std::function<void(const scheduler::Model& model, const scheduler::Ledger& ledger)>;

  explicit Decisions(Chronicle& chronicle) : chronicle_(chronicle) {}

  // Told before the scheduler writes any of it.
  void on_plan(OnPlan handler) { handlers_.push_back(std::move(handler)); }
  // The beliefs of a scheduler when a cycle begins.
  void on_beliefs(OnBeliefs handler) { belief_handlers_.push_back(std::move(handler)); }

  void before(const scheduler::Model& model, const scheduler::Ledger& ledger, const scheduler::Config& config) override;
  void after(const scheduler::Model& model, const scheduler::Config& config,
             const scheduler::CycleReport& report) override;

  // So that a world that decides nothing is seen.
  void record_counts() const;

 private:
  Chronicle& chronicle_;
  scheduler::Before before_;
  std::vector<OnPlan> handlers_;
  std::vector<OnBeliefs> belief_handlers_;
  std::uint64_t cycles_ = 0, binds_ = 0;
  std::map<std::string, std::uint64_t> evictions_;  // by action
};

}  // namespace sim
