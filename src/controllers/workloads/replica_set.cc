// One step of a ReplicaSet: adopt and release, make or delete pods, say how many there are.
#include "controllers/workloads/replica_set.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>

#include "base/format.h"
#include "controllers/framework/restart_pauses.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::size_t kBurstMax = 500;  // pods made or deleted in one plan

int stage_of(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Running" ? 2 : phase == "Unknown" ? 1 : 0;
}

std::int64_t deletion_cost(const Json& pod) {
  const std::string_view text = api::annotation_of(pod, "controller.kubernetes.io/pod-deletion-cost");
  const auto value = api::parse_json(text.empty() ? "0" : text);
  return value.ok() ? value->as_int() : 0;
}

std::int64_t restarts_of(const Json& pod) {
  std::int64_t most = 0;
  for (const Json& status : pod["status"]["containerStatuses"].items())
    most = std::max(most, status["restartCount"].as_int());
  return most;
}

// Ages that differ by less than a factor of two count as equal, so that not always the newest pods go.
int age_class(base::Time since, base::Time now) {
  const std::int64_t seconds = std::max<std::int64_t>(0, (now - since).ns / 1'000'000'000);
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(seconds)));
}

// Younger first. An unset time is younger than any.
int compare_age(base::Time a, base::Time b, base::Time now) {
  if (a.is_set() != b.is_set()) return a.is_set() ? 1 : -1;
  return age_class(a, now) - age_class(b, now);
}

// All that a look at a ReplicaSet, or a ReplicationController, may see.
struct ObservedReplicaSet {
  const Json& set;
  const api::ResourceId& resource;
  std::string_view kind;
  Claim claimed;                                             // its pods
  std::optional<std::vector<const Json*>> related = {};      // pods of all sets of its controller, if it has one
  std::function<bool(std::string_view name)> is_taken = {};  // whether some pod of its namespace has a name
};

// The counts of its pods by what is to become of them.
struct Replicas {
  std::vector<const Json*> active = {};
  std::int64_t terminating = 0;
  std::int64_t resting = 0;  // failed pods whose place is not filled yet
  std::int64_t missing = 0;  // below zero: a surplus
};

Replicas count_replicas(const ObservedReplicaSet& seen, base::Time now, Plan& plan) {
  Replicas counted;
  for (const auto* list : {&seen.claimed.owned, &seen.claimed.adopt})
    for (const Json* pod : *list) {
      if (is_active(*pod)) counted.active.push_back(pod);
      if (const base::Duration rest = failed_rest(*pod, now); rest > base::Duration{}) {
        ++counted.resting;
        plan.requeue_after(rest);
      }
      if (api::is_deleting(*pod) && !is_over(*pod)) ++counted.terminating;
    }
  counted.missing = seen.set["spec"]["replicas"].as_int(1) - static_cast<std::int64_t>(counted.active.size());
  return counted;
}

// COMPAT(workload-writes): all at once; after a failure slowly, so that a quota is not asked a hundred times.
void create_pods(const ObservedReplicaSet& seen, std::size_t missing, const Turn& turn, Plan& plan) {
  const Json& set = seen.set;
  const std::size_t count = std::min(missing, kBurstMax);
  std::size_t batch = turn.failures > 0 ? 1 : count;
  for (std::size_t made = 0; made < count; batch *= 2) {
    if (made > 0) plan.begin_stage();
    for (std::size_t i = 0; i < batch && made < count; ++i, ++made) {
      std::string name = fresh_name(seen.is_taken, set, api::name_of(set), turn.now, made);
      Action& action = plan.create(
          resources::kPods, pod_from(set["spec"]["template"], set, seen.resource.api_version(), seen.kind, name));
      action.body.edit("metadata").set("generateName", base::format("{}-", api::name_of(set)));
      set_creation_events(action, std::move(name));
      action.stops_nothing = turn.failures == 0;
    }
  }
}

