// Wakes of the Deployment controller, and which ReplicaSets are scaled to what; deployment_status.cc says how it goes.
#include "controllers/workloads/deployment.h"

#include <algorithm>
#include <limits>

#include "api/schema/unwritten.h"
#include "base/format.h"
#include "base/saturate.h"
#include "controllers/workloads/deployment_state.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

// "25%" of `total`, or a plain count.
std::int64_t share_of(const Json& value, std::int64_t total, bool up) {
  if (value.is_int()) return std::clamp<std::int64_t>(value.as_int(), 0, INT32_MAX);
  std::string_view text = value.as_string();
  std::int64_t percent = 0;
  for (const char c : text)
    if (c >= '0' && c <= '9' && percent < 1'000'000) percent = percent * 10 + (c - '0');
  return (percent * total + (up ? 99 : 0)) / 100;
}

// The part that tells templates apart: neither the hash, nor what a client leaves out that writes the Deployment anew.
Json but_hash(const Json& pod_template) {
  Json copy = pod_template;
  api::drop_unwritten(api::core_schema("core.v1.PodTemplateSpec"), copy, api::Empties::kDropped);
  if (copy["metadata"]["labels"].is_object()) copy.edit("metadata").edit("labels").erase(kTemplateHash);
  if (copy["metadata"].is_object()) {
    if (copy["metadata"]["labels"].empty()) copy.edit("metadata").erase("labels");
    copy.edit("metadata").erase("creationTimestamp");
  }
  if (copy["metadata"].empty()) copy.erase("metadata");
  return copy;
}

std::int64_t number_of(const Json& object, std::string_view annotation) {
  constexpr std::int64_t kMost = 1'000'000'000'000'000;  // anybody may have written it
  const auto value = api::parse_json(api::annotation_of(object, annotation));
  return value.ok() && value->is_int() ? std::clamp(value->as_int(), -kMost, kMost) : 0;
}

// As the stock controller keeps it: the oldest go, or a set that is rolled back to again and again could not be written
// in the end.
std::string history_with(std::string_view history, std::string_view revision) {
  constexpr std::size_t kBytesMax = 2000;
  while (!history.empty() && history.size() + revision.size() + 1 > kBytesMax)
    history.remove_prefix(std::min(history.find(','), history.size() - 1) + 1);
  return history.empty() ? std::string(revision) : base::format("{},{}", history, revision);
}

bool older(const Json* a, const Json* b) {
  const base::Time one = time_in((*a)["metadata"]["creationTimestamp"]);
  const base::Time other = time_in((*b)["metadata"]["creationTimestamp"]);
  return one != other ? one < other : api::name_of(*a) < api::name_of(*b);
}

bool is_copied(std::string_view annotation) {
  return annotation != "kubectl.kubernetes.io/last-applied-configuration" && annotation != kRevision &&
         annotation != kRevisionHistory && annotation != kDesired && annotation != kMax &&
         annotation != "deprecated.deployment.rollback.to";
}

// A set that was made for another number of replicas than is asked for now.
bool was_rescaled(const std::vector<const Json*>& sets, std::int64_t replicas) {
  return std::ranges::any_of(sets, [&](const Json* set) {
    const std::string_view desired = api::annotation_of(*set, kDesired);
    return wanted_of(*set) > 0 && !desired.empty() && desired != std::to_string(replicas);
  });
}

bool is_saturated(const Json& set, std::int64_t replicas) {
  return wanted_of(set) == replicas && number_of(set, kDesired) == replicas && available_of(set) == replicas;
}

}  // namespace

Bounds bounds_of(const Json& deployment) {
  const Json& strategy = deployment["spec"]["strategy"];
  if (strategy["type"].as_string() == "Recreate") return {};
  const std::int64_t replicas = deployment["spec"]["replicas"].as_int(1);
  const Json& rolling = strategy["rollingUpdate"];
  Bounds bounds{share_of(rolling["maxSurge"], replicas, true), share_of(rolling["maxUnavailable"], replicas, false)};
  if (bounds.surge == 0 && bounds.unavailable == 0) bounds.unavailable = 1;
  bounds.unavailable = std::min(bounds.unavailable, replicas);
  return bounds;
}

std::int64_t wanted_of(const Json& set) { return set["spec"]["replicas"].as_int(); }
std::int64_t available_of(const Json& set) { return set["status"]["availableReplicas"].as_int(); }

std::int64_t total(const Rollout& at) {
  std::int64_t sum = at.newest ? wanted_of(*at.newest) : 0;
  for (const Json* set : at.old) sum += wanted_of(*set);
  return sum;
}

