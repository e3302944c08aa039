// The effects of a cycle: writes, questions, and the comparison of a dry run.
#include "scheduler/cycle_effects.h"

#include <algorithm>

#include "base/log.h"

namespace scheduler {
namespace {

int gate_removals_max(const Options& options) {
  constexpr std::int64_t kPerWorker = 200;
  return static_cast<int>(std::clamp<std::int64_t>(options.gate_removal_worker_num, 0, 10'000) * kPerWorker);
}

}  // namespace

void CycleEffects::set_dry_run() {
  differences_.emplace(engine_.options().names());
  engine_.model().shards.claims_first = false;  // a claim would reach nobody
}

void CycleEffects::start() {
  outbox_ = std::make_unique<Outbox>(client_, env_, engine_.intake(), engine_.ledger(),
                                     OutboxOptions{.component = component_of(engine_.options()),
                                                   .gate_removals_max = gate_removals_max(engine_.options()),
                                                   .dry_run = is_dry_run(),
                                                   .on_stage = callbacks_.on_stage,
                                                   .has_node = callbacks_.has_node},
                                     callbacks_.on_change);
  asker_ = std::make_unique<OutsideAsker>(env_, engine_.model().outside, callbacks_.on_change);
  collector_ = std::make_unique<UsageCollector>(env_, engine_.model().usage, callbacks_.on_change);
}

void CycleEffects::ensure_queues() {
  const std::string& by_default = engine_.options().default_queue;
  outbox_->ensure_queue("root", false);
  if (by_default != "root") outbox_->ensure_queue(by_default, true);
}

void CycleEffects::configure() { collector_->configure(engine_.decider().config().metrics); }

std::vector<Difference> CycleEffects::compare(const Plan& plan) {
  differences_->decided(plan, env_.now());
  std::vector<Difference> news = differences_->take_news();
  for (const Difference& one : news) engine_.take_back(one);
  for (const std::string& line : Differences::lines(news)) base::log_info("scheduler", "dry run: " + line);
  return news;
}

}  // namespace scheduler
