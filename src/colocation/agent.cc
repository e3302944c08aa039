// Start, the clock of the rounds, the end, and what the agent tells of itself.
#include "colocation/agent.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "colocation/agent_state.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr base::Duration kEndWait = base::seconds(5);
// From a stall of the machine until it is known which pods stand still.
constexpr base::Duration kStallSpan = base::milliseconds(400);
constexpr base::Duration kLockPause = base::seconds(1);

Json amounts_json(const NodeAmounts& amounts) {
  return Json::object({{"cpuMilli", amounts.cpu_milli}, {"memoryBytes", amounts.memory_bytes}});
}

}  // namespace

Agent::State::State(rt::Env& the_env, client::Client& the_client, AgentOptions the_options)
    : env(the_env),
      client(the_client),
      options(std::move(the_options)),
      supported(options.features),
      means{env, client, options, supported, guard},
      view(means, {.node_changed = [this] { config.refresh(); }, .pods_changed = [this] { dirty = true; }}),
      events(means, view),
      config(means, view, events, [this] { new_config(); }),
      journal(means),
      groups(means, view, config, events, journal),
      network(means, view, config, events, journal),
      offer(means, view, config, events),
      condition(means, view),
      shedder(means, view, measured, config, offer, events) {}

void Agent::State::start() {
  for (const std::string& entry : supported.unknown())
    base::log_warning("colocation", base::format("--supported-features: {:?} is not a feature", entry));
  if (!options.state_folder.empty()) {
    auto held = lock_node(options.state_folder);
    if (!held.ok()) {
      events.warn_once("lock", "ColocationAgentConflict", held.error().message);
      lock_trouble = held.error().message;
      timer = env.loop().after(kLockPause, guard.while_alive([this] {
        if (!ending) start();
      }));
      return;
    }
    lock = *std::move(held);
  }
  lock_trouble.clear();
  begin();
}

void Agent::State::begin() {
  worker = env.worker("colocation");
  groups.start();
  network.start(*worker);
  offer.start();
  stalls =
      std::make_unique<StallWatch>(env, options.paths.pressure, guard.while_alive([this](const std::string& resource) {
        if (ending) return;
        if (options.metrics) options.metrics->counter("volcano_agent_stalls_total", {resource}).add();
        if (resource != "memory") return watch_pods();
        shedder.record_stall();
        look(false);
      }));
  view.start();
  config.start();
  timer = env.loop().after(kTick, guard.while_alive([this] { tick(); }));
}

void Agent::State::new_config() {
  shedder.reset_pressure();
  groups.begin_anew();
  network.begin_anew();
  dirty = true;
}

void Agent::State::tick() {
  if (ending) return;
  timer = env.loop().after(kTick, guard.while_alive([this] { tick(); }));
  if (!view.synced() || view.node() == nullptr) return;
  config.keep_map();
  const bool due = env.uptime() >= full_next || dirty;
  if (env.uptime() >= full_next) full_next = env.uptime() + kFullPeriod;
  look(due);
}

// Two looks within the second; those of the ticks follow.
void Agent::State::watch_pods() {
  if (std::exchange(watches_pods, true)) return;
  look(false);
  second_look = env.loop().after(kStallSpan, guard.while_alive([this] { look(false); }));
}

// Off the loop; a look that is under way is enough.
void Agent::State::look(bool full) {
  if (busy || ending || !worker) {
    dirty = dirty || full;
    return;
  }
  busy = true;
  if (full) dirty = false;
  auto request = std::make_shared<ReadingRequest>(ReadingRequest{options.paths, options.tree, {}, full, watches_pods});
  for (const auto& [uid, pod] : view.pods()) request->pods.push_back(pod);
  auto seen = std::make_shared<MachineReading>();
  worker->run([request, seen] { *seen = read_machine(*request); }, guard.while_alive([this, seen, full] {
    busy = false;
    if (!ending) take(*seen, full);
  }));
}

void Agent::State::take(const MachineReading& look, bool full) {
  // Two looks in the same instant say nothing of what is used.
  if (last_look && env.uptime() - last_look_at < base::milliseconds(50) && !full) return;
  Measured now = measure({last_look, look, last_look_at, env.uptime()}, view.pods(), options.include_system_usage);
  if (!full)
    for (const auto& [uid, used] : measured.of_pod) now.of_pod.emplace(uid, used);
  const bool is_whole_second = last_look && env.uptime() - last_look_at > kStallSpan;
  measured = std::move(now);
  last_look_at = measured.at;
  if (measured.cpu_stalls || measured.io_stalls)
    watches_pods = true;
  else if (is_whole_second)
    watches_pods = false;
  shedder.follow_pods();
  last_look = look;
  const bool counts = env.uptime() >= counts_next;
  // The first figure of processors comes with the second look.
  const bool is_first = counts_next == base::Duration{};
  if (counts) counts_next = env.uptime() + (is_first ? kTick : kFullPeriod);
  if (!config.is_known() || view.node() == nullptr) return;
  if (full)
    for (const auto& [uid, pod] : view.pods())
      if (const auto used = measured.of_pod.find(uid); used != measured.of_pod.end() && !pod.ended)
        advice.add(pod.workload, used->second,
                   {std::max(pod.cpu_milli, pod.batch_cpu_milli), std::max(pod.memory_bytes, pod.batch_memory_bytes)},
                   env.uptime());
  if (full) {
    groups.write(look, measured, *worker);
    network.follow(look);
  }
  if (counts) {
    offer.update(look, measured, *worker);
    if (config.config().colocation || condition.is_reported()) condition.publish(trouble());
  }
  shedder.judge(counts && !is_first);
}

