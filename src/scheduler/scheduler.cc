// The scheduler as a component: watches the cluster, runs cycles, writes what they decide.
#include "scheduler/scheduler.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/format.h"
#include "base/log.h"
#include "client/watch/informer.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/cache/intake_fields.h"
#include "scheduler/cache/known_objects.h"
#include "scheduler/cache/read_resources.h"
#include "scheduler/dump/dump.h"
#include "scheduler/effects/differences.h"
#include "scheduler/effects/outbox.h"
#include "scheduler/framework/config_report.h"
#include "scheduler/intake_options.h"
#include "scheduler/metrics.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "scheduler/single_pods/single_pods.h"
#include "scheduler/sources/device_config_sources.h"
#include "scheduler/sources/outside_asker.h"
#include "scheduler/sources/usage_collector.h"

namespace scheduler {
namespace {

// Events that come together are decided on together; short enough that nobody notices.
constexpr base::Duration kGatherTime = base::milliseconds(2);
constexpr base::Duration kSettlePeriod = base::milliseconds(500);
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

std::string component_of(const Options& options) {
  const auto names = options.names();
  return names.size() == 1 ? names.front() : "volcano";
}

int gate_removals_max(const Options& options) {
  constexpr std::int64_t kPerWorker = 200;
  return static_cast<int>(std::clamp<std::int64_t>(options.gate_removal_worker_num, 0, 10'000) * kPerWorker);
}

}  // namespace

struct Scheduler::State : std::enable_shared_from_this<Scheduler::State> {
  State(rt::Env& e, client::Client& c, Options o)
      : env(e),
        client(c),
        options(of_live_scheduler(std::move(o))),
        intake(model, ledger, intake_options(options)),
        decider(model, ledger, registry_of(options), e.random().next(), component_of(options)) {
    if (options.single_pods) singles.emplace(model, intake);
    decider.sample(sampling_options(options));
    decider.wait_for_arrivals(options.arrival_grace);
  }

  void start() {
    stand_by();
    if (std::exchange(decides, true)) return;
    if (!singles) ensure_queues();
    if (why_not_synced().empty()) go();
  }

  void stand_by() {
    if (outbox) return;
    for (const std::string& warning : intake.options().gates.warnings()) base::log_warning("scheduler", warning);
    outbox = std::make_unique<Outbox>(
        client, env, intake, ledger,
        OutboxOptions{.component = component_of(options),
                      .gate_removals_max = gate_removals_max(options),
                      .dry_run = dry_run,
                      .on_stage = [this](const PlannedBind& bind, std::string_view stage,
                                         base::Duration took) { note_stage(bind, stage, took); },
                      .has_node = [this](std::string_view node) { return nodes != nullptr && nodes->identity(node); }},
        [this] { wake(); });
    asker = std::make_unique<OutsideAsker>(env, model.outside, [this] { wake(); });
    collector = std::make_unique<UsageCollector>(env, model.usage, [this] { wake(); });
    if (next_config) take_config();  // before the first object: plugins say which resources do not count
    for (const api::ResourceId& id : watched_resources(intake.options())) watch(id);
    watch_device_configs();
    if (options.resource_sync_timeout.ns > 0)
      env.loop().after(options.resource_sync_timeout, [weak = weak_from_this()] {
        if (auto self = weak.lock(); self && !self->why_not_synced().empty())
          base::log_warning("scheduler", "not every list has arrived yet; nothing is decided before");
      });
    for (auto& informer : informers) informer->start();
  }

  std::string why_not_synced() const {
    if (informers.empty()) return "the watches have not begun";
    for (const auto& one : informers)
      if (!one->synced()) return one->trouble().empty() ? "the first lists are not complete" : one->trouble();
    return "";
  }

  void ensure_queues() {
    outbox->ensure_queue("root", false);
    if (options.default_queue != "root") outbox->ensure_queue(options.default_queue, true);
  }

  void take_config() {
    decider.use(std::move(*next_config));
    next_config.reset();
    config_text = std::move(next_config_text);
    for (const std::string& warning : decider.warnings()) base::log_warning("scheduler", "configuration: " + warning);
    collector->configure(decider.config().metrics);
  }

  // The ConfigMaps that describe devices, where the configuration shares them out.
  void watch_device_configs() {
    for (const DeviceConfigSource& source : device_config_sources(next_config ? *next_config : decider.config())) {
      if (!device_configs_watched.insert(source).second) continue;
      watch(api::resources::kConfigMaps,
            {.ns = source.ns, .label_selector = source.label_selector, .field_selector = source.field_selector});
    }
  }

  void watch(const api::ResourceId& id, client::InformerOptions wanted = {}) {
    // The model keeps what decisions read; the objects themselves are not kept.
    wanted.keep = client::InformerOptions::Keep::kIdentities;
    // A dry run, and a scheduler of single pods, have to hear of pods that the model does not hold.
    if (!singles && !differences && id == api::resources::kPods) wanted.known = &known_pods;
    if (id == api::resources::kPodGroups) wanted.known = &known_groups;
    wanted.may_be_absent = may_be_absent(id);
    wanted.only = &fields_read(id);
    informers.push_back(std::make_unique<client::Informer>(client, env, id, std::move(wanted)));
    client::Informer& informer = *informers.back();
    if (id == api::resources::kNumatopologies) numatopologies = &informer;
    if (id == api::resources::kNodes) nodes = &informer;
    informer.on_change([this, id](const api::Json* before, const api::Json* after, bool) {
      if (metrics && before == nullptr && after != nullptr && id == api::resources::kPods) note_watched(*after);
      if (id == api::resources::kNodes && after == nullptr && before != nullptr) forget_cpus(api::name_of(*before));
      if (differences && id == api::resources::kPods) note_difference(before, after);
      const bool matters = after != nullptr ? intake.set(id, *after) : before != nullptr && intake.remove(id, *before);
      if (singles) return heard(id, matters);
      if (matters) wake();
    });
    informer.on_synced([this] {
      if (decides && !running && why_not_synced().empty()) go();
    });
  }

  void heard(const api::ResourceId& id, bool matters) {
    singles->heard(id, matters, env.now());
    if (singles->has_turns() || (matters && id == api::resources::kNodeShards)) return wake();
    wake_for_turns();
  }

  // Each time it is missing, once.
  void tell_of_missing_shard() {
    const bool is_missing = model.shards.mode != ShardingMode::kNone && model.shards.own() == nullptr;
    if (std::exchange(shard_is_missing, is_missing) || !is_missing) return;
    base::log_error("scheduler",
                    base::format("there is no NodeShard {}: the nodes that it held last, {} of them, are used",
                                 options.sharding_name, model.shards.usable().size()));
  }

  // A pause of some pod ends, though nothing else happens.
  void wake_for_turns() {
    const std::optional<base::Time> due = singles->next_due();
    if (!running || cycle_due || (turn_timer != 0 && due == turn_due)) return;
    if (turn_timer != 0) env.loop().cancel(std::exchange(turn_timer, 0));
    if (!due) return;
    turn_due = due;
    turn_timer = env.loop().after({std::max<std::int64_t>(due->ns - env.now().ns, 0)}, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      self->turn_timer = 0;
      self->wake();
    });
  }

  void forget_cpus(std::string_view node) {
    // Not when another node of that name has come in its place.
    if (numatopologies == nullptr || nodes->identity(node)) return;
    const auto known = numatopologies->identity(node);
    if (!known) return;
    outbox->delete_numatopology(std::string(node), known->uid);
  }

  void note_watched(const api::Json& pod) {
    const auto names = options.names();
    const bool ours = std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].as_string()) != names.end();
    if (!running || !ours || !pod["spec"]["nodeName"].as_string().empty()) return;
    const auto created = base::parse_rfc3339(pod["metadata"]["creationTimestamp"].as_string());
    if (created) metrics->note_stage("Watched", *created, env.now());
  }

