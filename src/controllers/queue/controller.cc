// Wakes and commands of the queue controller. Actions wait per queue until a plan for them has succeeded.
#include "controllers/queue/controller.h"

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/queue/step.h"

namespace controllers::queue {

using api::Json;
namespace resources = api::resources;

namespace {

Keys command_target(const Json& command) {
  const Json& target = command["target"];
  if (target["kind"].as_string() != "Queue" || target["apiVersion"].as_string() != "scheduling.volcano.sh/v1beta1")
    return {};
  return {target["name"].str()};
}

std::string parent_of(const Json& queue) {
  if (api::name_of(queue) == "root") return {};
  const std::string parent = queue["spec"]["parent"].str();
  return parent.empty() ? "root" : parent;
}

// The place in the index of a queue's groups that have this phase.
std::string place_of(std::string_view queue, std::string_view phase) { return base::format("{}/{}", queue, phase); }

bool queue_changed(const Json* before, const Json* after) {
  if (!before || !after) return true;
  return (*before)["spec"]["parent"] != (*after)["spec"]["parent"] ||
         (*before)["status"]["state"] != (*after)["status"]["state"] ||
         (*before)["metadata"]["annotations"] != (*after)["metadata"]["annotations"];
}

bool counters_changed(const Json* before, const Json* after) {
  if (!before || !after) return true;
  return std::ranges::any_of(kCounters, [&](const Counter& counter) {
    return (*before)["status"][counter.field] != (*after)["status"][counter.field];
  });
}

// Whether the way up from the queue comes back to it: nothing adds up there.
bool is_its_own_ancestor(const View& view, const Json& queue) {
  std::set<std::string, std::less<>> passed;
  for (std::string name = parent_of(queue); !name.empty() && passed.insert(name).second;) {
    if (name == api::name_of(queue)) return true;
    const Json* above = view.find(resources::kQueues, name);
    name = above ? parent_of(*above) : std::string();
  }
  return false;
}

class QueueController final : public Controller {
 public:
  explicit QueueController(Options options) : options_(options) {}

  std::string_view name() const override { return "queue-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kQueues, "patch"}, {resources::kQueues, "apply", "status"}, {resources::kCommands, "delete"}};
  }
  std::vector<Wake> wakes_on() const override {
    // A queue's children follow it, and a queue looks at its parent.
    const auto family = [](const View& view, const Json& queue) {
      Keys keys{std::string(api::name_of(queue))};
      for (const Json* child : view.by_index(resources::kQueues, "parent", api::name_of(queue)))
        keys.emplace_back(api::name_of(*child));
      return keys;
    };
    std::vector<Wake> wakes = {
        {resources::kQueues, family, queue_changed},
        {resources::kPodGroups, [](const View&, const Json& group) { return Keys{group["spec"]["queue"].str()}; },
         [](const Json* before, const Json* after) {
           return !before || !after || (*before)["spec"]["queue"] != (*after)["spec"]["queue"] ||
                  (*before)["status"]["phase"] != (*after)["status"]["phase"];
         }}};
    if (options_.counts_children)
      wakes.push_back({.resource = resources::kQueues,
                       .keys = [](const View&, const Json& queue) { return Keys{parent_of(queue)}; },
                       .matters = counters_changed,
                       .only_counts = [](const View&, const Json&, const Json&) { return true; }});
    if (options_.reads_commands)
      wakes.push_back({resources::kCommands, [](const View&, const Json& command) { return command_target(command); },
                       [](const Json* before, const Json*) { return before == nullptr; }});
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> indexes = {
        {resources::kQueues, "parent", [](const Json& queue) { return Keys{parent_of(queue)}; }},
        {resources::kPodGroups, "queue", [](const Json& group) { return Keys{group["spec"]["queue"].str()}; }},
        {resources::kPodGroups, "phase",
         [](const Json& group) {
           return Keys{place_of(group["spec"]["queue"].as_string(), group["status"]["phase"].as_string())};
         }},
    };
    if (options_.reads_commands) indexes.push_back({resources::kCommands, "queue", command_target});
    return indexes;
  }

