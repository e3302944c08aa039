// One step of a DaemonSet: its revisions, a pod for each node, the turn from one template to the next, what it says.
#include "controllers/workloads/daemon_set.h"

#include <algorithm>
#include <map>
#include <optional>

#include "api/schema/unwritten.h"
#include "base/format.h"
#include "base/saturate.h"
#include "controllers/framework/restart_pauses.h"
#include "controllers/workloads/daemon_set_nodes.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kHashLabel = "controller-revision-hash";
constexpr std::string_view kChangeCause = "kubernetes.io/change-cause";
constexpr std::int64_t kBurstMax = 250;

// A number, or a part of `total` in percent, rounded up.
std::int64_t part_of(const Json& value, std::int64_t total) {
  if (!value.is_string()) return std::max<std::int64_t>(0, value.as_int());
  std::int64_t percent = 0;
  for (const char c : value.as_string())
    if (c >= '0' && c <= '9' && percent < 1000) percent = percent * 10 + (c - '0');
  return (percent * total + 99) / 100;
}

// A node that a pod belongs on, or is on.
struct Place {
  NodeFit fit;
  std::vector<const Json*> pods = {};  // the oldest first
};

class DaemonSetStep {
 public:
  DaemonSetStep(const View& view, const Json& set, const Turn& turn, RestartPauses& pauses)
      : view_(view),
        set_(set),
        spec_(set["spec"]),
        turn_(turn),
        pauses_(pauses),
        pod_spec_(daemon_pod_spec(spec_["template"])) {}

  Plan take() {
    plan_.set_subject(set_);
    const auto selector = selector_of(set_);
    if (!selector) return std::move(plan_);
    const Claim claimed = claim(view_, resources::kPods, set_, *selector);
    settle_claim(plan_, resources::kPods, claimed, set_, "apps/v1", "DaemonSet");
    for (const Json* node : view_.all(resources::kNodes))
      places_[std::string(api::name_of(*node))].fit = fit_for(pod_spec_, *node);
    for (const auto* list : {&claimed.owned, &claimed.adopt})
      for (const Json* pod : *list)
        if (const std::string node = node_of(*pod); !node.empty()) places_[node].pods.push_back(pod);
    pauses_.begin_look(turn_.now);
    for (auto& [node, place] : places_) {
      for (const Json* pod : place.pods) pauses_.see(node, *pod);
      std::ranges::stable_sort(place.pods, [](const Json* a, const Json* b) {
        return time_in((*a)["metadata"]["creationTimestamp"]) < time_in((*b)["metadata"]["creationTimestamp"]);
      });
      desired_ += place.fit.runs;
    }
    pauses_.end_look();
    find_revision(claimed.owned);
    if (!api::is_deleting(set_)) {
      for (const auto& [node, place] : places_) keep(node, place);
      if (spec_["updateStrategy"]["type"].as_string() != "OnDelete") roll();
    }
    say();
    return std::move(plan_);
  }

 private:
  // --- revisions ---

  Json data_of_template() const {
    Json whole = spec_["template"];
    whole.set("$patch", "replace");  // as a patch of the set, it takes the place of what is there
    return Json::object({{"spec", Json::object({{"template", std::move(whole)}})}});
  }

  // A ControllerRevision for each template, the newest with the highest number.
  void find_revision(const std::vector<const Json*>& pods) {
    const Json data = data_of_template();
    const std::vector<const Json*> all = revisions_of(view_, set_, "DaemonSet", plan_);
    const std::int64_t highest = all.empty() ? 0 : (*all.back())["revision"].as_int();
    const std::int64_t next = base::saturating_add(highest, 1);
    const Json* present = nullptr;
    for (const Json* one : all)
      if (api::same_as_written(api::core_schema("core.v1.PodTemplateSpec"), (*one)["data"]["spec"]["template"],
                               data["spec"]["template"]))
        present = one;
    if (present == nullptr) {
      hash_ = hash_text(hash_of(data.sorted().dump()), 10);
      create_revision(data, next);
    } else {
      hash_ = api::label_of(*present, kHashLabel);
      if ((*present)["revision"].as_int() < highest) {  // a rollback
        plan_.patch(kControllerRevisions, *present, client::PatchType::kMerge, Json::object({{"revision", next}}));
        plan_.begin_stage();
      }
    }
    drop_old(all, pods);
  }

  void create_revision(const Json& data, std::int64_t number) {
    Json labels = spec_["template"]["metadata"]["labels"];
    labels.set(kHashLabel, hash_);
    Json metadata = Json::object({{"name", base::format("{}-{}", api::name_of(set_), hash_)},
                                  {"namespace", api::namespace_of(set_)},
                                  {"labels", std::move(labels)},
                                  {"ownerReferences", Json::array({owner_reference(set_, "apps/v1", "DaemonSet")})}});
    if (const std::string_view cause = api::annotation_of(set_, kChangeCause); !cause.empty())
      metadata.set("annotations", Json::object({{kChangeCause, cause}}));
    plan_.create(kControllerRevisions, Json::object({{"apiVersion", "apps/v1"},
                                                     {"kind", "ControllerRevision"},
                                                     {"metadata", std::move(metadata)},
                                                     {"data", data},
                                                     {"revision", number}}));
    plan_.begin_stage();
  }