  void note_difference(const api::Json* before, const api::Json* after) {
    if (after != nullptr)
      differences->saw(*after, env.now());
    else
      differences->gone(api::uid_of(*before), env.now());
  }

  // The model believes that what we decided is done. It is not, and what is decided next should not build on it for
  // ever.
  void take_back(const Difference& one) {
    const std::string key = one.ns + "/" + one.pod;
    if (one.kind == Difference::Kind::kOnlyHere) intake.pods.bind_failed(key, one.uid);
    if (one.kind == Difference::Kind::kEvictedHere) intake.pods.eviction_failed(key, one.uid);
  }

  // A dry run writes nothing, so no event follows: the next cycle comes with the next event, or with what a wait makes
  // of this.
  void end_dry_cycle(const Plan& plan) {
    differences->decided(plan, env.now());
    const std::vector<Difference> news = differences->take_news();
    if (metrics) metrics->note_differences(news);
    for (const Difference& one : news) take_back(one);
    for (const std::string& line : Differences::lines(news)) base::log_info("scheduler", "dry run: " + line);
    const std::optional<base::Time> due = differences->next_due();
    if (!due || period_timer != 0) return;
    period_timer = env.loop().after(std::max(options.schedule_period, *due - env.now()), [weak = weak_from_this()] {
      if (auto self = weak.lock()) {
        self->period_timer = 0;
        self->wake();
      }
    });
  }

