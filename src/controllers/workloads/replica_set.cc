// One step of a ReplicaSet: adopt and release, make or delete pods, say how many there are.
#include "controllers/workloads/replica_set.h"

#include <algorithm>
#include <bit>
#include <map>

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

class ReplicaSetStep {
 public:
  ReplicaSetStep(const View& view, const Json& set, const api::ResourceId& resource, std::string_view kind,
                 const Turn& turn, RestartPauses& pauses)
      : view_(view), set_(set), resource_(resource), kind_(kind), turn_(turn), pauses_(pauses) {}

  Plan take() {
    plan_.set_subject(set_);
    const auto selector = selector_of(set_);
    if (!selector) return std::move(plan_);
    const Claim claimed = claim(view_, resources::kPods, set_, *selector);
    settle_claim(plan_, resources::kPods, claimed, set_, resource_.api_version(), kind_);
    pauses_.begin_look(turn_.now);
    for (const auto* list : {&claimed.owned, &claimed.adopt})
      for (const Json* pod : *list) {
        pauses_.see({}, *pod);
        if (is_active(*pod)) active_.push_back(pod);
        if (const base::Duration rest = failed_rest(*pod, turn_.now); rest > base::Duration{}) {
          ++resting_;
          plan_.requeue_after(rest);
        }
        if (api::is_deleting(*pod) && !is_over(*pod)) ++terminating_;
      }
    pauses_.end_look();
    const std::int64_t missing = set_["spec"]["replicas"].as_int(1) - static_cast<std::int64_t>(active_.size());
    std::int64_t due = missing > 0 ? std::max<std::int64_t>(0, missing - resting_) : missing;
    if (const base::Duration left = pauses_.left({}, turn_.now); due > 0 && left > base::Duration{}) {
      due = 0;
      plan_.requeue_after(left);
    }
    const bool acts = due != 0 && !api::is_deleting(set_);
    // The requests of this turn change the numbers, so the status waits until they show; but a failure is said first,
    // since it stops what comes after.
    if (!acts || turn_.failures > 0) write_status(plan_, resource_, set_, status_now(missing), turn_);
    plan_.begin_stage();
    if (acts && due > 0) create(static_cast<std::size_t>(due));
    if (acts && due < 0) remove(static_cast<std::size_t>(-due));
    return std::move(plan_);
  }

 private:
  // COMPAT(workload-writes): all at once; after a failure slowly, so that a quota is not asked a hundred times.
  void create(std::size_t missing) {
    const std::size_t count = std::min(missing, kBurstMax);
    std::size_t batch = turn_.failures > 0 ? 1 : count;
    for (std::size_t made = 0; made < count; batch *= 2) {
      if (made > 0) plan_.begin_stage();
      for (std::size_t i = 0; i < batch && made < count; ++i, ++made) {
        std::string name = fresh_name(view_, resources::kPods, set_, api::name_of(set_), turn_.now, made);
        Action& action = plan_.create(resources::kPods,
                                      pod_from(set_["spec"]["template"], set_, resource_.api_version(), kind_, name));
        action.body.edit("metadata").set("generateName", base::format("{}-", api::name_of(set_)));
        action.success_reason = "SuccessfulCreate";
        action.success_text = "Created pod: {}";
        action.success_name = std::move(name);
        action.failure_reason = "FailedCreate";
        action.failure_text = "Error creating: {}";
        action.stops_nothing = turn_.failures == 0;
      }
    }
  }

  void remove(std::size_t surplus) {
    std::map<std::string, std::size_t, std::less<>> together;
    for (const Json* pod : related_pods())
      if (is_active(*pod)) ++together[(*pod)["spec"]["nodeName"].str()];
    std::vector<Candidate> candidates;
    for (const Json* pod : active_) candidates.push_back({pod, together[(*pod)["spec"]["nodeName"].str()]});
    std::ranges::stable_sort(candidates,
                             [&](const Candidate& a, const Candidate& b) { return goes_before(a, b, turn_.now); });
    for (std::size_t i = 0; i < std::min({surplus, candidates.size(), kBurstMax}); ++i) {
      pauses_.forget(api::uid_of(*candidates[i].pod));
      Action& action = plan_.remove(resources::kPods, *candidates[i].pod);
      action.success_reason = "SuccessfulDelete";
      action.success_text = "Deleted pod: {}";
      action.success_name = std::string(api::name_of(*candidates[i].pod));
      action.failure_reason = "FailedDelete";
      action.failure_text = "Error deleting: {}";
      action.stops_nothing = true;
    }
  }

  // The pods of all sets with the same controller: those of one Deployment.
  std::vector<const Json*> related_pods() const {
    const Json& owner = api::controller_of(set_);
    if (owner.is_null()) return active_;
    std::vector<const Json*> pods;
    for (const Json* sister : controlled_by(view_, resource_, api::namespace_of(set_), owner["uid"].as_string()))
      for (const Json* pod : controlled_by(view_, resources::kPods, *sister)) pods.push_back(pod);
    return pods;
  }

  Json status_now(std::int64_t missing) {
    const Json& labels = set_["spec"]["template"]["metadata"]["labels"];
    const std::int64_t min_ready = set_["spec"]["minReadySeconds"].as_int();
    std::int64_t labelled = 0, ready = 0, available = 0;
    for (const Json* pod : active_) {
      bool all = true;
      for (const Json::Member& label : labels.members())
        all = all && (*pod)["metadata"]["labels"][label.name()] == label.value;
      labelled += all;
      ready += is_ready(*pod);
      const auto from = available_at(*pod, min_ready);
      if (!from) continue;
      if (*from <= turn_.now || min_ready <= 0)
        ++available;
      else
        plan_.requeue_after(*from - turn_.now);
    }
    Json status = set_["status"].is_object() ? set_["status"] : Json::object();
    status.set("replicas", static_cast<std::int64_t>(active_.size()));
    set_count(status, "fullyLabeledReplicas", labelled);
    set_count(status, "readyReplicas", ready);
    set_count(status, "availableReplicas", available);
    if (kind_ == "ReplicaSet") status.set("terminatingReplicas", terminating_);
    status.set("observedGeneration", set_["metadata"]["generation"]);
    note_failure(status, missing);
    return status;
  }

  void note_failure(Json& status, std::int64_t missing) const {
    const Json before = condition_of(status, "ReplicaFailure");
    Json kept = Json::array();
    for (const Json& condition : status["conditions"].items())
      if (condition["type"].as_string() != "ReplicaFailure") kept.push_back(condition);
    if (turn_.failures > 0 && missing != 0) {
      const char* reason = missing > 0 ? "FailedCreate" : "FailedDelete";
      const bool same = before["reason"].as_string() == reason;
      kept.push_back(same ? before
                          : Json::object({{"type", "ReplicaFailure"},
                                          {"status", "True"},
                                          {"reason", reason},
                                          {"message", turn_.error},
                                          {"lastTransitionTime", base::format_rfc3339(turn_.now)}}));
    }
    status.erase("conditions");
    if (!kept.empty()) status.set("conditions", std::move(kept));
  }

  const View& view_;
  const Json& set_;
  const api::ResourceId& resource_;
  std::string_view kind_;
  const Turn& turn_;
  RestartPauses& pauses_;  // of all its pods together
  Plan plan_;
  std::vector<const Json*> active_;
  std::int64_t terminating_ = 0;
  std::int64_t resting_ = 0;  // failed pods whose place is not filled yet
};

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
    if (set != nullptr) return ReplicaSetStep(view, *set, resource_, kind_, turn, pauses_.of(key)).take();
    pauses_.forget(key);
    return {};
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
