// One step of a budget: its pods, how many there should be, how many are healthy.
#include "controllers/workloads/disruption.h"

#include <map>
#include <optional>

#include "base/format.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kNamespace = "namespace";
// An eviction that has not become a deletion after this long is not coming.
constexpr base::Duration kEvictionMax = base::minutes(2);

// A number, or a part of `total` in percent, rounded up.
std::int64_t part_of(const Json& value, std::int64_t total) {
  if (!value.is_string()) return value.as_int();
  std::int64_t percent = 0;
  for (const char c : value.as_string())
    if (c >= '0' && c <= '9' && percent < 1000) percent = percent * 10 + (c - '0');
  return (percent * total + 99) / 100;
}

// An absent selector selects nothing, an empty one everything.
std::optional<api::LabelSelector> pods_of(const Json& budget) {
  const Json& given = budget["spec"]["selector"];
  if (!given.is_object()) return std::nullopt;
  auto selector = api::label_selector_from(given);
  if (!selector.ok()) return std::nullopt;
  return *std::move(selector);
}

class DisruptionStep {
 public:
  DisruptionStep(const View& view, const Json& budget, const Turn& turn)
      : view_(view), budget_(budget), spec_(budget["spec"]), turn_(turn) {}

  Plan take() {
    plan_.set_subject(budget_);
    find_pods();
    count();
    return std::move(plan_);
  }

 private:
  void find_pods() {
    const auto selector = pods_of(budget_);
    if (!selector) return;
    for (const Json* pod : view_.by_index(resources::kPods, kNamespace, api::namespace_of(budget_)))
      if (!is_over(*pod) && selector->matches((*pod)["metadata"]["labels"])) pods_.push_back(pod);
  }

  // How many pods the controllers of these pods want. A controller whose number is not known wants those that it has.
  std::int64_t wanted() const {
    std::map<std::string, std::int64_t> by_controller;
    for (const Json* pod : pods_) {
      const Json& reference = api::controller_of(*pod);
      if (reference.is_null()) continue;
      const Json* owner = owner_of(reference);
      if (owner == nullptr)
        ++by_controller[reference["uid"].str()];
      else
        by_controller[std::string(api::uid_of(*owner))] = (*owner)["spec"]["replicas"].as_int(1);
    }
    std::int64_t sum = 0;
    for (const auto& [uid, count] : by_controller) sum += count;
    return sum;
  }

  // The object with the number of replicas: a ReplicaSet's Deployment rather than itself.
  const Json* owner_of(Json reference) const {
    constexpr int kStepsMax = 8;  // those who own each other in a circle have nobody above them
    const Json* top = nullptr;
    for (int step = 0; step < kStepsMax && !reference.is_null(); ++step) {
      const Json* found = named(reference);
      if (found == nullptr) break;
      top = found;
      reference = api::controller_of(*found);
    }
    return top;
  }

  // One that has replicas; null: there is none of that name and uid.
  const Json* named(const Json& reference) const {
    static const std::map<std::string, api::ResourceId, std::less<>> kKinds = {
        {"ReplicaSet", resources::kReplicaSets},
        {"Deployment", kDeployments},
        {"StatefulSet", resources::kStatefulSets},
        {"ReplicationController", resources::kReplicationControllers}};
    const auto kind = kKinds.find(reference["kind"].as_string());
    if (kind == kKinds.end()) return nullptr;
    const Json* found =
        view_.find(kind->second, base::format("{}/{}", api::namespace_of(budget_), reference["name"].as_string()));
    return found == nullptr || api::uid_of(*found) != reference["uid"].as_string() ? nullptr : found;
  }

  // Evictions that were allowed, and whose pods are not on their way out yet.
  Json evictions() {
    Json kept = Json::object();
    for (const Json* pod : pods_) {
      const Json* at = budget_["status"]["disruptedPods"].find(api::name_of(*pod));
      if (at == nullptr || api::is_deleting(*pod)) continue;
      const base::Duration left = time_in(*at) + kEvictionMax - turn_.now;
      if (left <= base::Duration{}) continue;
      kept.set(api::name_of(*pod), *at);
      plan_.requeue_after(left);
    }
    return kept;
  }