// Pods that share their node with others of the same Deployment go first.
void remove_pods(const ObservedReplicaSet& seen, const Replicas& counted, base::Time now, RestartPauses& pauses,
                 Plan& plan) {
  std::map<std::string, std::size_t, std::less<>> together;
  for (const Json* pod : seen.related ? *seen.related : counted.active)
    if (is_active(*pod)) ++together[(*pod)["spec"]["nodeName"].str()];
  std::vector<Candidate> candidates;
  for (const Json* pod : counted.active) candidates.push_back({pod, together[(*pod)["spec"]["nodeName"].str()]});
  std::ranges::stable_sort(candidates, [&](const Candidate& a, const Candidate& b) { return goes_before(a, b, now); });
  const auto surplus = static_cast<std::size_t>(-counted.missing);
  for (std::size_t i = 0; i < std::min({surplus, candidates.size(), kBurstMax}); ++i) {
    pauses.forget(api::uid_of(*candidates[i].pod));
    Action& action = plan.remove(resources::kPods, *candidates[i].pod);
    action.success_reason = "SuccessfulDelete";
    action.success_text = "Deleted pod: {}";
    action.success_name = std::string(api::name_of(*candidates[i].pod));
    action.failure_reason = "FailedDelete";
    action.failure_text = "Error deleting: {}";
    action.stops_nothing = true;
  }
}

void set_failure(const Turn& turn, std::int64_t missing, Json& status) {
  const Json before = condition_of(status, "ReplicaFailure");
  Json kept = Json::array();
  for (const Json& condition : status["conditions"].items())
    if (condition["type"].as_string() != "ReplicaFailure") kept.push_back(condition);
  if (turn.failures > 0 && missing != 0) {
    const char* reason = missing > 0 ? "FailedCreate" : "FailedDelete";
    const bool same = before["reason"].as_string() == reason;
    kept.push_back(same ? before
                        : Json::object({{"type", "ReplicaFailure"},
                                        {"status", "True"},
                                        {"reason", reason},
                                        {"message", turn.error},
                                        {"lastTransitionTime", base::format_rfc3339(turn.now)}}));
  }
  status.erase("conditions");
  if (!kept.empty()) status.set("conditions", std::move(kept));
}

Json status_of(const ObservedReplicaSet& seen, const Replicas& counted, const Turn& turn, Plan& plan) {
  const Json& set = seen.set;
  const Json& labels = set["spec"]["template"]["metadata"]["labels"];
  const std::int64_t min_ready = set["spec"]["minReadySeconds"].as_int();
  std::int64_t labelled = 0, ready = 0, available = 0;
  for (const Json* pod : counted.active) {
    bool all = true;
    for (const Json::Member& label : labels.members())
      all = all && (*pod)["metadata"]["labels"][label.name()] == label.value;
    labelled += all;
    ready += is_ready(*pod);
    const auto from = available_at(*pod, min_ready);
    if (!from) continue;
    if (*from <= turn.now || min_ready <= 0)
      ++available;
    else
      plan.requeue_after(*from - turn.now);
  }
  Json status = set["status"].is_object() ? set["status"] : Json::object();
  status.set("replicas", static_cast<std::int64_t>(counted.active.size()));
  set_count(status, "fullyLabeledReplicas", labelled);
  set_count(status, "readyReplicas", ready);
  set_count(status, "availableReplicas", available);
  if (seen.kind == "ReplicaSet") status.set("terminatingReplicas", counted.terminating);
  status.set("observedGeneration", set["metadata"]["generation"]);
  set_failure(turn, counted.missing, status);
  return status;
}

// `pauses`: of all its pods together.
Plan decide(const ObservedReplicaSet& seen, const Turn& turn, RestartPauses& pauses) {
  Plan plan;
  plan.set_subject(seen.set);
  settle_claim(plan, resources::kPods, seen.claimed, seen.set, seen.resource.api_version(), seen.kind);
  pauses.begin_look(turn.now);
  for (const auto* list : {&seen.claimed.owned, &seen.claimed.adopt})
    for (const Json* pod : *list) pauses.see({}, *pod);
  pauses.end_look();
  const Replicas counted = count_replicas(seen, turn.now, plan);
  std::int64_t due =
      counted.missing > 0 ? std::max<std::int64_t>(0, counted.missing - counted.resting) : counted.missing;
  if (const base::Duration left = pauses.left({}, turn.now); due > 0 && left > base::Duration{}) {
    due = 0;
    plan.requeue_after(left);
  }
  const bool acts = due != 0 && !api::is_deleting(seen.set);
  // The requests of this turn change the numbers, so the status waits until they show; but a failure is written first,
  // since it stops what comes after.
  if (!acts || turn.failures > 0)
    write_status(plan, seen.resource, seen.set, status_of(seen, counted, turn, plan), turn);
  plan.begin_stage();
  if (acts && due > 0) create_pods(seen, static_cast<std::size_t>(due), turn, plan);
  if (acts && due < 0) remove_pods(seen, counted, turn.now, pauses, plan);
  return plan;
}

