// The inputs of a cycle, and the cycle itself.
#include "scheduler/engine.h"

#include <utility>

#include "base/format.h"
#include "base/log.h"
#include "scheduler/actions/all.h"
#include "scheduler/dump/dump.h"
#include "scheduler/framework/config_report.h"
#include "scheduler/intake_options.h"
#include "scheduler/plugins/all.h"

namespace scheduler {
namespace {

// The limit of single pods in one cycle: what is decided goes out before the next ones are.
constexpr std::size_t kTurnsMax = 64;

// A scheduler that runs has others beside it.
Options of_live_scheduler(Options options) {
  options.claims_nodes = true;
  return options;
}

Registry registry_of(const Options& options) {
  if (options.single_pods) return {single_pod_plugins(), single_pod_actions(), single_pods_config_text()};
  return {all_plugins(), all_actions()};
}

}  // namespace

std::string component_of(const Options& options) {
  const auto names = options.names();
  return names.size() == 1 ? names.front() : "volcano";
}

Engine::Engine(Options options, std::uint64_t seed)
    : options_(of_live_scheduler(std::move(options))),
      intake_(model_, ledger_, intake_options(options_)),
      decider_(model_, ledger_, registry_of(options_), seed, component_of(options_)) {
  if (options_.single_pods) single_pods_.emplace(model_, intake_);
  decider_.sample(sampling_options(options_));
  decider_.wait_for_arrivals(options_.arrival_grace);
}

base::Status Engine::configure(std::string_view text) {
  auto config = parse_config(text, registry_of(options_));
  refused_ = config.ok() ? "" : config.error().message;
  if (!config.ok()) return config.take_error();
  next_config_ = *std::move(config);
  next_config_text_ = text;
  return {};
}

void Engine::take_configuration() {
  decider_.use(std::move(*next_config_));
  next_config_.reset();
  config_text_ = std::move(next_config_text_);
  for (const std::string& warning : decider_.warnings()) base::log_warning("scheduler", "configuration: " + warning);
}

api::Json Engine::configuration_report() const { return report(decider_.config(), decider_.warnings(), refused_); }

void Engine::begin_cycle(base::Time now) {
  if (single_pods_) decider_.take_turns(single_pods_->take_turns(kTurnsMax, now));
  report_missing_shard();
}

CycleReport Engine::run_cycle(base::Time now, const Stopwatch& stopwatch) {
  if (witness_ == nullptr) return decider_.run_cycle(now, false, stopwatch);
  witness_->before(model_, ledger_, decider_.config());
  CycleReport report = decider_.run_cycle(now, true, stopwatch);
  witness_->after(model_, decider_.config(), report);
  return report;
}

void Engine::set_witness(CycleWitness& witness) {
  witness_ = &witness;
  decider_.prove_rollbacks();
}

// Each time it is missing, once.
void Engine::report_missing_shard() {
  const bool is_missing = model_.shards.mode != ShardingMode::kNone && model_.shards.own() == nullptr;
  if (std::exchange(shard_is_missing_, is_missing) || !is_missing) return;
  base::log_error("scheduler",
                  base::format("there is no NodeShard {}: the nodes that it held last, {} of them, are used",
                               options_.sharding_name, model_.shards.usable().size()));
}

void Engine::take_back(const Difference& one) {
  const std::string key = one.ns + "/" + one.pod;
  if (one.kind == Difference::Kind::kOnlyHere) intake_.pods.bind_failed(key, one.uid);
  if (one.kind == Difference::Kind::kEvictedHere) intake_.pods.eviction_failed(key, one.uid);
}

// Zones close and nodes fill up also while nothing waits.
bool Engine::decides_again_with_time() {
  return decider_.depends_on_time() && (decider_.config().has_action("shuffle") || !model_.open_jobs().empty());
}

api::Json Engine::waiting_report() const { return single_pods_ ? waiting_single_pods() : waiting_groups(); }

api::Json Engine::waiting_groups() const {
  api::Json groups = waiting_json(decider_.waiting());
  for (const auto& [pod, text] : ledger_.binding_waits) {
    const TaskId task = model_.find_task(pod);
    if (task.is_set() && model_.task(task).job.is_set())
      groups.set(model_.job(model_.task(task).job).key.view(),
                 api::Json::object({{"kind", "Volume"}, {"message", base::format("pod {}: {}", pod, text)}}));
  }
  return groups;
}

api::Json Engine::waiting_single_pods() const {
  api::Json out = api::Json::object();
  for (const std::string& key : single_pods_->unschedulable_keys()) {
    const TaskId task = model_.find_task(key);
    if (task.is_set())
      out.set(key, api::Json::object({{"kind", "Unschedulable"}, {"message", ledger_.pod(task).message.view()}}));
  }
  return out.sorted();
}

std::string Engine::dump(std::vector<std::string> arguments, base::Time now) const {
  return dump_text(model_, ledger_,
                   {.scheduler_name = options_.names().front(),
                    .configuration = config_text_,
                    .arguments = std::move(arguments),
                    .now = now});
}

}  // namespace scheduler
