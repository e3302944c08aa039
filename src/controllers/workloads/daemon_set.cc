// One step of a DaemonSet: its revisions, a pod for each node, the turn from one template to the next, its counts.
#include "controllers/workloads/daemon_set.h"

#include <algorithm>
#include <functional>
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

// All that a look at a DaemonSet may see.
struct ObservedDaemonSet {
  const Json& set;
  Claim claimed;  // its pods
  Revisions revisions;
  std::vector<const Json*> nodes;
  std::function<bool(std::string_view name)> is_taken;  // whether some pod of its namespace has a name
};

// The facts that a look goes by.
struct Daemons {
  const ObservedDaemonSet& seen;
  const Json& set;
  const Json& spec;
  const Turn& turn;
  Json pod_spec;                             // of the template, for any node
  std::map<std::string, Place> places = {};  // by the node's name
  std::int64_t desired = 0;                  // nodes that a pod belongs on
  std::string hash = {};                     // of the template
};

// The writes of one look, as far as they are decided.
struct DaemonsDraft {
  RestartPauses& pauses;  // by node
  Plan plan = {};
  std::int64_t made = 0;
};

Daemons daemons_of(const ObservedDaemonSet& seen, const Turn& turn) {
  const Json& spec = seen.set["spec"];
  Daemons at{.seen = seen, .set = seen.set, .spec = spec, .turn = turn, .pod_spec = daemon_pod_spec(spec["template"])};
  for (const Json* node : seen.nodes) at.places[std::string(api::name_of(*node))].fit = fit_for(at.pod_spec, *node);
  for (const auto* list : {&seen.claimed.owned, &seen.claimed.adopt})
    for (const Json* pod : *list)
      if (const std::string node = node_of(*pod); !node.empty()) at.places[node].pods.push_back(pod);
  for (auto& [node, place] : at.places) {
    std::ranges::stable_sort(place.pods, [](const Json* a, const Json* b) {
      return time_in((*a)["metadata"]["creationTimestamp"]) < time_in((*b)["metadata"]["creationTimestamp"]);
    });
    at.desired += place.fit.runs;
  }
  return at;
}

Json data_of(const Json& pod_template) {
  Json whole = pod_template;
  whole.set("$patch", "replace");  // as a patch of the set, it takes the place of what is there
  return Json::object({{"spec", Json::object({{"template", std::move(whole)}})}});
}

void create_revision(const Daemons& at, const Json& data, std::int64_t number, Plan& plan) {
  Json labels = at.spec["template"]["metadata"]["labels"];
  labels.set(kHashLabel, at.hash);
  Json metadata = Json::object({{"name", base::format("{}-{}", api::name_of(at.set), at.hash)},
                                {"namespace", api::namespace_of(at.set)},
                                {"labels", std::move(labels)},
                                {"ownerReferences", Json::array({owner_reference(at.set, "apps/v1", "DaemonSet")})}});
  if (const std::string_view cause = api::annotation_of(at.set, kChangeCause); !cause.empty())
    metadata.set("annotations", Json::object({{kChangeCause, cause}}));
  plan.create(kControllerRevisions, Json::object({{"apiVersion", "apps/v1"},
                                                  {"kind", "ControllerRevision"},
                                                  {"metadata", std::move(metadata)},
                                                  {"data", data},
                                                  {"revision", number}}));
  plan.begin_stage();
}

void drop_old(const Daemons& at, const std::vector<const Json*>& all, Plan& plan) {
  std::vector<const Json*> idle;
  for (const Json* one : all) {
    const std::string_view hash = api::label_of(*one, kHashLabel);
    const bool used = hash == at.hash || std::ranges::any_of(at.seen.claimed.owned, [&](const Json* pod) {
                        return api::label_of(*pod, kHashLabel) == hash;
                      });
    if (!used) idle.push_back(one);
  }
  const std::int64_t limit = std::max<std::int64_t>(0, at.spec["revisionHistoryLimit"].as_int(10));
  for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < idle.size(); ++i)
    plan.remove(kControllerRevisions, *idle[i]);
}

// A ControllerRevision for each template, the newest with the highest number.
void find_revision(Daemons& at, DaemonsDraft& draft) {
  const Json data = data_of(at.spec["template"]);
  const std::vector<const Json*> all = settle_revisions(draft.plan, at.seen.revisions, at.set, "DaemonSet");
  const std::int64_t highest = all.empty() ? 0 : (*all.back())["revision"].as_int();
  const std::int64_t next = base::saturating_add(highest, 1);
  const Json* present = nullptr;
  for (const Json* one : all)
    if (api::same_as_written(api::core_schema("core.v1.PodTemplateSpec"), (*one)["data"]["spec"]["template"],
                             data["spec"]["template"]))
      present = one;
  if (present == nullptr) {
    at.hash = hash_text(hash_of(data.sorted().dump()), 10);
    create_revision(at, data, next, draft.plan);
  } else {
    at.hash = api::label_of(*present, kHashLabel);
    if ((*present)["revision"].as_int() < highest) {  // a rollback
      draft.plan.patch(kControllerRevisions, *present, client::PatchType::kMerge, Json::object({{"revision", next}}));
      draft.plan.begin_stage();
    }
  }
  drop_old(at, all, draft.plan);
}