  int failures_max() const override { return options_.requeues_max; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Under& under = under_[key];
    under = {};
    std::vector<const Json*> commands = view.by_index(resources::kCommands, "queue", key);
    // One that is going was taken; a finalizer may keep it.
    std::erase_if(commands, [](const Json* command) { return api::is_deleting(*command); });
    const Json* queue = view.find(resources::kQueues, key);
    if (!queue) {
      waiting_.erase(key);
      publish(key, nullptr);
      Plan plan;
      for (const Json* command : commands) plan.remove(resources::kCommands, *command);
      return plan;
    }
    if (!commands.empty()) {
      Plan plan;
      const Json& command = *first_to_arrive(commands);
      plan.remove(resources::kCommands, command).missing_is_fine = false;
      plan.requeue_after({});
      under.take = command["action"].str();
      return plan;
    }
    Observed seen{.queue = queue,
                  .parent = view.find(resources::kQueues, parent_of(*queue)),
                  .children = view.by_index(resources::kQueues, "parent", key),
                  .by_phase = {}};
    // A queue may hold all groups of the cluster, of which each changes its phase a few times.
    seen.group_count = static_cast<std::int64_t>(view.count(resources::kPodGroups, "queue", key));
    for (const auto& [field, phase] : kCounters)
      if (const std::size_t count = view.count(resources::kPodGroups, "phase", place_of(key, phase)); count > 0)
        seen.by_phase[phase] = static_cast<std::int64_t>(count);
    publish(key, &seen);
    if (options_.counts_children && !is_its_own_ancestor(view, *queue))
      for (const Json* child : seen.children)
        for (const auto& [field, phase] : kCounters)
          seen.by_phase[phase] += std::max<std::int64_t>(0, (*child)["status"][field].as_int());
    const auto waiting = waiting_.find(key);
    under.from_queue = waiting != waiting_.end() && !waiting->second.empty();
    const Waiting answered = under.from_queue ? waiting->second.front() : Waiting{"SyncQueue", "OutOfSync"};
    const std::string& action = answered.action;
    if (options_.requeues_max >= 0 && turn.failures > options_.requeues_max) {
      Plan given_up;
      given_up.event(*queue, "Warning", action,
                     base::format("{0} queue failed for sync queue {1} failed for {2}, event is {3}, action is {0}",
                                  action, key, turn.error, answered.event));
      if (under.from_queue) given_up.requeue_after({});
      return given_up;
    }
    Decision decision = queue::step(seen, action, turn);
    under.follow = std::move(decision.follow);
    Plan& plan = decision.plan;
    for (const auto& [other, what] : under.follow)
      if (other == key) plan.requeue_after({});
    if (under.from_queue && waiting->second.size() > 1) plan.requeue_after({});
    return std::move(plan);
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = under_.find(key);
    if (found == under_.end()) return;
    Under under = std::move(found->second);
    under_.erase(found);
    if (!ending.succeeded) return;
    if (!under.take.empty()) waiting_[key].push_back({under.take, "CommandIssued"});
    if (under.from_queue)
      if (const auto waiting = waiting_.find(key); waiting != waiting_.end()) {
        waiting->second.pop_front();
        if (waiting->second.empty()) waiting_.erase(waiting);
      }
    for (auto& [other, action] : under.follow) waiting_[other].push_back({action, "OutOfSync"});
  }

 private:
  struct Waiting {
    std::string action;
    std::string event;  // what asked for it
  };

  // The state of the plan under way.
  struct Under {
    std::string take;         // the action of a command that the plan deletes
    bool from_queue = false;  // the plan answers the first waiting action
    std::vector<std::pair<std::string, std::string>> follow;
  };

  // The gauges of a queue; null: it is gone.
  void publish(const std::string& queue, const Observed* seen) {
    if (options_.metrics == nullptr) return;
    for (const auto& [field, phase] : kCounters) {
      const std::string name = base::format("volcano_queue_pod_group_{}_count", field);
      if (seen == nullptr) {
        options_.metrics->remove(name, {queue});
        continue;
      }
      const auto found = seen->by_phase.find(phase);
      options_.metrics->gauge(name, {queue})
          .set(found == seen->by_phase.end() ? 0 : static_cast<double>(found->second));
    }
  }

  Options options_;
  std::map<std::string, std::deque<Waiting>> waiting_;
  std::map<std::string, Under> under_;
};

}  // namespace

std::unique_ptr<Controller> make_queue_controller(Options options) {
  return std::make_unique<QueueController>(options);
}

}  // namespace controllers::queue
