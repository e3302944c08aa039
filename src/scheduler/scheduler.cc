// The scheduler as a component: watches the cluster, runs cycles, writes what they decide.
#include "scheduler/scheduler.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "scheduler/cache/read_resources.h"
#include "scheduler/cycle_effects.h"
#include "scheduler/cycle_timer.h"
#include "scheduler/dump/dump.h"
#include "scheduler/engine.h"
#include "scheduler/intake_options.h"
#include "scheduler/metrics.h"
#include "scheduler/object_watches.h"

namespace scheduler {
namespace {

constexpr base::Duration kSettlePeriod = base::milliseconds(500);

}  // namespace

// The parts, and which of them learns what another one has found.
struct Scheduler::State {
  State(rt::Env& e, client::Client& c, Options options)
      : env(e),
        engine(std::move(options), e.random().next()),
        effects(e, c, engine, effect_callbacks()),
        timer(e, guard, engine.single_pods() == nullptr, [this] { run_cycle(); }),
        watches(
            e, c, engine.model(),
            [this](const api::ResourceId& id, const api::Json* before, const api::Json* after) {
              take_in(id, before, after);
            },
            [this] { start_if_synced(); }) {}

  EffectCallbacks effect_callbacks() {
    return {.on_change = [this] { timer.request(); },
            .on_stage = [this](const PlannedBind& bind, std::string_view stage,
                               base::Duration took) { record_stage(bind, stage, took); },
            .has_node = [this](std::string_view node) { return watches.has_node(node); }};
  }

  void start() {
    stand_by();
    if (std::exchange(decides, true)) return;
    if (engine.single_pods() == nullptr) effects.ensure_queues();
    start_if_synced();
  }

  void stand_by() {
    if (effects.has_started()) return;
    for (const std::string& warning : engine.intake().options().gates.warnings())
      base::log_warning("scheduler", warning);
    effects.start();
    if (engine.has_new_configuration()) take_configuration();  // before the first object: plugins name what to ignore
    // A dry run, and a scheduler of single pods, have to know of pods that the model does not hold.
    const bool of_model = engine.single_pods() == nullptr && !effects.is_dry_run();
    watches.add(watched_resources(engine.intake().options()),
                of_model ? PodIdentities::kOfModel : PodIdentities::kOfWatch);
    watches.add_device_configs(engine.newest_configuration());
    const base::Duration patience = engine.options().resource_sync_timeout;
    if (patience.ns > 0)
      env.loop().after(patience, guard.while_alive([this] {
        if (!watches.why_not_synced().empty())
          base::log_warning("scheduler", "not every list has arrived yet; nothing is decided before");
      }));
    watches.start();
  }

  void start_if_synced() {
    if (decides && !timer.is_running() && watches.why_not_synced().empty()) timer.start();
  }

  void take_configuration() {
    engine.take_configuration();
    effects.configure();
  }

  void take_in(const api::ResourceId& id, const api::Json* before, const api::Json* after) {
    if (metrics && before == nullptr && after != nullptr && id == api::resources::kPods) record_watched(*after);
    if (id == api::resources::kNodes && after == nullptr && before != nullptr)
      delete_numatopology(api::name_of(*before));
    if (id == api::resources::kPods) compare_pod(before, after);
    const bool matters =
        after != nullptr ? engine.intake().set(id, *after) : before != nullptr && engine.intake().remove(id, *before);
    if (engine.single_pods() != nullptr) return pass_to_single_pods(id, matters);
    if (matters) timer.request();
  }

  void pass_to_single_pods(const api::ResourceId& id, bool matters) {
    SinglePods& singles = *engine.single_pods();
    singles.object_changed(id, matters, env.now());
    if (singles.has_turns() || (matters && id == api::resources::kNodeShards)) return timer.request();
    timer.set_turn(singles.next_due());
  }

  // Not when another node of that name has come in its place.
  void delete_numatopology(std::string_view node) {
    if (watches.has_node(node)) return;
    if (const auto uid = watches.numatopology_uid(node)) effects.delete_numatopology(std::string(node), *uid);
  }

  void compare_pod(const api::Json* before, const api::Json* after) {
    Differences* differences = effects.differences();
    if (differences == nullptr) return;
    if (after != nullptr)
      differences->saw(*after, env.now());
    else
      differences->gone(api::uid_of(*before), env.now());
  }