bool is_new(const Daemons& at, const Json& pod) { return api::label_of(pod, kHashLabel) == at.hash; }

bool is_available(const Daemons& at, const Json& pod) {
  const std::int64_t min_ready = at.spec["minReadySeconds"].as_int();
  const auto from = available_at(pod, min_ready);
  return from && (min_ready <= 0 || *from <= at.turn.now);
}

std::int64_t surge_max(const Daemons& at) {
  if (at.spec["updateStrategy"]["type"].as_string() == "OnDelete") return 0;
  return part_of(at.spec["updateStrategy"]["rollingUpdate"]["maxSurge"], at.desired);
}

bool surges(const Daemons& at) { return surge_max(at) > 0; }

void remove(const Json& pod, DaemonsDraft& draft) {
  if (api::is_deleting(pod)) return;
  draft.pauses.forget(api::uid_of(pod));
  Action& action = draft.plan.remove(resources::kPods, pod);
  action.success_reason = "SuccessfulDelete";
  action.success_text = base::format("Deleted pod: {}", api::name_of(pod));
}

void replace_ended(const Daemons& at, const std::string& node, const Json& pod, DaemonsDraft& draft) {
  const bool failed = pod["status"]["phase"].as_string() == "Failed";
  if (const base::Duration rest = failed_rest(pod, at.turn.now); rest > base::Duration{})
    return draft.plan.requeue_after(rest);
  draft.plan.event(at.set, failed ? "Warning" : "Normal", failed ? "FailedDaemonPod" : "SucceededDaemonPod",
                   base::format("Found {} daemon pod {} on node {}, will try to {} it", failed ? "failed" : "succeeded",
                                api::key_of(pod), node, failed ? "kill" : "delete"));
  remove(pod, draft);
}

void create(const Daemons& at, const std::string& node, DaemonsDraft& draft) {
  if (const base::Duration left = draft.pauses.left(node, at.turn.now); left > base::Duration{})
    return draft.plan.requeue_after(left);
  // After a failure one at a time, so that a quota is not asked for each node.
  if (draft.made == (at.turn.failures > 0 ? 1 : kBurstMax)) return;
  const std::string name =
      fresh_name(at.seen.is_taken, at.set, api::name_of(at.set), at.turn.now, static_cast<std::size_t>(draft.made++));
  Json pod = pod_from(at.spec["template"], at.set, "apps/v1", "DaemonSet", name);
  pod.edit("metadata").edit("labels").set(kHashLabel, at.hash);
  pod.set("spec", spec_for_node(at.pod_spec, node));
  Action& action = draft.plan.create(resources::kPods, std::move(pod));
  set_creation_events(action, std::move(name));
  action.stops_nothing = true;  // the status goes on to say what there is
}

// A pod where one belongs, and no other.
void keep(const Daemons& at, const std::string& node, const Place& place, DaemonsDraft& draft) {
  if (!place.fit.stays && !place.fit.runs) {
    for (const Json* pod : place.pods) remove(*pod, draft);
    return;
  }
  if (place.pods.empty()) {
    if (place.fit.runs) create(at, node, draft);
    return;
  }
  const Json* kept[2] = {};  // of an older template, and of this one
  for (const Json* pod : place.pods) {
    if (api::is_deleting(*pod)) continue;
    if (is_over(*pod)) {
      replace_ended(at, node, *pod, draft);
      continue;
    }
    const Json*& slot = kept[surges(at) && is_new(at, *pod) ? 1 : 0];
    if (slot == nullptr)
      slot = pod;
    else
      remove(*pod, draft);  // a younger one of its kind
  }
}

// For a node that is as it should be but for the template: at most one pod of each. False: it is being put in order.
bool find_pair(const Daemons& at, const Place& place, const Json*& old_pod, const Json*& new_pod) {
  for (const Json* pod : place.pods) {
    if (is_over(*pod)) return false;
    const Json*& slot = is_new(at, *pod) ? new_pod : old_pod;
    if (slot != nullptr) return false;
    slot = pod;
  }
  return true;
}