  void note_stage(const PlannedBind& bind, std::string_view stage, base::Duration took) {
    if (!metrics) return;
    metrics->note_part(stage == "Bound" ? "Bind" : "PreBind", took);
    const TaskId task = model.find_task(bind.ns + "/" + bind.pod);
    if (task.is_set()) metrics->note_stage(stage, base::Time{model.task(task).created_ns}, env.now());
  }

  // Soon after a cycle, but not after each: it costs what there is of queues and groups, and must stay small beside
  // the cycles themselves.
  void settle_metrics_soon() {
    if (!metrics || settle_timer != 0) return;
    settle_timer = env.loop().after(std::max(kSettlePeriod, settle_took * 100), [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      self->settle_timer = 0;
      const base::Duration begin = self->env.uptime();
      self->metrics->settle(self->model, self->decider);
      self->settle_took = self->env.uptime() - begin;
    });
  }

  void go() {
    running = true;
    wake();
  }

  void wake() {
    if (!running || cycle_due) return;
    cycle_due = true;
    if (period_timer != 0) env.loop().cancel(std::exchange(period_timer, 0));
    // Single pods are in a hurry, and do not wait for others.
    env.loop().after(singles ? base::Duration{} : std::max(kGatherTime, last_cycle), [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->run_cycle();
    });
  }

  void run_cycle() {
    cycle_due = false;
    if (next_config) {
      take_config();
      const std::size_t known = informers.size();
      watch_device_configs();
      for (std::size_t i = known; i < informers.size(); ++i) informers[i]->start();
      if (singles) singles->facts_changed(env.now());
    }
    if (singles) decider.take_turns(singles->take_turns(kTurnsMax, env.now()));
    tell_of_missing_shard();
    const base::Duration begin = env.uptime();
    const auto stopwatch = [this] { return std::pair{env.uptime().seconds(), 0.0}; };
    if (witness) witness->before(model, ledger, decider.config());
    CycleReport report = decider.run_cycle(env.now(), witness != nullptr, metrics ? Stopwatch(stopwatch) : Stopwatch());
    if (witness) witness->after(model, decider.config(), report);
    const base::Duration took = env.uptime() - begin;
    last_cycle = std::min(took, options.schedule_period);
    if (metrics) metrics->note(report, took, env.now(), model, decider);
    settle_metrics_soon();
    ++cycles;
    wake_for_arrivals();
    const bool decided = !report.plan.binds.empty() || !report.plan.evictions.empty() || !report.plan.groups.empty();
    if (differences)
      end_dry_cycle(report.plan);
    else
      outbox->send(std::move(report.plan));
    asker->ask(model.outside.take_questions());
    if (singles) {
      singles->note(report.single_pods, env.now());
      return singles->has_turns() ? wake() : wake_for_turns();
    }
    if (decided && !differences) return wake();
    if (period_timer != 0) return;
    // Zones close and nodes fill up also while nothing waits.
    const bool moves_pods = decider.config().has_action("shuffle");
    if (decider.depends_on_time() && (moves_pods || !model.open_jobs().empty())) {
      period_timer = env.loop().after(options.schedule_period, [weak = weak_from_this()] {
        if (auto self = weak.lock()) {
          self->period_timer = 0;
          self->wake();
        }
      });
    }
  }

