// The cycle: from the model and a configuration to a plan.
#include "scheduler/session/decider.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "scheduler/framework/action.h"
#include "scheduler/session/session_topology.h"

namespace scheduler {
namespace {

std::unique_ptr<NodeSearch> make_node_search(Model& model, const PluginSet& plugins, NodeSampler& sampler) {
  return std::make_unique<NodeSearch>(model, plugins, sampler);
}

}  // namespace

Decider::Decider(Model& model, Ledger& ledger, Registry registry, std::uint64_t seed, std::string scheduler_name)
    : model_(model),
      ledger_(ledger),
      registry_(registry),
      make_search_(make_node_search),
      random_(seed),
      scheduler_name_(std::move(scheduler_name)) {
  CHECK(configure(registry.default_config).ok());
}

Decider::~Decider() = default;

base::Status Decider::configure(std::string_view text) {
  TRY(Config config, parse_config(text, registry_));
  ledger_.eviction_rounds.clear();  // others may be let go now
  use(std::move(config));
  return {};
}

void Decider::end_search() {
  if (search_) looked_at_before_ += search_->nodes_looked_at();
  search_.reset();
}

void Decider::begin_search() {
  search_ = make_search_(model_, *plugins_, sampler_);
  search_->time_with(search_clock_);
}

void Decider::use(Config config) {
  end_search();
  config_ = std::move(config);
  config_.registry = registry_;
  plugins_ = std::make_unique<PluginSet>(config_, model_);
  begin_search();
  actions_.clear();
  action_warnings_.clear();
  for (const std::string& name : config_.actions) {
    const ActionFactory* factory = config_.find_action(name);
    if (factory == nullptr) continue;
    actions_.emplace_back(name, factory->make());
    const Arguments arguments(config_.arguments_of(name), "action " + name);
    actions_.back().second->configure(arguments);
    for (std::string& warning : arguments.warnings()) action_warnings_.push_back(std::move(warning));
  }
  fresh_plugins_ = true;
}

void Decider::time_searches(std::function<double()> clock) {
  search_clock_ = std::move(clock);
  search_->time_with(search_clock_);
}

std::vector<std::string> Decider::warnings() const {
  std::vector<std::string> out = config_.warnings;
  out.insert(out.end(), plugins_->warnings().begin(), plugins_->warnings().end());
  out.insert(out.end(), action_warnings_.begin(), action_warnings_.end());
  return out;
}

bool Decider::depends_on_time() const { return plugins_->depends_on_time(); }

std::map<std::string, WaitReason> Decider::waiting() const {
  std::map<std::string, WaitReason> out;
  for_each_reason([&](const Job& job, const WaitReason& reason) { out.emplace(job.key.str(), reason); });
  model_.for_each_job([&](const Job& job) {
    if (!job.waits() || (job.queue.is_set() && model_.queue(job.queue).in_use)) return;
    WaitReason missing;
    missing.kind = WaitKind::kQueueNotFound;
    missing.queue = job.queue_name.str();
    out.insert_or_assign(job.key.str(), std::move(missing));
  });
  return out;
}

std::optional<base::Time> Decider::next_due() const {
  std::optional<base::Time> out = lapsed_reserves_.next_due();
  for (const auto& [job, due] : ledger_.arriving) {
    if (!out || due < *out) out = due;
  }
  return out;
}

std::uint64_t Decider::nodes_looked_at() const { return looked_at_before_ + search_->nodes_looked_at(); }

CycleReport Decider::run_cycle(base::Time now, bool keep_tasks, const Stopwatch& stopwatch) {
  if (plugins_->refresh()) {
    end_search();
    begin_search();
    fresh_plugins_ = true;
  }
  CycleReport report;
  std::vector<JobId> changed = std::move(carried_);
  const std::vector<JobId> fresh = model_.take_changed_jobs();
  changed.insert(changed.end(), fresh.begin(), fresh.end());
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  model_.trim_touched();
  model_.outside.open(now);
  search_->open_cycle();
  Session session({.model = model_,
                   .ledger = ledger_,
                   .config = config_,
                   .plugins = *plugins_,
                   .search = *search_,
                   .queue_devices = queue_devices_,
                   .lapsed_reserves = lapsed_reserves_,
                   .now = now,
                   .uid = random_.uuid(),
                   .cycle = ++cycle_,
                   .changed_jobs = changed,
                   .keeps_reasons = keeps_reasons_,
                   .all_jobs_changed = fresh_plugins_,
                   .queues_changed = std::exchange(queue_changes_, model_.queue_changes) != model_.queue_changes,
                   .nodes_changed = std::exchange(node_changes_, model_.nodes.static_generation()) !=
                                    model_.nodes.static_generation(),
                   .scheduler_name = scheduler_name_,
                   .arrival_grace = arrival_grace_,
                   .proves_rollbacks = proves_rollbacks_,
                   .single_pods = std::exchange(single_pods_, {})});
  if (keep_tasks) session.report().keeps_tasks = true;
  fresh_plugins_ = false;
  const double opened = stopwatch ? stopwatch().first : 0;
  open_topology(session);
  plugins_->open(session, stopwatch, report.plugins);
  lapsed_reserves_.settle(session.input(), session.reasons().impossible());
  if (stopwatch) report.open_s = stopwatch().first - opened;
  for (auto& [name, action] : actions_) {
    const auto before = stopwatch ? stopwatch() : std::pair{0.0, 0.0};
    action->run(session);
    if (!stopwatch) continue;
    const auto after = stopwatch();
    report.actions.push_back({name, after.first - before.first, after.second - before.second});
  }
  report.plan = session.close(stopwatch);
  report.plugins.insert(report.plugins.end(), session.report().closing_times.begin(),
                        session.report().closing_times.end());
  report.preemption = session.evictions().preemption;
  report.nodes_left_out = session.evictions().nodes_left_out;
  report.searches = search_->take_times();
  report.single_pods = session.report().single_pods;
  report.bad_rollbacks = session.journal().take_bad_rollbacks();
  std::ranges::move(session.evictions().bad_plans, std::back_inserter(report.bad_rollbacks));
  for (const JobId id : changed) ledger_.reasons.erase(id);
  for (auto& [id, reason] : session.reasons().take()) ledger_.reasons.insert_or_assign(id, std::move(reason));
  report.pipelined = session.report().pipelined;
  report.tasks = session.report().tasks;
  carried_ = model_.take_changed_jobs();
  return report;
}

}  // namespace scheduler
