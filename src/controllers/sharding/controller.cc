// When the sharding controller looks at everything, and what it remembers of the last time.
#include "controllers/sharding/controller.h"

#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/check.h"
#include "base/format.h"
#include "controllers/framework/pauses.h"
#include "controllers/sharding/step.h"

namespace controllers::sharding {

using api::Json;
namespace resources = api::resources;

namespace {

// There is one thing to decide: who gets which nodes.
constexpr std::string_view kAll = "all";
// Changes that come together are looked at together.
constexpr base::Duration kGatherTime = base::milliseconds(200);
// A node whose utilization moved by more than this is looked at before the period is over.
constexpr double kLargeMove = 0.5;

bool capacity_jumped(const Json& before, const Json& after, std::string_view resource) {
  const auto old = api::Quantity::from_json(before["status"]["capacity"][resource]);
  const auto now = api::Quantity::from_json(after["status"]["capacity"][resource]);
  if (!old || !now) return old.has_value() != now.has_value();
  return std::abs(now->as_double() - old->as_double()) > old->as_double() * kLargeMove;
}

bool node_changed(const Json* before, const Json* after) {
  if (before == nullptr || after == nullptr) return true;
  return (*before)["metadata"]["labels"] != (*after)["metadata"]["labels"] || capacity_jumped(*before, *after, "cpu") ||
         capacity_jumped(*before, *after, "memory");
}

bool pod_changed(const Json* before, const Json* after) {
  if (before == nullptr || after == nullptr) return true;
  return (*before)["spec"]["nodeName"] != (*after)["spec"]["nodeName"] ||
         (*before)["status"]["phase"] != (*after)["status"]["phase"] ||
         api::is_deleting(*before) != api::is_deleting(*after) ||
         (*before)["spec"]["containers"] != (*after)["spec"]["containers"];
}

bool moved(const std::optional<double>& before, const std::optional<double>& now) {
  return before.has_value() != now.has_value() || (before && std::abs(*now - *before) > kLargeMove);
}

class ShardingController final : public Controller {
 public:
  explicit ShardingController(Options options)
      : options_(std::move(options)), config_key_(options_.config_namespace + "/" + options_.config_name) {
    memory_.config = options_.config;
  }

  std::string_view name() const override { return "sharding-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kNodeShards, "create patch delete"}, {resources::kNodeShards, "patch", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto always = [](const View&, const Json&) { return Keys{std::string(kAll)}; };
    return {
        {resources::kNodes, [this](const View&, const Json&) { return follows() ? Keys{std::string(kAll)} : Keys{}; },
         node_changed},
        {resources::kPods, [this](const View& view, const Json& pod) { return keys_of_pod(view, pod); }, pod_changed},
        {resources::kNodeShards, always,
         [](const Json* before, const Json* after) {
           return before == nullptr || after == nullptr || (*before)["spec"] != (*after)["spec"];
         },
         true},
        {.resource = resources::kConfigMaps,
         .keys = always,
         .only = Place{options_.config_namespace, options_.config_name}}};
  }

  std::vector<IndexBy> indexes() const override {
    return {{resources::kPods, "node", [](const Json& pod) {
               const std::string node = pod["spec"]["nodeName"].str();
               return node.empty() ? Keys{} : Keys{node};
             }}};
  }

  Plan step(const View& view, const std::string&, const Turn& turn) override {
    next_.reset();
    const bool is_first = !memory_.synced_at.is_set();
    const base::Duration left = pause_left(memory_.synced_at + kGatherTime, turn.now, kGatherTime);
    if (!is_first && turn.failures == 0 && left > base::Duration{}) {
      Plan later;
      later.requeue_after(left);
      return later;
    }
    Memory next = memory_;
    std::string refusal;
    const Json* map = view.find(resources::kConfigMaps, config_key_);
    read_config(map, next, refusal);
    next.had_map = map != nullptr;
    next.synced_at = turn.now;
    next.nodes.clear();
    Seen seen{.assigned = {}, .shards = view.all(resources::kNodeShards), .nodes = {}};
    std::vector<NodeFacts> nodes;
    for (const Json* node : view.all(resources::kNodes)) {
      if (api::is_deleting(*node)) continue;
      nodes.push_back(facts_of(*node, view.by_index(resources::kPods, "node", api::name_of(*node))));
      seen.nodes.push_back(nodes.back().name);
      next.nodes.emplace(nodes.back().name, Utilization{nodes.back().cpu, nodes.back().memory});
    }
    seen.assigned = assign(next.config, nodes);
    Plan plan = sharding::step(seen, turn.now);
    if (map == nullptr && memory_.had_map)
      plan.event(config_map(), "Warning", "ConfigMapGone",
                 base::format("ConfigMap {} is gone; the configuration before stays", config_key_));
    if (!refusal.empty()) plan.event(*map, "Warning", "InvalidConfiguration", std::move(refusal));
    plan.requeue_after(next.config.sync_period);
    next_ = std::move(next);
    return plan;
  }

  void finished(const std::string&, Ending) override {
    if (next_) memory_ = *std::exchange(next_, std::nullopt);
  }

 private:
  struct Utilization {
    std::optional<double> cpu, memory;
  };
  // The findings of the last look at everything.
  struct Memory {
    Config config;            // the last one that could be read
    std::string config_text;  // as last read, whether it could be or not
    base::Time synced_at;     // unset: never
    bool had_map = false;
    std::map<std::string, Utilization, std::less<>> nodes;
  };

  // For what is said of one that is not there.
  Json config_map() const {
    return Json::object(
        {{"apiVersion", "v1"},
         {"kind", "ConfigMap"},
         {"metadata", Json::object({{"namespace", options_.config_namespace}, {"name", options_.config_name}})}});
  }

  bool follows() const { return memory_.config.follows_nodes || !memory_.synced_at.is_set(); }

  // The period is long beside what one placement can change: a node that it fills, or empties, counts at once.
  Keys keys_of_pod(const View& view, const Json& pod) const {
    const std::string_view name = pod["spec"]["nodeName"].as_string();
    if (name.empty() || !memory_.config.follows_nodes || !memory_.synced_at.is_set()) return {};
    const Json* node = view.find(resources::kNodes, name);
    const auto last = memory_.nodes.find(name);
    if (node == nullptr || last == memory_.nodes.end()) return {};
    const NodeFacts now = facts_of(*node, view.by_index(resources::kPods, "node", name));
    const bool counts = moved(last->second.cpu, now.cpu) || moved(last->second.memory, now.memory);
    return counts ? Keys{std::string(kAll)} : Keys{};
  }

  // One that is gone, has no such key, or says what makes no sense, leaves the one before in use.
  void read_config(const Json* map, Memory& next, std::string& refusal) const {
    if (map == nullptr || !(*map)["data"][kConfigKey].is_string()) return;
    std::string text = (*map)["data"][kConfigKey].str();
    if (text == next.config_text) return;
    auto config = parse_config(text, options_.config);
    next.config_text = std::move(text);
    if (config.ok())
      next.config = *std::move(config);
    else
      refusal =
          base::format("{} cannot be used, the configuration before stays: {}", kConfigKey, config.error().message);
  }

  Options options_;
  std::string config_key_;
  Memory memory_;
  std::optional<Memory> next_;  // of the plan under way
};

}  // namespace

Config default_config() {
  auto schedulers = parse_scheduler_flags(default_scheduler_flags());
  CHECK(schedulers.ok());
  return {.schedulers = *std::move(schedulers)};
}

std::unique_ptr<Controller> make_sharding_controller(Options options) {
  return std::make_unique<ShardingController>(std::move(options));
}

}  // namespace controllers::sharding