  void count() {
    std::int64_t expected = static_cast<std::int64_t>(pods_.size());
    std::int64_t desired = 0;
    if (const Json& most = spec_["maxUnavailable"]; !most.is_null()) {
      expected = wanted();
      desired = std::max<std::int64_t>(0, expected - part_of(most, expected));
    } else if (const Json& least = spec_["minAvailable"]; !least.is_null()) {
      if (least.is_string()) expected = wanted();
      desired = part_of(least, expected);
    }
    const Json disrupted = evictions();
    std::int64_t healthy = 0;
    for (const Json* pod : pods_)
      healthy += is_ready(*pod) && !api::is_deleting(*pod) && !disrupted.has(api::name_of(*pod));
    const std::int64_t allowed = expected > 0 ? std::max<std::int64_t>(0, healthy - desired) : 0;
    Json status = Json::object();
    status.set("observedGeneration", budget_["metadata"]["generation"]);
    if (!disrupted.empty()) status.set("disruptedPods", disrupted);
    status.set("disruptionsAllowed", allowed);
    status.set("currentHealthy", healthy);
    status.set("desiredHealthy", desired);
    status.set("expectedPods", expected);
    status.set("conditions", Json::array({condition(allowed > 0)}));
    // An eviction waits for these numbers.
    write_status(plan_, resources::kPodDisruptionBudgets, budget_, std::move(status), {.now = turn_.now});
  }

  Json condition(bool allowed) const {
    const char* status = allowed ? "True" : "False";
    const Json& before = condition_of(budget_["status"], "DisruptionAllowed");
    const bool same = before["status"].as_string() == status;
    return Json::object(
        {{"type", "DisruptionAllowed"},
         {"status", status},
         {"observedGeneration", budget_["metadata"]["generation"]},
         {"lastTransitionTime", same ? before["lastTransitionTime"] : Json(base::format_rfc3339(turn_.now))},
         {"reason", allowed ? "SufficientPods" : "InsufficientPods"},
         {"message", ""}});
  }

  const View& view_;
  const Json& budget_;
  const Json& spec_;
  const Turn& turn_;
  Plan plan_;
  std::vector<const Json*> pods_;
};

// The parts of a pod that a budget sees.
bool pod_matters(const Json* before, const Json* after) {
  if (before == nullptr || after == nullptr) return true;
  return is_ready(*before) != is_ready(*after) || is_over(*before) != is_over(*after) ||
         api::is_deleting(*before) != api::is_deleting(*after) ||
         !((*before)["metadata"]["labels"] == (*after)["metadata"]["labels"]) ||
         !((*before)["metadata"]["ownerReferences"] == (*after)["metadata"]["ownerReferences"]);
}

bool scale_matters(const Json* before, const Json* after) {
  return before == nullptr || after == nullptr || !((*before)["spec"]["replicas"] == (*after)["spec"]["replicas"]);
}

class DisruptionController final : public Controller {
 public:
  std::string_view name() const override { return "disruption-controller"; }
  std::string_view component() const override { return "controllermanager"; }

  std::vector<Write> writes() const override { return {{resources::kPodDisruptionBudgets, "update", "status"}}; }
  std::vector<Wake> wakes_on() const override {
    const auto of_namespace = [](const View& view, const Json& object) {
      Keys keys;
      for (const Json* budget : view.by_index(resources::kPodDisruptionBudgets, kNamespace, api::namespace_of(object)))
        keys.push_back(api::key_of(*budget));
      return keys;
    };
    const auto of_pod = [](const View& view, const Json& pod) {
      Keys keys;
      for (const Json* budget : view.by_index(resources::kPodDisruptionBudgets, kNamespace, api::namespace_of(pod)))
        if (const auto selector = pods_of(*budget); selector && selector->matches(pod["metadata"]["labels"]))
          keys.push_back(api::key_of(*budget));
      return keys;
    };
    std::vector<Wake> wakes = {
        {resources::kPodDisruptionBudgets, [](const View&, const Json& budget) { return Keys{api::key_of(budget)}; }},
        {resources::kPods, of_pod, pod_matters}};
    for (const api::ResourceId& id :
         {kDeployments, resources::kReplicaSets, resources::kStatefulSets, resources::kReplicationControllers})
      wakes.push_back({id, of_namespace, scale_matters});
    return wakes;
  }
  std::vector<IndexBy> indexes() const override {
    const auto space = [](const Json& object) { return Keys{std::string(api::namespace_of(object))}; };
    return {{resources::kPods, std::string(kNamespace), space},
            {resources::kPodDisruptionBudgets, std::string(kNamespace), space}};
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* budget = view.find(resources::kPodDisruptionBudgets, key);
    return budget && !api::is_deleting(*budget) ? DisruptionStep(view, *budget, turn).take() : Plan();
  }
};

}  // namespace

std::unique_ptr<Controller> make_disruption_controller() { return std::make_unique<DisruptionController>(); }

}  // namespace controllers::workloads
