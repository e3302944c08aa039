// Start, the clock of the rounds, the end, and what the agent tells of itself.
#include "colocation/agent.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "base/split.h"
#include "colocation/agent_state.h"
#include "colocation/policy/words.h"
#include "rt/files/bounded_files.h"

namespace colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kHistoryBytesMax = std::size_t{1} << 20;
constexpr base::Duration kEndWait = base::seconds(5);
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
      events(the_client, the_env, "volcano-agent", options.node_name) {}

void Agent::State::start() {
  for (const std::string& entry : supported.unknown())
    base::log_warning("colocation", base::format("--supported-features: {:?} is not a feature", entry));
  if (!options.state_folder.empty()) {
    auto held = lock_node(options.state_folder);
    if (!held.ok()) {
      event_once("lock", "ColocationAgentConflict", held.error().message);
      group_trouble = held.error().message;
      timer = env.loop().after(kLockPause, [weak = weak_from_this()] {
        if (const auto self = weak.lock(); self && !self->ending) self->start();
      });
      return;
    }
    lock = *std::move(held);
  }
  group_trouble.clear();
  begin();
}

void Agent::State::begin() {
  const auto weak = weak_from_this();
  worker = env.worker("colocation");
  const std::string folder = options.state_folder;
  writer = std::make_shared<GroupWriter>(options.tree, folder.empty() ? folder : folder + "/groups.json");
  if (!folder.empty())
    if (const auto text = rt::read_bounded_file(folder + "/history", kHistoryBytesMax, {}); text.ok())
      if (!history.read(*text))
        base::log_warning("colocation", base::format("{}/history is damaged, and begins anew", folder));
  stalls = std::make_unique<StallWatch>(env, options.paths.pressure, [weak](const std::string& resource) {
    const auto self = weak.lock();
    if (!self || self->ending) return;
    if (self->options.metrics) self->options.metrics->counter("volcano_agent_stalls_total", {resource}).add();
    if (resource != "memory") return;
    self->stalled = true;
    self->look(false);
  });
  nodes = std::make_unique<client::Informer>(
      client, env, resources::kNodes,
      client::InformerOptions{.field_selector = base::format("metadata.name={}", options.node_name)});
  nodes->on_change([weak](const Json*, const Json* after, bool) {
    if (const auto self = weak.lock(); self && after) self->refresh_config();
  });
  pods = std::make_unique<client::Informer>(
      client, env, resources::kPods,
      client::InformerOptions{.field_selector = base::format("spec.nodeName={}", options.node_name)});
  pods->on_change([weak](const Json* before, const Json* after, bool) {
    const auto self = weak.lock();
    if (!self) return;
    if (before) self->facts.erase(std::string(api::uid_of(*before)));
    // A server that does not know the selector tells of all pods.
    if (after && (*after)["spec"]["nodeName"].as_string() == self->options.node_name)
      self->facts[std::string(api::uid_of(*after))] = pod_facts(*after, self->options.names);
    self->dirty = true;
  });
  config_maps = std::make_unique<client::Informer>(
      client, env, resources::kConfigMaps,
      client::InformerOptions{.ns = options.pod_namespace,
                              .field_selector = base::format("metadata.name={}", kConfigMapName)});
  config_maps->on_change([weak](const Json*, const Json*, bool) {
    if (const auto self = weak.lock()) self->refresh_config();
  });
  config_maps->on_synced([weak] {
    if (const auto self = weak.lock()) self->refresh_config();
  });
  nodes->start();
  pods->start();
  config_maps->start();
  timer = env.loop().after(kTick, [weak] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void Agent::State::tick() {
  if (ending) return;
  timer = env.loop().after(kTick, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
  if (!pods->synced() || !nodes->synced() || node() == nullptr) return;
  keep_config_map();
  const bool due = env.uptime() >= full_next || dirty;
  if (env.uptime() >= full_next) full_next = env.uptime() + kFullPeriod;
  look(due);
}

// Off the loop; a look that is under way is enough.
void Agent::State::look(bool full) {
  if (busy || ending || !worker) {
    dirty = dirty || full;
    return;
  }
  busy = true;
  if (full) dirty = false;
  auto request = std::make_shared<ReadingRequest>(ReadingRequest{options.paths, options.tree, {}, full});
  for (const auto& [uid, pod] : facts) request->pods.push_back(pod);
  auto seen = std::make_shared<MachineReading>();
  worker->run([request, seen] { *seen = read_machine(*request); },
              [weak = weak_from_this(), seen, full] {
                const auto self = weak.lock();
                if (!self) return;
                self->busy = false;
                if (!self->ending) self->take(*seen, full);
              });
}

void Agent::State::stop(std::function<void()> done) {
  ending = true;
  env.loop().cancel(timer);
  stalls.reset();
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
  worker->run([writer = writer, now = env.now()] { writer->apply({}, now, true); },
              [end] {
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
  const Json* present = node();
  if (present == nullptr) return;
  if (!condition_told.empty()) {
    ++end->requests;
    client.call(
        condition_request({"False", "ColocationStopped", "the agent has ended, and has taken back what it set"}),
        answered);
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

Json Agent::State::own_object() const {
  if (options.pod_name.empty()) {
    const Json* present = node();
    Json metadata = Json::object({{"name", options.node_name}});
    if (present) metadata.set("uid", api::uid_of(*present));
    return Json::object({{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", metadata}});
  }
  Json metadata = Json::object({{"name", options.pod_name}, {"namespace", options.pod_namespace}});
  for (const auto& [uid, pod] : facts)
    if (pod.name == options.pod_name && pod.ns == options.pod_namespace) metadata.set("uid", uid);
  return Json::object({{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}});
}

void Agent::State::event(const Json& object, const char* type, const char* reason, std::string message) {
  events.record(object, {.type = type, .reason = reason, .message = std::move(message)});
}

void Agent::State::event_once(const std::string& key, const char* reason, std::string message) {
  if (!said.insert(key).second) return;
  base::log_warning("colocation", message);
  event(own_object(), "Warning", reason, std::move(message));
}

std::string Agent::State::trouble() const {
  if (!group_trouble.empty()) return group_trouble;
  if (!config_error.empty()) return base::format("the configuration is refused: {}", config_error);
  if (last_look && (!last_look->pods.cpu_ns || !last_look->pods.memory_bytes))
    return base::format("the use of {} in {} cannot be read", pods_path(options.tree), options.tree.root);
  if (failed_writes > 0) return base::format("{} values of control groups could not be written", failed_writes);
  return {};
}

Json Agent::State::report() const {
  Json entries = Json::array(), shed_pods = Json::array(), features = Json::object(), all = Json::array();
  for (const JournalEntry& one : journal) {
    Json entry = Json::object({{"time", base::format_rfc3339_micro(one.time)},
                               {"feature", one.feature},
                               {"file", one.file},
                               {"before", one.before},
                               {"after", one.after}});
    if (!one.error.empty()) entry.set("error", one.error);
    entries.push_back(std::move(entry));
  }
  for (const Json& one : shed_log) shed_pods.push_back(one);
  for (std::size_t at = 0; at < kFeatures; ++at) {
    const auto feature = static_cast<Feature>(at);
    features.set(feature_name(feature), !supported.has(feature)                 ? "not supported"
                                        : is_active(feature, supported, config) ? "on"
                                                                                : "off");
  }
  for (const auto& [uid, pod] : facts) {
    const auto used = measured.of_pod.find(uid);
    all.push_back(Json::object({{"pod", pod.key()},
                                {"level", pod.level},
                                {"leaving", leaving.contains(uid)},
                                {"used", amounts_json(used == measured.of_pod.end() ? NodeAmounts() : used->second)}}));
  }
  const Watermarks marks = node() ? watermarks_for(config, *node()) : Watermarks();
  Json problems = Json::array();
  for (const std::string& one : pod_problems) problems.push_back(one);
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
                                              {"foreseen", amounts_json(foreseen)}})},
                       {"offered", amounts_json(offered)},
                       {"kernelTellsOfStalls", stalls && stalls->works()},
                       {"pods", std::move(all)},
                       {"problems", std::move(problems)},
                       {"recommendations", advice.rows()},
                       {"evictions", std::move(shed_pods)},
                       {"journal", std::move(entries)}});
}

Agent::Agent(rt::Env& env, client::Client& client, AgentOptions options)
    : state_(std::make_shared<State>(env, client, std::move(options))) {}
Agent::~Agent() {
  state_->ending = true;
  state_->env.loop().cancel(state_->timer);
  state_->stalls.reset();
  state_->worker.reset();
}
void Agent::start() { state_->start(); }
void Agent::stop(std::function<void()> done) { state_->stop(std::move(done)); }
std::string Agent::trouble() const { return state_->trouble(); }
Json Agent::report() const { return state_->report(); }

}  // namespace colocation