void roll_in_place(const Daemons& at, std::int64_t unavailable_max, DaemonsDraft& draft) {
  std::int64_t unavailable = 0;
  std::vector<const Json*> candidates;
  for (const auto& [node, place] : at.places) {
    if (!place.fit.runs) continue;
    const Json *old_pod = nullptr, *new_pod = nullptr;
    if (!find_pair(at, place, old_pod, new_pod)) {
      ++unavailable;
    } else if (old_pod == nullptr) {
      unavailable += new_pod == nullptr || !is_available(at, *new_pod);
    } else if (new_pod != nullptr) {
      continue;  // left over from a surge
    } else if (api::is_deleting(*old_pod)) {
      ++unavailable;
    } else if (!is_available(at, *old_pod)) {
      remove(*old_pod, draft);  // it serves nobody
    } else {
      candidates.push_back(old_pod);
    }
  }
  for (const Json* pod : candidates) {
    if (unavailable++ >= unavailable_max) return;
    remove(*pod, draft);
  }
}

void roll_by_surge(const Daemons& at, std::int64_t surging_max, DaemonsDraft& draft) {
  std::int64_t surging = 0;
  std::vector<const std::string*> candidates;
  for (const auto& [node, place] : at.places) {
    if (!place.fit.runs) continue;
    const Json *old_pod = nullptr, *new_pod = nullptr;
    if (!find_pair(at, place, old_pod, new_pod) || old_pod == nullptr) continue;
    if (new_pod == nullptr) {
      if (api::is_deleting(*old_pod) || !is_available(at, *old_pod))
        create(at, node, draft);
      else
        candidates.push_back(&node);
    } else if (is_available(at, *new_pod)) {
      remove(*old_pod, draft);
    } else {
      ++surging;
    }
  }
  for (const std::string* node : candidates) {
    if (surging++ >= surging_max) return;
    create(at, *node, draft);
  }
}

void roll(const Daemons& at, DaemonsDraft& draft) {
  std::int64_t unavailable_max = part_of(at.spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"], at.desired);
  const std::int64_t surge = surge_max(at);
  if (unavailable_max == 0 && surge == 0) unavailable_max = 1;
  if (surge > 0)
    roll_by_surge(at, surge, draft);
  else
    roll_in_place(at, unavailable_max, draft);
}

void write_counts(const Daemons& at, DaemonsDraft& draft) {
  std::int64_t current = 0, misplaced = 0, ready = 0, available = 0, updated = 0;
  const std::int64_t min_ready = at.spec["minReadySeconds"].as_int();
  for (const auto& [node, place] : at.places) {
    if (!place.fit.runs) {
      misplaced += !place.pods.empty();
      continue;
    }
    if (place.pods.empty()) continue;
    ++current;
    const Json& pod = *place.pods.front();
    updated += is_new(at, pod);
    const auto from = available_at(pod, min_ready);
    if (!from) continue;
    ++ready;
    if (is_available(at, pod))
      ++available;
    else
      draft.plan.requeue_after(*from - at.turn.now);
  }
  Json status = at.set["status"].is_object() ? at.set["status"] : Json::object();
  status.set("observedGeneration", at.set["metadata"]["generation"]);
  status.set("currentNumberScheduled", current);
  status.set("desiredNumberScheduled", at.desired);
  status.set("numberMisscheduled", misplaced);
  status.set("numberReady", ready);
  set_count(status, "numberAvailable", available);
  set_count(status, "numberUnavailable", at.desired - available);
  set_count(status, "updatedNumberScheduled", updated);
  draft.plan.begin_stage();
  write_status(draft.plan, kDaemonSets, at.set, std::move(status), at.turn);
}

Plan decide(const ObservedDaemonSet& seen, const Turn& turn, RestartPauses& pauses) {
  DaemonsDraft draft{.pauses = pauses};
  draft.plan.set_subject(seen.set);
  settle_claim(draft.plan, resources::kPods, seen.claimed, seen.set, "apps/v1", "DaemonSet");
  Daemons at = daemons_of(seen, turn);
  pauses.begin_look(turn.now);
  for (const auto* list : {&seen.claimed.owned, &seen.claimed.adopt})
    for (const Json* pod : *list)
      if (const std::string node = node_of(*pod); !node.empty()) pauses.see(node, *pod);
  pauses.end_look();
  find_revision(at, draft);
  if (!api::is_deleting(seen.set)) {
    for (const auto& [node, place] : at.places) keep(at, node, place, draft);
    if (at.spec["updateStrategy"]["type"].as_string() != "OnDelete") roll(at, draft);
  }
  write_counts(at, draft);
  return std::move(draft.plan);
}

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
    if (set == nullptr) {
      pauses_.forget(key);
      return {};
    }
    const auto selector = selector_of(*set);
    if (!selector) return {};
    return decide({.set = *set,
                   .claimed = claim(view, resources::kPods, *set, *selector),
                   .revisions = revisions_of(view, *set),
                   .nodes = view.all(resources::kNodes),
                   .is_taken = names_taken(view, resources::kPods, *set)},
                  turn, pauses_.of(key));
  }

 private:
  PausesByOwner pauses_;
};

}  // namespace

std::unique_ptr<Controller> make_daemon_set_controller() { return std::make_unique<DaemonSetController>(); }

}  // namespace controllers::workloads