  // A job that lacked pods and still does learns it, though nothing else happens.
  void wake_for_arrivals() {
    if (arrival_timer != 0) env.loop().cancel(std::exchange(arrival_timer, 0));
    const std::optional<base::Time> due = decider.next_due();
    if (!due) return;
    // A clock that jumps does not put it off for ever.
    const std::int64_t most = std::max(options.arrival_grace, kPodsMissingMax).ns;
    const base::Duration wait{std::clamp<std::int64_t>(due->ns - env.now().ns, 0, most)};
    arrival_timer = env.loop().after(wait, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      self->arrival_timer = 0;
      self->wake();
    });
  }

  rt::Env& env;
  client::Client& client;
  Options options;
  Model model;
  Ledger ledger;
  Intake intake;
  const KnownPods known_pods{model};
  const KnownGroups known_groups{model};
  Decider decider;
  std::optional<SinglePods> singles;  // of the agent scheduler
  std::optional<Config> next_config;
  std::string next_config_text, config_text;  // as given; empty: the built-in one
  std::string refused;                        // why the last configuration was not taken
  std::unique_ptr<Outbox> outbox;
  std::unique_ptr<OutsideAsker> asker;
  std::unique_ptr<UsageCollector> collector;
  std::optional<CycleMetrics> metrics;
  std::optional<Differences> differences;  // of a dry run
  std::vector<std::unique_ptr<client::Informer>> informers;
  bool decides = false;  // or stands by
  bool running = false;
  bool cycle_due = false;
  bool dry_run = false;
  bool shard_is_missing = false;
  CycleWitness* witness = nullptr;
  std::set<DeviceConfigSource> device_configs_watched;
  client::Informer* nodes = nullptr;
  client::Informer* numatopologies = nullptr;  // where they are watched
  std::uint64_t cycles = 0;
  base::Duration last_cycle{};
  rt::Loop::TimerId period_timer = 0;
  rt::Loop::TimerId arrival_timer = 0;
  rt::Loop::TimerId settle_timer = 0;
  rt::Loop::TimerId turn_timer = 0;
  std::optional<base::Time> turn_due;
  base::Duration settle_took{};
};

std::vector<api::ResourceId> watched_resources(const Options& options) {
  return watched_resources(intake_options(options));
}

Scheduler::Scheduler(rt::Env& env, client::Client& client, Options options)
    : state_(std::make_shared<State>(env, client, std::move(options))) {}

Scheduler::~Scheduler() = default;

base::Status Scheduler::configure(std::string_view text) {
  auto config = parse_config(text, registry_of(state_->options));
  state_->refused = config.ok() ? "" : config.error().message;
  if (!config.ok()) return config.take_error();
  state_->next_config = *std::move(config);
  state_->next_config_text = text;
  state_->wake();
  return {};
}

api::Json Scheduler::configuration_report() const {
  return report(state_->decider.config(), state_->decider.warnings(), state_->refused);
}

api::Json Scheduler::waiting_report() const {
  if (!state_->singles) {
    api::Json groups = waiting_json(state_->decider.waiting());
    for (const auto& [pod, text] : state_->ledger.binding_waits) {
      const TaskId task = state_->model.find_task(pod);
      if (task.is_set() && state_->model.task(task).job.is_set())
        groups.set(state_->model.job(state_->model.task(task).job).key.view(),
                   api::Json::object({{"kind", "Volume"}, {"message", base::format("pod {}: {}", pod, text)}}));
    }
    return groups;
  }
  api::Json out = api::Json::object();
  for (const std::string& key : state_->singles->unschedulable_keys()) {
    const TaskId task = state_->model.find_task(key);
    if (task.is_set())
      out.set(key,
              api::Json::object({{"kind", "Unschedulable"}, {"message", state_->ledger.pod(task).message.view()}}));
  }
  return out.sorted();
}
std::vector<std::string> Scheduler::configuration_warnings() const { return state_->decider.warnings(); }

std::string Scheduler::dump(std::vector<std::string> arguments) const {
  return dump_text(state_->model, state_->ledger,
                   {.scheduler_name = state_->options.names().front(),
                    .configuration = state_->config_text,
                    .arguments = std::move(arguments),
                    .now = state_->env.now()});
}

std::vector<std::string> Scheduler::dump_for_people() const { return dump_lines(state_->model); }
void Scheduler::stand_by() { state_->stand_by(); }
void Scheduler::start() { state_->start(); }
std::string Scheduler::why_not_synced() const { return state_->why_not_synced(); }
api::Json Scheduler::differences_report() const {
  return state_->differences ? state_->differences->report() : api::Json();
}
bool Scheduler::is_ready() const { return state_->cycles > 0; }
std::uint64_t Scheduler::cycles() const { return state_->cycles; }
std::size_t Scheduler::pods() const { return state_->model.task_count(); }
void Scheduler::count_into(base::Metrics& metrics) {
  state_->metrics.emplace(metrics, !state_->options.single_pods);
  state_->decider.time_searches([&env = state_->env] { return env.uptime().seconds(); });
}
void Scheduler::set_dry_run() {
  state_->dry_run = true;
  state_->differences.emplace(state_->options.names());
  state_->model.shards.claims_first = false;  // nobody hears of a claim
}
void Scheduler::set_witness(CycleWitness& witness) {
  state_->witness = &witness;
  state_->decider.prove_rollbacks();
}

}  // namespace scheduler