  void drop_old(const std::vector<const Json*>& all, const std::vector<const Json*>& pods) {
    std::vector<const Json*> idle;
    for (const Json* one : all) {
      const std::string_view hash = api::label_of(*one, kHashLabel);
      const bool used = hash == hash_ || std::ranges::any_of(pods, [&](const Json* pod) {
                          return api::label_of(*pod, kHashLabel) == hash;
                        });
      if (!used) idle.push_back(one);
    }
    const std::int64_t limit = std::max<std::int64_t>(0, spec_["revisionHistoryLimit"].as_int(10));
    for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < idle.size(); ++i)
      plan_.remove(kControllerRevisions, *idle[i]);
  }

  // --- pods ---

  bool is_new(const Json& pod) const { return api::label_of(pod, kHashLabel) == hash_; }
  bool is_available(const Json& pod) const {
    const std::int64_t min_ready = spec_["minReadySeconds"].as_int();
    const auto from = available_at(pod, min_ready);
    return from && (min_ready <= 0 || *from <= turn_.now);
  }
  bool surges() const { return surge_max() > 0; }
  std::int64_t surge_max() const {
    if (spec_["updateStrategy"]["type"].as_string() == "OnDelete") return 0;
    return part_of(spec_["updateStrategy"]["rollingUpdate"]["maxSurge"], desired_);
  }

  // A pod where one belongs, and no other.
  void keep(const std::string& node, const Place& place) {
    if (!place.fit.stays && !place.fit.runs) {
      for (const Json* pod : place.pods) remove(*pod);
      return;
    }
    if (place.pods.empty()) {
      if (place.fit.runs) create(node);
      return;
    }
    const Json* kept[2] = {};  // of an older template, and of this one
    for (const Json* pod : place.pods) {
      if (api::is_deleting(*pod)) continue;
      if (is_over(*pod)) {
        replace_ended(node, *pod);
        continue;
      }
      const Json*& slot = kept[surges() && is_new(*pod) ? 1 : 0];
      if (slot == nullptr)
        slot = pod;
      else
        remove(*pod);  // a younger one of its kind
    }
  }

  void replace_ended(const std::string& node, const Json& pod) {
    const bool failed = pod["status"]["phase"].as_string() == "Failed";
    if (const base::Duration rest = failed_rest(pod, turn_.now); rest > base::Duration{})
      return plan_.requeue_after(rest);
    plan_.event(set_, failed ? "Warning" : "Normal", failed ? "FailedDaemonPod" : "SucceededDaemonPod",
                base::format("Found {} daemon pod {} on node {}, will try to {} it", failed ? "failed" : "succeeded",
                             api::key_of(pod), node, failed ? "kill" : "delete"));
    remove(pod);
  }

  void create(const std::string& node) {
    if (const base::Duration left = pauses_.left(node, turn_.now); left > base::Duration{})
      return plan_.requeue_after(left);
    // After a failure one at a time, so that a quota is not asked for each node.
    if (made_ == (turn_.failures > 0 ? 1 : kBurstMax)) return;
    const std::string name =
        fresh_name(view_, resources::kPods, set_, api::name_of(set_), turn_.now, static_cast<std::size_t>(made_++));
    Json pod = pod_from(spec_["template"], set_, "apps/v1", "DaemonSet", name);
    pod.edit("metadata").edit("labels").set(kHashLabel, hash_);
    pod.set("spec", spec_for_node(pod_spec_, node));
    Action& action = plan_.create(resources::kPods, std::move(pod));
    action.success_reason = "SuccessfulCreate";
    action.success_text = base::format("Created pod: {}", name);
    action.failure_reason = "FailedCreate";
    action.failure_text = "Error creating: {}";
    action.stops_nothing = true;  // the status goes on to say what there is
  }

  void remove(const Json& pod) {
    if (api::is_deleting(pod)) return;
    pauses_.forget(api::uid_of(pod));
    Action& action = plan_.remove(resources::kPods, pod);
    action.success_reason = "SuccessfulDelete";
    action.success_text = base::format("Deleted pod: {}", api::name_of(pod));
  }

  // --- the turn to a new template ---

  // For a node that is as it should be but for the template: at most one pod of each. False: it is being put in order.
  bool find_pair(const Place& place, const Json*& old_pod, const Json*& new_pod) const {
    for (const Json* pod : place.pods) {
      if (is_over(*pod)) return false;
      const Json*& slot = is_new(*pod) ? new_pod : old_pod;
      if (slot != nullptr) return false;
      slot = pod;
    }
    return true;
  }

  void roll() {
    std::int64_t unavailable_max = part_of(spec_["updateStrategy"]["rollingUpdate"]["maxUnavailable"], desired_);
    const std::int64_t surge = surge_max();
    if (unavailable_max == 0 && surge == 0) unavailable_max = 1;
    if (surge > 0)
      roll_by_surge(surge);
    else
      roll_in_place(unavailable_max);
  }

  void roll_in_place(std::int64_t unavailable_max) {
    std::int64_t unavailable = 0;
    std::vector<const Json*> candidates;
    for (const auto& [node, place] : places_) {
      if (!place.fit.runs) continue;
      const Json *old_pod = nullptr, *new_pod = nullptr;
      if (!find_pair(place, old_pod, new_pod)) {
        ++unavailable;
      } else if (old_pod == nullptr) {
        unavailable += new_pod == nullptr || !is_available(*new_pod);
      } else if (new_pod != nullptr) {
        continue;  // left over from a surge
      } else if (api::is_deleting(*old_pod)) {
        ++unavailable;
      } else if (!is_available(*old_pod)) {
        remove(*old_pod);  // it serves nobody
      } else {
        candidates.push_back(old_pod);
      }
    }
    for (const Json* pod : candidates) {
      if (unavailable++ >= unavailable_max) return;
      remove(*pod);
    }
  }

  void roll_by_surge(std::int64_t surge_max) {
    std::int64_t surging = 0;
    std::vector<const std::string*> candidates;
    for (const auto& [node, place] : places_) {
      if (!place.fit.runs) continue;
      const Json *old_pod = nullptr, *new_pod = nullptr;
      if (!find_pair(place, old_pod, new_pod) || old_pod == nullptr) continue;
      if (new_pod == nullptr) {
        if (api::is_deleting(*old_pod) || !is_available(*old_pod))
          create(node);
        else
          candidates.push_back(&node);
      } else if (is_available(*new_pod)) {
        remove(*old_pod);
      } else {
        ++surging;
      }
    }
    for (const std::string* node : candidates) {
      if (surging++ >= surge_max) return;
      create(*node);
    }
  }

  // --- what it says ---

  void say() {
    std::int64_t current = 0, misplaced = 0, ready = 0, available = 0, updated = 0;
    const std::int64_t min_ready = spec_["minReadySeconds"].as_int();
    for (const auto& [node, place] : places_) {
      if (!place.fit.runs) {
        misplaced += !place.pods.empty();
        continue;
      }
      if (place.pods.empty()) continue;
      ++current;
      const Json& pod = *place.pods.front();
      updated += is_new(pod);
      const auto from = available_at(pod, min_ready);
      if (!from) continue;
      ++ready;
      if (is_available(pod))
        ++available;
      else
        plan_.requeue_after(*from - turn_.now);
    }
    Json status = set_["status"].is_object() ? set_["status"] : Json::object();
    status.set("observedGeneration", set_["metadata"]["generation"]);
    status.set("currentNumberScheduled", current);
    status.set("desiredNumberScheduled", desired_);
    status.set("numberMisscheduled", misplaced);
    status.set("numberReady", ready);
    set_count(status, "numberAvailable", available);
    set_count(status, "numberUnavailable", desired_ - available);
    set_count(status, "updatedNumberScheduled", updated);
    plan_.begin_stage();
    write_status(plan_, kDaemonSets, set_, std::move(status), turn_);
  }

  const View& view_;
  const Json& set_;
  const Json& spec_;
  const Turn& turn_;
  RestartPauses& pauses_;  // by node
  Json pod_spec_;          // of the template, for any node
  Plan plan_;
  std::map<std::string, Place> places_;  // by the node's name
  std::int64_t desired_ = 0;             // nodes that a pod belongs on
  std::int64_t made_ = 0;
  std::string hash_;  // of the template
};