// The pods of all sets with the same controller: those of one Deployment. Unset: the set has no controller.
std::optional<std::vector<const Json*>> related_pods(const View& view, const api::ResourceId& resource,
                                                     const Json& set) {
  const Json& owner = api::controller_of(set);
  if (owner.is_null()) return {};
  std::vector<const Json*> pods;
  for (const Json* sister : controlled_by(view, resource, api::namespace_of(set), owner["uid"].as_string()))
    for (const Json* pod : controlled_by(view, resources::kPods, *sister)) pods.push_back(pod);
  return pods;
}

class ReplicaSetController final : public Controller {
 public:
  ReplicaSetController(const api::ResourceId& resource, std::string_view kind, std::string_view name)
      : resource_(resource), kind_(kind), name_(name) {}

  std::string_view name() const override { return name_; }
  std::string_view component() const override { return kind_ == "ReplicaSet" ? name_ : "replication-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "create patch delete"}, {resource_, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{resource_, [](const View&, const Json& set) { return Keys{api::key_of(set)}; }},
            {resources::kPods,
             [this](const View& view, const Json& pod) { return owners_of(view, pod, resource_, kind_); }}};
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> all = ownership_indexes(resources::kPods);
    for (IndexBy& index : ownership_indexes(resource_)) all.push_back(std::move(index));
    return all;
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* set = view.find(resource_, key);
    if (set == nullptr) {
      pauses_.forget(key);
      return {};
    }
    const auto selector = selector_of(*set);
    if (!selector) return {};
    ObservedReplicaSet seen{.set = *set,
                            .resource = resource_,
                            .kind = kind_,
                            .claimed = claim(view, resources::kPods, *set, *selector),
                            .is_taken = names_taken(view, resources::kPods, *set)};
    // Read only where some pod may have to go: a Deployment may have many sets.
    const std::size_t pods = seen.claimed.owned.size() + seen.claimed.adopt.size();
    if (static_cast<std::int64_t>(pods) > (*set)["spec"]["replicas"].as_int(1))
      seen.related = related_pods(view, resource_, *set);
    return decide(seen, turn, pauses_.of(key));
  }

 private:
  PausesByOwner pauses_;
  const api::ResourceId& resource_;
  std::string_view kind_;
  std::string_view name_;
};

}  // namespace

bool goes_before(const Candidate& a, const Candidate& b, base::Time now) {
  const Json& one = *a.pod;
  const Json& other = *b.pod;
  const bool placed = !one["spec"]["nodeName"].as_string().empty();
  if (placed != !other["spec"]["nodeName"].as_string().empty()) return !placed;
  if (const int by = stage_of(one) - stage_of(other); by != 0) return by < 0;
  const bool ready = is_ready(one);
  if (ready != is_ready(other)) return !ready;
  const std::int64_t cost = deletion_cost(one), other_cost = deletion_cost(other);
  if (cost != other_cost) return cost < other_cost;
  if (a.together != b.together) return a.together > b.together;
  if (ready) {
    const int by = compare_age(time_in(ready_condition(one)["lastTransitionTime"]),
                               time_in(ready_condition(other)["lastTransitionTime"]), now);
    if (by != 0) return by < 0;
  }
  if (restarts_of(one) != restarts_of(other)) return restarts_of(one) > restarts_of(other);
  const int by =
      compare_age(time_in(one["metadata"]["creationTimestamp"]), time_in(other["metadata"]["creationTimestamp"]), now);
  return by != 0 ? by < 0 : api::uid_of(one) < api::uid_of(other);
}

std::unique_ptr<Controller> make_replica_set_controller() {
  return std::make_unique<ReplicaSetController>(resources::kReplicaSets, "ReplicaSet", "replicaset-controller");
}
std::unique_ptr<Controller> make_replication_controller() {
  return std::make_unique<ReplicaSetController>(resources::kReplicationControllers, "ReplicationController",
                                                "replicationcontroller-controller");
}

}  // namespace controllers::workloads
