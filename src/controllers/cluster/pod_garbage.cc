// Which pods will no node ever let go?
//
// Pods of a node that is not there, and those that end and were never given to one. An absence in the view proves
// nothing: a Node may be late, or be made again by its agent. So such a pod has a quarantine, and then the server is
// asked for the node. And of pods that are over only so many stay (finished_pods.h).
#include <map>
#include <optional>

#include "api/meta/resource.h"
#include "controllers/cluster/evictions.h"

namespace controllers::cluster {

using api::Json;
using base::Time;
namespace resources = api::resources;

namespace {

constexpr base::Duration kQuarantine = base::seconds(40);
// Others that know what a pod meant come first: a Job takes its finalizer from a pod that it deleted.
constexpr base::Duration kUnscheduled = base::seconds(20);

std::string_view node_of(const Json& pod) { return pod["spec"]["nodeName"].as_string(); }

bool is_over(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed";
}

// Deleted as far as that is possible: somebody's finalizer keeps it.
bool is_let_go(const Json& pod) {
  const Json& grace = pod["metadata"]["deletionGracePeriodSeconds"];
  return api::is_deleting(pod) && grace.is_number() && grace.as_int() == 0;
}

void let_go(Plan& plan, const Json& pod, std::string_view reason, std::string_view message, Time now) {
  if (!is_over(pod)) {
    record_reason(plan, pod, reason, message, now, true);
    plan.begin_stage();
  }
  if (!is_let_go(pod)) plan.remove(resources::kPods, pod).body.set("gracePeriodSeconds", 0);
}

// A pod whose node was not there.
struct Missing {
  std::string uid;
  Time since;
};

bool is_pod(const std::string& key) { return key.find('/') != std::string::npos; }

// Keys are those of pods, and those of the index of finished pods.
class PodGarbageCollector final : public Controller {
 public:
  explicit PodGarbageCollector(const FinishedPodLimits& limits) : limits_(limits) {}

  std::string_view name() const override { return "pod-garbage-collector-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "delete"}, {resources::kPods, "patch", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kPods,
             [this](const View& view, const Json& pod) {
               const bool matters =
                   node_of(pod).empty() ? api::is_deleting(pod) : view.find(resources::kNodes, node_of(pod)) == nullptr;
               return matters || missing_.contains(api::key_of(pod)) ? Keys{api::key_of(pod)} : Keys{};
             },
             [](const Json* before, const Json* after) {
               return !before || !after || node_of(*before) != node_of(*after) ||
                      api::is_deleting(*before) != api::is_deleting(*after) ||
                      api::uid_of(*before) != api::uid_of(*after);
             }},
            {resources::kNodes,
             [this](const View& view, const Json& node) {
               const bool there = view.find(resources::kNodes, api::name_of(node)) != nullptr;
               Keys keys;
               for (const Json* pod : view.by_index(resources::kPods, kPodsByNode, api::name_of(node)))
                 if (!there || missing_.contains(api::key_of(*pod))) keys.push_back(api::key_of(*pod));
               return keys;
             },
             [](const Json* before, const Json* after) { return !before || !after; }},
            {resources::kPods,
             [this](const View& view, const Json& pod) {
               Keys keys;
               const std::string ns(api::namespace_of(pod));
               if (is_beyond(view, ns, limits_.in_namespace)) keys.push_back(ns);
               if (is_beyond(view, "", limits_.everywhere)) keys.emplace_back(kEverywhere);
               return keys;
             },
             [](const Json* before, const Json* after) {
               return after && is_over(*after) && !(before && is_over(*before));
             }}};
  }
  std::vector<IndexBy> indexes() const override { return {pods_by_node(), finished_pods()}; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    if (!is_pod(key)) {
      collect_finished(view, key == kEverywhere ? "" : key, limits_, turn.now, plan);
      return plan;
    }
    std::optional<Missing>& after = (pending_[key] = std::nullopt);
    const Json* pod = view.find(resources::kPods, key);
    if (!pod) return plan;
    const std::string_view node = node_of(*pod);
    if (node.empty()) {
      end_unscheduled(*pod, turn.now, plan);
    } else if (!view.find(resources::kNodes, node)) {
      const auto known = missing_.find(key);
      const bool again = known != missing_.end() && known->second.uid == api::uid_of(*pod);
      after = {std::string(api::uid_of(*pod)), again ? known->second.since : turn.now};
      end_orphan(*pod, after->since + kQuarantine - turn.now, turn.now, plan);
    }
    return plan;
  }

  void finished(const std::string& key, Ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    if (found->second)
      missing_[key] = *std::move(found->second);
    else
      missing_.erase(key);
    pending_.erase(found);
  }

 private:
  static constexpr std::string_view kEverywhere = "*";

  static bool is_beyond(const View& view, std::string_view ns, int limit) {
    return limit > 0 && view.count(resources::kPods, kFinishedPods, ns) > static_cast<std::size_t>(limit);
  }

  static void end_orphan(const Json& pod, base::Duration left, Time now, Plan& plan) {
    if (is_over(pod) && is_let_go(pod)) return;
    if (left > base::Duration{}) return plan.requeue_after(left);
    plan.require_gone(resources::kNodes, "Node", "", node_of(pod), "");
    plan.begin_stage();
    let_go(plan, pod, "DeletionByPodGC", "PodGC: node no longer exists", now);
  }

  static void end_unscheduled(const Json& pod, Time now, Plan& plan) {
    if (!api::is_deleting(pod) || (is_over(pod) && is_let_go(pod))) return;
    const auto since = base::parse_rfc3339(pod["metadata"]["deletionTimestamp"].as_string());
    const base::Duration left = since.value_or(now) + kUnscheduled - now;
    if (left > base::Duration{}) return plan.requeue_after(left);
    let_go(plan, pod, "", "", now);
  }

  FinishedPodLimits limits_;
  std::map<std::string, Missing> missing_;
  std::map<std::string, std::optional<Missing>> pending_;  // of plans under way
};

}  // namespace

std::unique_ptr<Controller> make_pod_garbage_collector(const FinishedPodLimits& limits) {
  return std::make_unique<PodGarbageCollector>(limits);
}

}  // namespace controllers::cluster
