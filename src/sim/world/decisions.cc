// The decisions of a world's schedulers, and a check that every cycle keeps what must hold.
#include "sim/world/decisions.h"

#include "base/format.h"

namespace sim {

void Decisions::before(const scheduler::Model& model, const scheduler::Ledger& ledger,
                       const scheduler::Config& config) {
  for (const OnBeliefs& handler : belief_handlers_) handler(model, ledger);
  for (const std::string& one : scheduler::wrong_sums(model)) chronicle_.violation("sums-add-up", one);
  before_ = scheduler::look_before(model, config);
}

void Decisions::after(const scheduler::Model& model, const scheduler::Config& config,
                      const scheduler::CycleReport& report) {
  for (const std::string& one : scheduler::broken_invariants(model, config, before_, report))
    chronicle_.violation("cycles-keep-invariants", one);
  ++cycles_;
  binds_ += report.plan.binds.size();
  for (const scheduler::PlannedEviction& one : report.plan.evictions) ++evictions_[one.action];
  for (const OnPlan& handler : handlers_) handler(report.plan);
}

void Decisions::record_counts() const {
  chronicle_.record(base::format("{} cycles, {} binds", cycles_, binds_));
  for (const auto& [action, count] : evictions_) chronicle_.record(base::format("{} evicted by {}", count, action));
}

}  // namespace sim