void write_sets(RolloutDraft& draft) {
  draft.plan.begin_stage();
  for (auto& [set, patch] : draft.patches) {
    patch.edit("metadata").set("uid", api::uid_of(*set));
    patch.edit("metadata").set("resourceVersion", api::resource_version_of(*set));
    Action& action = draft.plan.patch(resources::kReplicaSets, *set, client::PatchType::kMerge, std::move(patch));
    for (const auto& [scaled, text] : draft.scaled)
      if (scaled == set) {
        action.success_reason = "ScalingReplicaSet";
        action.success_text = text;
      }
  }
}

namespace {

Rollout rollout_of(const ObservedDeployment& seen, const Turn& turn) {
  const Json& deployment = seen.deployment;
  Rollout at{.seen = seen,
             .deployment = deployment,
             .turn = turn,
             .replicas = deployment["spec"]["replicas"].as_int(1),
             .bounds = bounds_of(deployment),
             .sets = seen.claimed.owned};
  at.sets.insert(at.sets.end(), seen.claimed.adopt.begin(), seen.claimed.adopt.end());
  std::ranges::sort(at.sets, older);
  const Json wanted = but_hash(deployment["spec"]["template"]);
  for (const Json* set : at.sets)
    if (!at.newest && but_hash((*set)["spec"]["template"]) == wanted) at.newest = set;
  for (const Json* set : at.sets)
    if (set != at.newest) at.old.push_back(set);
  return at;
}

// Several changes of one set become one patch.
void change(const Json& set, Json patch, RolloutDraft& draft) {
  for (auto& [changed, all] : draft.patches)
    if (changed == &set) {
      for (const Json::Member& part : patch.members())
        for (const Json::Member& member : part.value.members()) {
          if (member.name() == "annotations")
            for (const Json::Member& one : member.value.members())
              all.edit("metadata").edit("annotations").set(one.name(), one.value);
          else
            all.edit(part.name()).set(member.name(), member.value);
        }
      return;
    }
  draft.patches.emplace_back(&set, std::move(patch));
}

void carry_revision(const Rollout& at, std::int64_t revision, RolloutDraft& draft) {
  if (api::annotation_of(at.deployment, kRevision) == std::to_string(revision)) return;
  Json metadata = Json::object(
      {{"uid", api::uid_of(at.deployment)}, {"annotations", Json::object({{kRevision, std::to_string(revision)}})}});
  draft.plan.begin_stage();
  draft.plan.patch(kDeployments, at.deployment, client::PatchType::kMerge,
                   Json::object({{"metadata", std::move(metadata)}}));
  draft.writes_itself = true;
}

// The revision of the newest set is one above all others; it and the Deployment carry it.
void number_newest(const Rollout& at, RolloutDraft& draft) {
  std::int64_t highest = 0;
  for (const Json* set : at.old) highest = std::max(highest, number_of(*set, kRevision));
  const std::int64_t revision = std::max(highest + 1, at.newest ? number_of(*at.newest, kRevision) : 0);
  if (!at.newest) return;
  Json annotations = Json::object();
  if (const std::string_view before = api::annotation_of(*at.newest, kRevision); before != std::to_string(revision)) {
    annotations.set(kRevision, std::to_string(revision));
    if (!before.empty()) {
      annotations.set(kRevisionHistory, history_with(api::annotation_of(*at.newest, kRevisionHistory), before));
    }
  }
  for (const Json::Member& member : at.deployment["metadata"]["annotations"].members())
    if (is_copied(member.name()) && (*at.newest)["metadata"]["annotations"][member.name()] != member.value)
      annotations.set(member.name(), member.value);
  Json patch = Json::object();
  if (!annotations.empty()) patch.set("metadata", Json::object({{"annotations", std::move(annotations)}}));
  const std::int64_t min_ready = at.deployment["spec"]["minReadySeconds"].as_int();
  if ((*at.newest)["spec"]["minReadySeconds"].as_int() != min_ready)
    patch.edit("spec").set("minReadySeconds", min_ready);
  if (!patch.empty()) change(*at.newest, std::move(patch), draft);
  carry_revision(at, revision, draft);
}

std::int64_t wanted_of_newest(const Rollout& at) {
  const std::int64_t now = at.newest ? wanted_of(*at.newest) : 0;
  if (at.deployment["spec"]["strategy"]["type"].as_string() == "Recreate") return at.replicas;
  const std::int64_t most = at.replicas + at.bounds.surge;
  if (total(at) >= most) return now;
  return now + std::max<std::int64_t>(0, std::min(most - total(at), at.replicas - now));
}

void make_newest(const Rollout& at, RolloutDraft& draft) {
  std::int64_t revision = 1;
  for (const Json* set : at.old) revision = std::max(revision, number_of(*set, kRevision) + 1);
  Json pod_template = at.deployment["spec"]["template"];
  const std::string seed = base::format("{} {}", pod_template.sorted().dump(), draft.collisions.as_int());
  // COMPAT(template-hash): not the hash that kube-controller-manager takes.
  const std::string hash = hash_text(hash_of(seed), 10);
  const std::string name = base::format("{}-{}", api::name_of(at.deployment), hash);
  if (at.seen.is_taken(name)) {
    // Another set has the name; the next look takes another one.
    const std::int64_t before = draft.collisions.as_int();
    draft.collisions = before > 0 && before < INT32_MAX ? before + 1 : 1;
    return;
  }
  pod_template.edit_path({"metadata", "labels"}).set(kTemplateHash, hash);
  Json annotations = Json::object({{kDesired, std::to_string(at.replicas)},
                                   {kMax, std::to_string(at.replicas + at.bounds.surge)},
                                   {kRevision, std::to_string(revision)}});
  for (const Json::Member& member : at.deployment["metadata"]["annotations"].members())
    if (is_copied(member.name())) annotations.set(member.name(), member.value);
  Json selector = at.deployment["spec"]["selector"];
  selector.edit("matchLabels").set(kTemplateHash, hash);
  const std::int64_t count = wanted_of_newest(at);
  Json spec = Json::object({{"replicas", count}, {"selector", std::move(selector)}});
  if (const Json& seconds = at.deployment["spec"]["minReadySeconds"]; seconds.as_int() != 0)
    spec.set("minReadySeconds", seconds);
  Json metadata =
      Json::object({{"name", name},
                    {"namespace", api::namespace_of(at.deployment)},
                    {"labels", pod_template["metadata"]["labels"]},
                    {"annotations", std::move(annotations)},
                    {"ownerReferences", Json::array({owner_reference(at.deployment, "apps/v1", "Deployment")})}});
  spec.set("template", std::move(pod_template));
  Action& action = draft.plan.create(resources::kReplicaSets, Json::object({{"apiVersion", "apps/v1"},
                                                                            {"kind", "ReplicaSet"},
                                                                            {"metadata", std::move(metadata)},
                                                                            {"spec", std::move(spec)}}));
  if (count > 0) {
    action.success_reason = "ScalingReplicaSet";
    action.success_text = base::format("Scaled up replica set {} from 0 to {}", name, count);
  }
  action.failure_reason = "ReplicaSetCreateError";
  action.failure_text = base::format("Failed to create new replica set \"{}\": {{}}", name);
  draft.made = name;
}

void scale(const Rollout& at, const Json& set, std::int64_t count, RolloutDraft& draft) {
  count = std::max<std::int64_t>(0, count);
  Json annotations = Json::object();
  const std::string desired = std::to_string(at.replicas);
  const std::string most = std::to_string(at.replicas + at.bounds.surge);
  if (api::annotation_of(set, kDesired) != desired) annotations.set(kDesired, desired);
  if (api::annotation_of(set, kMax) != most) annotations.set(kMax, most);
  const std::int64_t before = wanted_of(set);
  if (annotations.empty() && before == count) return;
  Json patch = Json::object();
  if (!annotations.empty()) patch.set("metadata", Json::object({{"annotations", std::move(annotations)}}));
  if (before != count) {
    patch.set("spec", Json::object({{"replicas", count}}));
    draft.scaled.push_back({&set, base::format("Scaled {} replica set {} from {} to {}", before < count ? "up" : "down",
                                               api::name_of(set), before, count)});
  }
  change(set, std::move(patch), draft);
}

// In proportion, so that a rollout under way keeps its shape; what is left over goes to the largest.
void share_out(const Rollout& at, std::vector<const Json*> active, RolloutDraft& draft) {
  std::int64_t now = 0;
  for (const Json* set : active) now += wanted_of(*set);
  const std::int64_t most = at.replicas > 0 ? at.replicas + at.bounds.surge : 0;
  const std::int64_t change_by = most - now;
  std::ranges::stable_sort(active, [&](const Json* a, const Json* b) {
    if (wanted_of(*a) != wanted_of(*b)) return wanted_of(*a) > wanted_of(*b);
    return change_by > 0 ? older(b, a) : older(a, b);
  });
  std::vector<std::int64_t> counts;
  std::int64_t done = 0;
  for (const Json* set : active) {
    const std::int64_t before = wanted_of(*set);
    std::int64_t part = 0;
    if (at.replicas == 0) {
      part = -before;
    } else if (change_by != 0) {
      const std::int64_t base_count = std::max<std::int64_t>(1, number_of(*set, kMax) ? number_of(*set, kMax) : now);
      const std::int64_t twice = base::saturating_multiply(2 * before, most);
      part = base::saturating_add(twice, base_count) / (2 * base_count) - before;
    }
    const std::int64_t left = change_by - done;
    part = change_by > 0 ? std::clamp<std::int64_t>(part, 0, left) : std::clamp<std::int64_t>(part, left, 0);
    counts.push_back(before + part);
    done += part;
  }
  if (!counts.empty()) counts.front() = std::max<std::int64_t>(0, counts.front() + change_by - done);
  for (std::size_t i = 0; i < active.size(); ++i) scale(at, *active[i], counts[i], draft);
}

void rescale(const Rollout& at, RolloutDraft& draft) {
  std::vector<const Json*> active;
  for (const Json* set : at.sets)
    if (wanted_of(*set) > 0) active.push_back(set);
  const Json* only = nullptr;
  if (active.size() == 1) only = active.front();
  if (active.empty()) only = at.newest ? at.newest : at.sets.empty() ? nullptr : at.sets.back();
  if (only) return scale(at, *only, at.replicas, draft);
  if (at.newest && is_saturated(*at.newest, at.replicas)) {
    for (const Json* set : at.old)
      if (wanted_of(*set) > 0) scale(at, *set, 0, draft);
    return;
  }
  if (at.deployment["spec"]["strategy"]["type"].as_string() == "RollingUpdate") share_out(at, std::move(active), draft);
}

// Old pods go as far as enough others are available: first those that are not, then the oldest.
void shrink_old(const Rollout& at, RolloutDraft& draft) {
  const std::int64_t at_least = at.replicas - at.bounds.unavailable;
  const std::int64_t newest_missing = wanted_of(*at.newest) - available_of(*at.newest);
  std::int64_t may_go = total(at) - at_least - newest_missing;
  if (may_go <= 0) return;
  std::int64_t available = available_of(*at.newest);
  std::vector<std::int64_t> counts;
  for (const Json* set : at.old) {
    available += available_of(*set);
    const std::int64_t broken =
        std::clamp<std::int64_t>(wanted_of(*set) - available_of(*set), 0, std::max<std::int64_t>(0, may_go));
    counts.push_back(wanted_of(*set) - broken);
    may_go -= broken;
  }
  std::int64_t spare = available - at_least;
  for (std::size_t i = 0; i < at.old.size(); ++i) {
    const std::int64_t part = std::clamp<std::int64_t>(spare, 0, counts[i]);
    if (wanted_of(*at.old[i]) > 0) scale(at, *at.old[i], counts[i] - part, draft);
    spare -= part;
  }
}

// Old sets without pods beyond the history limit, the lowest revisions first.
void clean_up(const Rollout& at, RolloutDraft& draft) {
  const Json& limit = at.deployment["spec"]["revisionHistoryLimit"];
  if (limit.is_null() || limit.as_int() == std::numeric_limits<std::int32_t>::max()) return;
  std::vector<const Json*> idle;
  for (const Json* set : at.old)
    if (wanted_of(*set) == 0 && (*set)["status"]["replicas"].as_int() == 0 && !api::is_deleting(*set) &&
        (*set)["metadata"]["generation"].as_int() <= (*set)["status"]["observedGeneration"].as_int())
      idle.push_back(set);
  std::ranges::stable_sort(
      idle, [](const Json* a, const Json* b) { return number_of(*a, kRevision) < number_of(*b, kRevision); });
  for (std::size_t i = 0; i + static_cast<std::size_t>(limit.as_int()) < idle.size(); ++i)
    draft.plan.remove(resources::kReplicaSets, *idle[i]);
}

void roll(const Rollout& at, RolloutDraft& draft) {
  if (!at.newest) return make_newest(at, draft);
  number_newest(at, draft);
  const std::int64_t now = wanted_of(*at.newest);
  if (const std::int64_t count = now > at.replicas ? at.replicas : wanted_of_newest(at); count != now)
    return scale(at, *at.newest, count, draft);
  scale(at, *at.newest, now, draft);
  shrink_old(at, draft);
  if (is_complete(at, draft)) clean_up(at, draft);
}

void recreate(const Rollout& at, RolloutDraft& draft) {
  bool any = false;
  for (const Json* set : at.old) {
    if (wanted_of(*set) > 0) scale(at, *set, 0, draft);
    any = any || wanted_of(*set) > 0;
    any = any || at.seen.sets_at_work.contains(set);
  }
  if (at.newest) number_newest(at, draft);
  if (any) return;
  if (!at.newest) return make_newest(at, draft);
  scale(at, *at.newest, at.replicas, draft);
  if (is_complete(at, draft)) clean_up(at, draft);
}

Plan decide(const ObservedDeployment& seen, const Turn& turn) {
  const Json& deployment = seen.deployment;
  const Json& conditions = deployment["status"]["conditions"];
  RolloutDraft draft{.conditions = conditions.is_array() ? conditions : Json::array(),
                     .collisions = deployment["status"]["collisionCount"]};
  draft.plan.set_subject(deployment);
  settle_claim(draft.plan, resources::kReplicaSets, seen.claimed, deployment, "apps/v1", "Deployment");
  const Rollout at = rollout_of(seen, turn);
  if (!api::is_deleting(deployment)) {
    record_pause(at, draft);
    const bool is_paused = deployment["spec"]["paused"].as_bool();
    if (is_paused || was_rescaled(at.sets, at.replicas)) {
      number_newest(at, draft);
      rescale(at, draft);
      if (is_paused) clean_up(at, draft);
    } else if (deployment["spec"]["strategy"]["type"].as_string() == "Recreate") {
      recreate(at, draft);
    } else {
      roll(at, draft);
    }
  }
  write_sets(draft);
  write_status(at, draft);
  return std::move(draft.plan);
}

// The sets of a Deployment whose pods are not all over.
std::set<const Json*> sets_at_work(const View& view, const Claim& claimed) {
  std::set<const Json*> out;
  for (const auto* sets : {&claimed.owned, &claimed.adopt})
    for (const Json* set : *sets)
      for (const Json* pod : controlled_by(view, resources::kPods, *set))
        if (!is_over(*pod)) out.insert(set);
  return out;
}

class DeploymentController final : public Controller {
 public:
  std::string_view name() const override { return "deployment-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {
        {kDeployments, "patch"}, {kDeployments, "update", "status"}, {resources::kReplicaSets, "create patch delete"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{kDeployments, [](const View&, const Json& one) { return Keys{api::key_of(one)}; }},
            {resources::kReplicaSets,
             [](const View& view, const Json& set) { return owners_of(view, set, kDeployments, "Deployment"); }},
            // Only Recreate waits for pods, and only for their end.
            {.resource = resources::kPods, .keys = deployment_of, .matters = [](const Json* before, const Json* after) {
               return !after || (before && is_over(*after) != is_over(*before));
             }}};
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> all = ownership_indexes(resources::kReplicaSets);
    for (IndexBy& index : ownership_indexes(resources::kPods)) all.push_back(std::move(index));
    return all;
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* deployment = view.find(kDeployments, key);
    if (!deployment) return {};
    const auto selector = selector_of(*deployment);
    if (!selector) return {};
    ObservedDeployment seen{.deployment = *deployment,
                            .claimed = claim(view, resources::kReplicaSets, *deployment, *selector),
                            .is_taken = names_taken(view, resources::kReplicaSets, *deployment)};
    if ((*deployment)["spec"]["strategy"]["type"].as_string() == "Recreate")
      seen.sets_at_work = sets_at_work(view, seen.claimed);
    return decide(seen, turn);
  }

 private:
  static Keys deployment_of(const View& view, const Json& pod) {
    const Json& owner = api::controller_of(pod);
    if (owner["kind"].as_string() != "ReplicaSet") return {};
    const Json* set =
        view.find(resources::kReplicaSets, base::format("{}/{}", api::namespace_of(pod), owner["name"].as_string()));
    if (!set) return {};
    Keys keys = owners_of(view, *set, kDeployments, "Deployment");
    std::erase_if(keys, [&](const std::string& key) {
      const Json* one = view.find(kDeployments, key);
      return !one || (*one)["spec"]["strategy"]["type"].as_string() != "Recreate";
    });
    return keys;
  }
};

}  // namespace

std::unique_ptr<Controller> make_deployment_controller() { return std::make_unique<DeploymentController>(); }

}  // namespace controllers::workloads
