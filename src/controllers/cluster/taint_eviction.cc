// Which pods have to leave their node, because it has a taint NoExecute, and when?
//
// A toleration may be for a time only. The time counts from when the taint says that it was added, so that it is the
// same after a restart; from when it was first seen if the taint does not say.
#include <algorithm>
#include <map>
#include <optional>

#include "api/meta/resource.h"
#include "api/pods/tolerations.h"
#include "base/format.h"
#include "controllers/cluster/evictions.h"

namespace controllers::cluster {

using api::Json;
using base::Time;
namespace resources = api::resources;

namespace {

constexpr std::string_view kReason = "TaintManagerEviction";
// Clocks are turned, and timers are no place to keep years.
constexpr base::Duration kLookMax = base::hours(1);

bool is_evicting(const Json& taint) { return taint["effect"].as_string() == "NoExecute"; }

bool has_evicting_taint(const Json& node) { return std::ranges::any_of(node["spec"]["taints"].items(), is_evicting); }

std::string id_of(const Json& taint) {
  return base::format("{}={}", taint["key"].as_string(), taint["value"].as_string());
}

// When the pod came to its node: one that comes to a tainted node has its time, too.
Time bound_at(const Json& pod) {
  const Json* text = &pod["metadata"]["creationTimestamp"];
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "PodScheduled" && condition["status"].as_string() == "True")
      text = &condition["lastTransitionTime"];
  return base::parse_rfc3339(text->as_string()).value_or(Time{});
}

// A pod that has to leave some time.
struct Mark {
  std::string uid;
  Time due;
  std::map<std::string, Time> seen;  // when each taint was first seen beside the pod, by id_of()
};

// Nothing: it may stay.
std::optional<Mark> mark_for(const Json& pod, const Json& node, const Mark* before, Time now) {
  Mark mark{.uid = std::string(api::uid_of(pod))};
  bool leaves = false;
  for (const Json& taint : node["spec"]["taints"].items()) {
    if (!is_evicting(taint)) continue;
    const std::string id = id_of(taint);
    Time since = now;
    if (before != nullptr)
      if (const auto known = before->seen.find(id); known != before->seen.end()) since = known->second;
    mark.seen[id] = since;
    if (const auto added = base::parse_rfc3339(taint["timeAdded"].as_string())) since = std::max(*added, bound_at(pod));
    Time due = now;
    if (const Json* toleration = api::toleration_of(pod["spec"], taint)) {
      const Json& seconds = (*toleration)["tolerationSeconds"];
      if (!seconds.is_number()) continue;
      if (seconds.as_int() > 0) due = since + base::seconds(seconds.as_int());
    }
    mark.due = leaves ? std::min(mark.due, due) : due;
    leaves = true;
  }
  return leaves ? std::optional(std::move(mark)) : std::nullopt;
}

class TaintEvictionController final : public Controller {
 public:
  std::string_view name() const override { return "taint-eviction-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "delete"}, {resources::kPods, "patch", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kPods,
             [this](const View& view, const Json& pod) {
               const Json* node = view.find(resources::kNodes, pod["spec"]["nodeName"].as_string());
               const bool matters = (node && has_evicting_taint(*node)) || marks_.contains(api::key_of(pod));
               return matters ? Keys{api::key_of(pod)} : Keys{};
             },
             [](const Json* before, const Json* after) {
               return !before || !after || (*before)["spec"]["nodeName"] != (*after)["spec"]["nodeName"] ||
                      (*before)["spec"]["tolerations"] != (*after)["spec"]["tolerations"] ||
                      api::uid_of(*before) != api::uid_of(*after);
             }},
            {resources::kNodes,
             [](const View& view, const Json& node) {
               Keys keys;
               for (const Json* pod : view.by_index(resources::kPods, kPodsByNode, api::name_of(node)))
                 keys.push_back(api::key_of(*pod));
               return keys;
             },
             [](const Json* before, const Json* after) {
               const bool had = before && has_evicting_taint(*before), has = after && has_evicting_taint(*after);
               return had != has || (had && (*before)["spec"]["taints"] != (*after)["spec"]["taints"]);
             }}};
  }
  std::vector<IndexBy> indexes() const override { return {pods_by_node()}; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* pod = view.find(resources::kPods, key);
    const auto known = marks_.find(key);
    const Mark* before =
        pod && known != marks_.end() && known->second.uid == api::uid_of(*pod) ? &known->second : nullptr;
    std::optional<Mark>& after = (pending_[key] = std::nullopt);
    // A pod whose node is gone is not waited for here any more.
    const Json* node = pod ? view.find(resources::kNodes, (*pod)["spec"]["nodeName"].as_string()) : nullptr;
    if (!node || api::is_deleting(*pod)) return plan;
    after = mark_for(*pod, *node, before, turn.now);
    if (!after) {
      if (before) plan.event(*pod, "Normal", kReason, "Cancelling deletion of Pod " + key);
    } else if (after->due > turn.now) {
      plan.requeue_after(std::min(kLookMax, after->due - turn.now));
    } else {
      plan.event(*pod, "Normal", kReason, "Marking for deletion Pod " + key);
      record_reason(plan, *pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", turn.now,
                    false);
      plan.begin_stage();
      plan.remove(resources::kPods, *pod);
    }
    return plan;
  }

  void finished(const std::string& key, Ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    if (found->second)
      marks_[key] = *std::move(found->second);
    else
      marks_.erase(key);
    pending_.erase(found);
  }

 private:
  std::map<std::string, Mark> marks_;
  std::map<std::string, std::optional<Mark>> pending_;  // of plans under way
};

}  // namespace

std::unique_ptr<Controller> make_taint_eviction_controller() { return std::make_unique<TaintEvictionController>(); }

}  // namespace controllers::cluster