// The fields that decide where pods belong; the rest of a node changes all the time.
bool node_matters(const Json* before, const Json* after) {
  if (before == nullptr || after == nullptr) return true;
  return !((*before)["metadata"]["labels"] == (*after)["metadata"]["labels"]) ||
         !((*before)["spec"]["taints"] == (*after)["spec"]["taints"]);
}

class DaemonSetController final : public Controller {
 public:
  std::string_view name() const override { return "daemonset-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "create patch delete"},
            {kControllerRevisions, "create patch delete"},
            {kDaemonSets, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto of_set = [](const View& view, const Json& object) {
      return owners_of(view, object, kDaemonSets, "DaemonSet");
    };
    const auto all_sets = [](const View& view, const Json&) {
      Keys keys;
      for (const Json* set : view.all(kDaemonSets)) keys.push_back(api::key_of(*set));
      return keys;
    };
    return {{kDaemonSets, [](const View&, const Json& set) { return Keys{api::key_of(set)}; }},
            {resources::kPods, of_set},
            {kControllerRevisions, of_set},
            {resources::kNodes, all_sets, node_matters}};
  }
  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> all = ownership_indexes(resources::kPods);
    for (IndexBy& index : ownership_indexes(kControllerRevisions)) all.push_back(std::move(index));
    return all;
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* set = view.find(kDaemonSets, key);
    if (set != nullptr) return DaemonSetStep(view, *set, turn, pauses_.of(key)).take();
    pauses_.forget(key);
    return {};
  }

 private:
  PausesByOwner pauses_;
};

}  // namespace

std::unique_ptr<Controller> make_daemon_set_controller() { return std::make_unique<DaemonSetController>(); }

}  // namespace controllers::workloads