void Agent::State::end() {
  ending = true;
  config.stop();
  groups.stop();
  network.stop();
  shedder.stop();
  env.loop().cancel(timer);
  env.loop().cancel(second_look);
  stalls.reset();
}

void Agent::State::stop(std::function<void()> done) {
  end();
  if (!worker) return done();
  struct End {
    std::function<void()> done;
    bool groups = false, waited = false;
    int requests = 0;
    void check() {
      if (groups && (requests == 0 || waited) && done) std::exchange(done, nullptr)();
    }
  };
  auto end = std::make_shared<End>(End{std::move(done)});
  network.take_back();  // on the same worker, and so before groups
  groups.take_back(*worker, [end] {
    end->groups = true;
    end->check();
  });
  env.loop().after(kEndWait, [end] {
    end->waited = true;
    end->check();
  });
  const auto answered = [end](const base::Result<Json>&) {
    --end->requests;
    end->check();
  };
  const Json* present = view.node();
  if (present == nullptr) return;
  if (condition.is_reported()) {
    ++end->requests;
    client.call(condition.end_request(), answered);
  }
  const Json patch = offer_patch(*present, options.names, nullptr);
  if (patch.is_null() || !supported.has(Feature::kOversubscription)) return;
  ++end->requests;
  client.call({.verb = client::Verb::kPatch,
               .resource = resources::kNodes,
               .ns = {},
               .name = options.node_name,
               .subresource = "status",
               .body = patch},
              answered);
}

std::string Agent::State::trouble() const {
  if (!lock_trouble.empty()) return lock_trouble;
  if (!groups.trouble().empty()) return groups.trouble();
  if (!config.error().empty()) return base::format("the configuration is refused: {}", config.error());
  if (last_look && (!last_look->pods.cpu_ns || !last_look->pods.memory_bytes))
    return base::format("the use of {} in {} cannot be read", pods_path(options.tree), options.tree.root);
  if (const std::size_t failed = groups.failed_writes(); failed > 0)
    return base::format("{} values of control groups could not be written", failed);
  return {};
}

Json Agent::State::report() const {
  Json entries = Json::array(), shed_pods = Json::array(), features = Json::object(), all = Json::array();
  for (const JournalEntry& one : journal.entries()) {
    Json entry = Json::object({{"time", base::format_rfc3339_micro(one.time)},
                               {"feature", one.feature},
                               {"file", one.file},
                               {"before", one.before},
                               {"after", one.after}});
    if (!one.error.empty()) entry.set("error", one.error);
    entries.push_back(std::move(entry));
  }
  for (const Json& one : shedder.log()) shed_pods.push_back(one);
  for (std::size_t at = 0; at < kFeatures; ++at) {
    const auto feature = static_cast<Feature>(at);
    features.set(feature_name(feature), !supported.has(feature)     ? "not supported"
                                        : config.is_active(feature) ? "on"
                                                                    : "off");
  }
  for (const auto& [uid, pod] : view.pods()) {
    all.push_back(Json::object({{"pod", pod.key()},
                                {"level", pod.level},
                                {"leaving", shedder.is_leaving(uid)},
                                {"used", amounts_json(measured.of(uid))}}));
  }
  const Watermarks marks = view.node() ? watermarks_for(config.config(), *view.node()) : Watermarks();
  Json stalled_for = Json::array();
  if (measured.online_stalls.cpu) stalled_for.push_back("cpu");
  if (measured.online_stalls.io) stalled_for.push_back("io");
  Json problems = Json::array();
  for (const std::string& one : groups.pod_problems()) problems.push_back(one);
  return Json::object({{"node", options.node_name},
                       {"trouble", trouble()},
                       {"groups", Json::object({{"version", options.tree.version == GroupVersion::kV1 ? 1 : 2},
                                                {"driver", options.tree.driver == GroupDriver::kSystemd    ? "systemd"
                                                           : options.tree.driver == GroupDriver::kCgroupfs ? "cgroupfs"
                                                                                                           : "volcano"},
                                                {"pods", pods_path(options.tree)}})},
                       {"features", std::move(features)},
                       {"watermarks", Json::object({{"cpuHigh", marks.cpu_high},
                                                    {"cpuLow", marks.cpu_low},
                                                    {"memoryHigh", marks.memory_high},
                                                    {"memoryLow", marks.memory_low}})},
                       {"used", Json::object({{"pods", amounts_json(measured.pods)},
                                              {"online", amounts_json(measured.online)},
                                              {"foreseen", amounts_json(offer.foreseen())}})},
                       {"onlinePodsStallFor", std::move(stalled_for)},
                       {"offered", amounts_json(offer.offered())},
                       {"network", network.report()},
                       {"kernelTellsOfStalls", stalls && stalls->works()},
                       {"pods", std::move(all)},
                       {"problems", std::move(problems)},
                       {"recommendations", advice.rows()},
                       {"evictions", std::move(shed_pods)},
                       {"journal", std::move(entries)}});
}

Agent::Agent(rt::Env& env, client::Client& client, AgentOptions options)
    : state_(std::make_shared<State>(env, client, std::move(options))) {
  state_->guard.belong_to(state_);
}
Agent::~Agent() {
  state_->end();
  state_->worker.reset();
}
void Agent::start() { state_->start(); }
void Agent::stop(std::function<void()> done) { state_->stop(std::move(done)); }
std::string Agent::trouble() const { return state_->trouble(); }
Json Agent::report() const { return state_->report(); }

}  // namespace colocation