  void record_watched(const api::Json& pod) {
    const auto names = engine.options().names();
    const bool ours = std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].as_string()) != names.end();
    if (!timer.is_running() || !ours || !pod["spec"]["nodeName"].as_string().empty()) return;
    const auto created = base::parse_rfc3339(pod["metadata"]["creationTimestamp"].as_string());
    if (created) metrics->record_stage("Watched", *created, env.now());
  }

  void record_stage(const PlannedBind& bind, std::string_view stage, base::Duration took) {
    if (!metrics) return;
    metrics->record_part(stage == "Bound" ? "Bind" : "PreBind", took);
    const TaskId task = engine.model().find_task(bind.ns + "/" + bind.pod);
    if (task.is_set()) metrics->record_stage(stage, base::Time{engine.model().task(task).created_ns}, env.now());
  }

  // Soon after a cycle, but not after each: it costs what there is of queues and groups, and must stay small beside
  // the cycles themselves.
  void settle_metrics_soon() {
    if (!metrics || settle_timer != 0) return;
    settle_timer = env.loop().after(std::max(kSettlePeriod, settle_took * 100), guard.while_alive([this] {
      settle_timer = 0;
      const base::Duration begin = env.uptime();
      metrics->settle(engine.model(), engine.decider());
      settle_took = env.uptime() - begin;
    }));
  }

  void take_new_configuration() {
    if (!engine.has_new_configuration()) return;
    take_configuration();
    watches.add_device_configs(engine.newest_configuration());
    watches.start();
    if (engine.single_pods() != nullptr) engine.single_pods()->facts_changed(env.now());
  }

  void run_cycle() {
    take_new_configuration();
    engine.begin_cycle(env.now());
    const base::Duration begin = env.uptime();
    const auto stopwatch = [this] { return std::pair{env.uptime().seconds(), 0.0}; };
    CycleReport report = engine.run_cycle(env.now(), metrics ? Stopwatch(stopwatch) : Stopwatch());
    const base::Duration took = env.uptime() - begin;
    timer.gather_for(std::min(took, engine.options().schedule_period));
    if (metrics) metrics->record(report, took, env.now(), engine.model(), engine.decider());
    settle_metrics_soon();
    ++cycles;
    timer.set_arrival(engine.decider().next_due(), std::max(engine.options().arrival_grace, kPodsMissingMax));
    const bool decided = !report.plan.binds.empty() || !report.plan.evictions.empty() || !report.plan.groups.empty();
    if (effects.is_dry_run())
      end_dry_cycle(report.plan);
    else
      effects.send(std::move(report.plan));
    effects.ask_outside();
    if (SinglePods* singles = engine.single_pods()) {
      singles->record_ends(report.single_pods, env.now());
      return singles->has_turns() ? timer.request() : timer.set_turn(singles->next_due());
    }
    if (decided && !effects.is_dry_run()) return timer.request();
    if (engine.decides_again_with_time()) timer.request_after(engine.options().schedule_period);
  }

  // A dry run writes nothing, so no event follows: the next cycle comes with the next event, or with what a wait makes
  // of this.
  void end_dry_cycle(const Plan& plan) {
    const std::vector<Difference> news = effects.compare(plan);
    if (metrics) metrics->record_differences(news);
    if (const std::optional<base::Time> due = effects.differences()->next_due())
      timer.request_after(std::max(engine.options().schedule_period, *due - env.now()));
  }

  rt::Env& env;
  rt::Guard guard;
  Engine engine;
  CycleEffects effects;
  CycleTimer timer;
  std::optional<CycleMetrics> metrics;
  ObjectWatches watches;
  bool decides = false;  // or stands by
  std::uint64_t cycles = 0;
  rt::Loop::TimerId settle_timer = 0;
  base::Duration settle_took{};
};

std::vector<api::ResourceId> watched_resources(const Options& options) {
  return watched_resources(intake_options(options));
}

Scheduler::Scheduler(rt::Env& env, client::Client& client, Options options)
    : state_(std::make_shared<State>(env, client, std::move(options))) {
  state_->guard.belong_to(state_);
}

Scheduler::~Scheduler() = default;

base::Status Scheduler::configure(std::string_view text) {
  if (base::Status refused = state_->engine.configure(text); !refused.ok()) return refused;
  state_->timer.request();
  return {};
}

api::Json Scheduler::configuration_report() const { return state_->engine.configuration_report(); }
api::Json Scheduler::waiting_report() const { return state_->engine.waiting_report(); }
std::vector<std::string> Scheduler::configuration_warnings() const { return state_->engine.decider().warnings(); }
std::string Scheduler::dump(std::vector<std::string> arguments) const {
  return state_->engine.dump(std::move(arguments), state_->env.now());
}
std::vector<std::string> Scheduler::dump_for_people() const { return dump_lines(state_->engine.model()); }
void Scheduler::stand_by() { state_->stand_by(); }
void Scheduler::start() { state_->start(); }
std::string Scheduler::why_not_synced() const { return state_->watches.why_not_synced(); }
api::Json Scheduler::differences_report() const {
  const Differences* differences = state_->effects.differences();
  return differences != nullptr ? differences->report() : api::Json();
}
bool Scheduler::is_ready() const { return state_->cycles > 0; }
std::uint64_t Scheduler::cycles() const { return state_->cycles; }
std::size_t Scheduler::pods() const { return state_->engine.model().task_count(); }
void Scheduler::count_into(base::Metrics& metrics) {
  state_->metrics.emplace(metrics, state_->engine.single_pods() == nullptr);
  state_->engine.decider().time_searches([&env = state_->env] { return env.uptime().seconds(); });
}
void Scheduler::set_dry_run() { state_->effects.set_dry_run(); }
void Scheduler::set_witness(CycleWitness& witness) { state_->engine.set_witness(witness); }

}  // namespace scheduler
