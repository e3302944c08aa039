// One step of a StatefulSet: its revisions, its pods in their order, its claims, its counts.
#include "controllers/workloads/stateful_set.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "api/schema/unwritten.h"
#include "base/format.h"
#include "base/saturate.h"
#include "controllers/framework/restart_pauses.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kRevisionHash = "controller-revision-hash";
// The objects that one plan makes and deletes, claims and the volumes of pods included: a set in parallel may ask for
// more of them than there is memory. The rest comes at the next look.
constexpr std::size_t kWeightMax = 500;

std::string pod_name(const Json& set, std::int64_t ordinal) {
  return base::format("{}-{}", api::name_of(set), ordinal);
}

std::optional<std::int64_t> ordinal_of(const Json& set, const Json& pod) {
  const std::string_view name = api::name_of(pod);
  const std::string prefix = base::format("{}-", api::name_of(set));
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto number = api::parse_json(name.substr(prefix.size()));
  if (!number.ok() || !number->is_int() || number->as_int() < 0) return std::nullopt;
  return number->as_int();
}

// All that a look at a StatefulSet may see.
struct ObservedStatefulSet {
  const Json& set;
  Claim claimed;  // its pods, by their names
  Revisions revisions;
  // A PersistentVolumeClaim of its namespace; null: there is none of that name.
  std::function<const Json*(std::string_view name)> find_claim;
};

// The facts that a look goes by.
struct Members {
  const ObservedStatefulSet& seen;
  const Json& set;
  const Json& spec;
  const Turn& turn;
  std::int64_t replicas;
  std::int64_t start;
  bool parallel;
  std::map<std::int64_t, const Json*> pods = {};  // by ordinal
  Json update = {};                               // the revision of the template
  Json current = {};                              // the one before, until all pods are of the new one
};

// The writes of one look, as far as they are decided.
struct MembersDraft {
  RestartPauses& pauses;  // by ordinal
  Plan plan = {};
  std::size_t weight = 0;  // see kWeightMax
};

Members members_of(const ObservedStatefulSet& seen, const Turn& turn) {
  const Json& spec = seen.set["spec"];
  Members at{.seen = seen,
             .set = seen.set,
             .spec = spec,
             .turn = turn,
             .replicas = spec["replicas"].as_int(1),
             .start = spec["ordinals"]["start"].as_int(),
             .parallel = spec["podManagementPolicy"].as_string() == "Parallel"};
  for (const auto* list : {&seen.claimed.owned, &seen.claimed.adopt})
    for (const Json* pod : *list)
      if (const auto ordinal = ordinal_of(seen.set, *pod)) at.pods[*ordinal] = pod;
  return at;
}

void drop_old(const Members& at, const std::vector<const Json*>& all, Plan& plan) {
  std::vector<const Json*> idle;
  for (const Json* one : all) {
    const std::string_view name = api::name_of(*one);
    bool used = name == api::name_of(at.update) || name == api::name_of(at.current);
    for (const auto& [ordinal, pod] : at.pods) used = used || api::label_of(*pod, kRevisionHash) == name;
    if (!used) idle.push_back(one);
  }
  const std::int64_t limit = std::max<std::int64_t>(0, at.spec["revisionHistoryLimit"].as_int(10));
  for (std::size_t i = 0; i + static_cast<std::size_t>(limit) < idle.size(); ++i)
    plan.remove(kControllerRevisions, *idle[i]);
}

// A ControllerRevision for each template, the newest with the highest number.
void find_revisions(Members& at, MembersDraft& draft) {
  const Json data = Json::object({{"spec", Json::object({{"template", at.spec["template"]}})}});
  const std::vector<const Json*> all = settle_revisions(draft.plan, at.seen.revisions, at.set, "StatefulSet");
  const std::int64_t highest = all.empty() ? 0 : (*all.back())["revision"].as_int();
  const std::int64_t next = base::saturating_add(highest, 1);
  for (const Json* one : all)
    if (api::same_as_written(api::core_schema("core.v1.PodTemplateSpec"), (*one)["data"]["spec"]["template"],
                             at.spec["template"]))
      at.update = *one;
  if (at.update.is_null()) {
    const std::string name = base::format("{}-{}", api::name_of(at.set), hash_text(hash_of(data.sorted().dump()), 10));
    Json metadata =
        Json::object({{"name", name},
                      {"namespace", api::namespace_of(at.set)},
                      {"labels", at.spec["template"]["metadata"]["labels"]},
                      {"ownerReferences", Json::array({owner_reference(at.set, "apps/v1", "StatefulSet")})}});
    at.update = Json::object({{"apiVersion", "apps/v1"},
                              {"kind", "ControllerRevision"},
                              {"metadata", std::move(metadata)},
                              {"data", data},
                              {"revision", next}});
    draft.plan.create(kControllerRevisions, at.update);
    draft.plan.begin_stage();
  } else if (at.update["revision"].as_int() < highest) {  // a rollback
    draft.plan.patch(kControllerRevisions, at.update, client::PatchType::kMerge, Json::object({{"revision", next}}));
    draft.plan.begin_stage();
  }
  at.current = at.update;
  for (const Json* one : all)
    if (api::name_of(*one) == at.set["status"]["currentRevision"].as_string()) at.current = *one;
  drop_old(at, all, draft.plan);
}

bool is_wanted(const Members& at, std::int64_t ordinal) {
  return ordinal >= at.start && ordinal < at.start + at.replicas;
}

bool is_good(const Members& at, const Json& pod) {
  if (api::is_deleting(pod)) return false;
  const auto from = available_at(pod, at.spec["minReadySeconds"].as_int());
  return from && (*from <= at.turn.now || at.spec["minReadySeconds"].as_int() <= 0);
}

bool is_enough(MembersDraft& draft) {
  if (draft.weight < kWeightMax) return false;
  draft.plan.requeue_after({});
  return true;
}

void remove(const Members& at, const Json& pod, MembersDraft& draft) {
  ++draft.weight;
  draft.pauses.forget(api::uid_of(pod));
  Action& action = draft.plan.remove(resources::kPods, pod);
  action.success_reason = "SuccessfulDelete";
  action.success_text =
      base::format("delete Pod {} in StatefulSet {} successful", api::name_of(pod), api::name_of(at.set));
}

// From the highest ordinal down to the partition, one at a time.
void update(const Members& at, MembersDraft& draft) {
  if (at.spec["updateStrategy"]["type"].as_string() == "OnDelete") return;
  const std::int64_t partition = at.spec["updateStrategy"]["rollingUpdate"]["partition"].as_int();
  for (auto last = at.pods.rbegin(); last != at.pods.rend(); ++last) {
    if (last->first < at.start + partition) return;
    const Json& pod = *last->second;
    if (api::label_of(pod, kRevisionHash) != api::name_of(at.update)) {
      if (!api::is_deleting(pod)) remove(at, pod, draft);
      return;
    }
    if (!is_good(at, pod)) return;
  }
}

enum class Keeping : std::uint8_t { kYes, kNo };
Keeping keeps(const Members& at, std::string_view when) {
  const bool gone = at.spec["persistentVolumeClaimRetentionPolicy"][when].as_string() == "Delete";
  return gone ? Keeping::kNo : Keeping::kYes;
}

// They go with the pod that is given up, since it becomes their owner.
void release_claims(const Members& at, const Json& pod, MembersDraft& draft) {
  bool any = false;
  for (const Json& pattern : at.spec["volumeClaimTemplates"].items()) {
    const Json* found = at.seen.find_claim(base::format("{}-{}", api::name_of(pattern), api::name_of(pod)));
    if (!found || api::is_deleting(*found)) continue;
    Json owner = owner_reference(pod, "v1", "Pod");
    owner.erase("controller");
    Json metadata = Json::object({{"uid", api::uid_of(*found)}, {"ownerReferences", Json::array({std::move(owner)})}});
    draft.plan.patch(resources::kPersistentVolumeClaims, *found, client::PatchType::kMerge,
                     Json::object({{"metadata", std::move(metadata)}}));
    ++draft.weight;
    any = true;
  }
  if (any) draft.plan.begin_stage();
}

bool is_pending(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return !api::is_deleting(pod) && (phase.empty() || phase == "Pending");
}

std::string claim_name(const Members& at, const Json& pattern, std::int64_t ordinal) {
  return base::format("{}-{}", api::name_of(pattern), pod_name(at.set, ordinal));
}

void name_claims(const Members& at, std::int64_t ordinal, Json& pod) {
  const Json& patterns = at.spec["volumeClaimTemplates"];
  if (patterns.empty()) return;
  std::set<std::string_view> named;
  for (const Json& pattern : patterns.items()) named.insert(api::name_of(pattern));
  Json volumes = Json::array();
  for (const Json& one : pod["spec"]["volumes"].items())
    if (!named.contains(one["name"].as_string())) volumes.push_back(one);
  for (const Json& pattern : patterns.items())
    if (named.erase(api::name_of(pattern)) != 0)
      volumes.push_back(
          Json::object({{"name", api::name_of(pattern)},
                        {"persistentVolumeClaim", Json::object({{"claimName", claim_name(at, pattern, ordinal)}})}}));
  pod.edit("spec").set("volumes", std::move(volumes));
}

// Claims that are not there. False: one is on its way out, and a pod made now would wait for it for ever; or some are
// left for the next look.
bool make_claims(const Members& at, std::int64_t ordinal, MembersDraft& draft) {
  bool all_stay = true;
  for (const Json& pattern : at.spec["volumeClaimTemplates"].items()) {
    const std::string name = claim_name(at, pattern, ordinal);
    const Json* found = at.seen.find_claim(name);
    if (found != nullptr) {
      all_stay = all_stay && !api::is_deleting(*found);
      continue;
    }
    if (is_enough(draft)) return false;
    Json made = pattern;
    made.erase("status");
    made.set("apiVersion", "v1");
    made.set("kind", "PersistentVolumeClaim");
    Json& metadata = made.edit("metadata");
    metadata.set("name", name);
    metadata.set("namespace", api::namespace_of(at.set));
    for (const Json::Member& label : at.spec["selector"]["matchLabels"].members())
      metadata.edit("labels").set(label.name(), label.value);
    if (keeps(at, "whenDeleted") == Keeping::kNo) {
      Json owner = owner_reference(at.set, "apps/v1", "StatefulSet");
      owner.erase("controller");
      metadata.set("ownerReferences", Json::array({std::move(owner)}));
    }
    draft.plan.create(resources::kPersistentVolumeClaims, std::move(made)).existing_is_fine = true;
    ++draft.weight;
  }
  if (!all_stay) draft.plan.requeue_after(base::seconds(1));
  return all_stay;
}

void create(const Members& at, std::int64_t ordinal, MembersDraft& draft) {
  if (const base::Duration left = draft.pauses.left(std::to_string(ordinal), at.turn.now); left > base::Duration{})
    return draft.plan.requeue_after(left);
  if (!make_claims(at, ordinal, draft)) return;
  const std::int64_t partition = at.spec["updateStrategy"]["rollingUpdate"]["partition"].as_int();
  const Json& revision = ordinal < at.start + partition ? at.current : at.update;
  const std::string name = pod_name(at.set, ordinal);
  Json pod = pod_from(revision["data"]["spec"]["template"], at.set, "apps/v1", "StatefulSet", name);
  Json& labels = pod.edit("metadata").edit("labels");
  labels.set(kRevisionHash, api::name_of(revision));
  labels.set("statefulset.kubernetes.io/pod-name", name);
  labels.set("apps.kubernetes.io/pod-index", std::to_string(ordinal));
  pod.edit("spec").set("hostname", name);
  if (!at.spec["serviceName"].as_string().empty()) pod.edit("spec").set("subdomain", at.spec["serviceName"]);
  name_claims(at, ordinal, pod);
  draft.weight += 1 + at.spec["volumeClaimTemplates"].size();
  Action& action = draft.plan.create(resources::kPods, std::move(pod));
  action.success_reason = "SuccessfulCreate";
  action.success_text = base::format("create Pod {} in StatefulSet {} successful", name, api::name_of(at.set));
  action.failure_reason = "FailedCreate";
  action.failure_text = base::format("create Pod {} in StatefulSet {} failed error: {{}}", name, api::name_of(at.set));
  action.stops_nothing = true;  // the status goes on to say what there is
}

void act(const Members& at, MembersDraft& draft) {
  for (std::int64_t ordinal = at.start; ordinal < at.start + at.replicas; ++ordinal) {
    if (is_enough(draft)) return;
    const auto found = at.pods.find(ordinal);
    if (found == at.pods.end()) {
      create(at, ordinal, draft);
    } else if (const base::Duration rest = failed_rest(*found->second, at.turn.now); rest > base::Duration{}) {
      draft.plan.requeue_after(rest);
    } else if (is_over(*found->second) && !api::is_deleting(*found->second)) {
      remove(at, *found->second, draft);
    } else if (is_pending(*found->second)) {
      make_claims(at, ordinal, draft);  // one may have been deleted since, and the pod waits for it
    } else if (is_good(at, *found->second)) {
      continue;
    }
    if (!at.parallel) return;
  }
  std::vector<const Json*> spare;  // the highest first
  for (const auto& [ordinal, pod] : at.pods)
    if (!is_wanted(at, ordinal)) spare.push_back(pod);
  std::ranges::reverse(spare);
  for (const Json* pod : spare) {
    if (is_enough(draft)) return;
    if (!api::is_deleting(*pod)) {
      if (keeps(at, "whenScaled") == Keeping::kNo) release_claims(at, *pod, draft);
      remove(at, *pod, draft);
    }
    if (!at.parallel) return;
  }
  if (spare.empty()) update(at, draft);
}

void write_counts(const Members& at, MembersDraft& draft) {
  std::int64_t ready = 0, available = 0, at_current = 0, at_update = 0, made = 0;
  const std::int64_t min_ready = at.spec["minReadySeconds"].as_int();
  for (const auto& [ordinal, pod] : at.pods) {
    if (is_over(*pod)) continue;
    ++made;
    ready += is_ready(*pod);
    if (const auto from = available_at(*pod, min_ready)) {
      if (*from <= at.turn.now || min_ready <= 0)
        ++available;
      else
        draft.plan.requeue_after(*from - at.turn.now);
    }
    if (api::is_deleting(*pod)) continue;
    at_current += api::label_of(*pod, kRevisionHash) == api::name_of(at.current);
    at_update += api::label_of(*pod, kRevisionHash) == api::name_of(at.update);
  }
  std::string current(api::name_of(at.current));
  const bool rolls = at.spec["updateStrategy"]["type"].as_string() != "OnDelete";
  if (rolls && at_update == at.replicas && ready == at.replicas && made == at.replicas) {
    current = api::name_of(at.update);
    at_current = at_update;
  }
  Json status = at.set["status"].is_object() ? at.set["status"] : Json::object();
  status.set("observedGeneration", at.set["metadata"]["generation"]);
  status.set("replicas", made);
  status.set("availableReplicas", available);
  set_count(status, "readyReplicas", ready);
  set_count(status, "currentReplicas", at_current);
  set_count(status, "updatedReplicas", at_update);
  const bool turns = at.set["status"]["currentRevision"].as_string() != current ||
                     at.set["status"]["updateRevision"].as_string() != api::name_of(at.update);
  status.set("currentRevision", current);
  status.set("updateRevision", api::name_of(at.update));
  status.set("collisionCount", 0);
  draft.plan.begin_stage();
  write_status(draft.plan, resources::kStatefulSets, at.set, std::move(status),
               {.now = at.turn.now, .counts_wait = turns ? base::Duration{} : at.turn.counts_wait});
}

Plan decide(const ObservedStatefulSet& seen, const Turn& turn, RestartPauses& pauses) {
  MembersDraft draft{.pauses = pauses};
  draft.plan.set_subject(seen.set);
  settle_claim(draft.plan, resources::kPods, seen.claimed, seen.set, "apps/v1", "StatefulSet");
  Members at = members_of(seen, turn);
  pauses.begin_look(turn.now);
  for (const auto& [ordinal, pod] : at.pods) pauses.see(std::to_string(ordinal), *pod);
  pauses.end_look();
  find_revisions(at, draft);
  if (!api::is_deleting(seen.set)) act(at, draft);
  write_counts(at, draft);
  return std::move(draft.plan);
}

class StatefulSetController final : public Controller {
 public:
  std::string_view name() const override { return "statefulset-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kPods, "create patch delete"},
            {kControllerRevisions, "create patch delete"},
            {resources::kPersistentVolumeClaims, "create patch"},
            {resources::kStatefulSets, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto of_set = [](const View& view, const Json& object) {
      return owners_of(view, object, resources::kStatefulSets, "StatefulSet");
    };
    return {{resources::kStatefulSets, [](const View&, const Json& set) { return Keys{api::key_of(set)}; }},
            {resources::kPods, of_set},
            {kControllerRevisions, of_set},
            {resources::kPersistentVolumeClaims, [](const View&, const Json&) { return Keys{}; }}};
  }
  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> all = ownership_indexes(resources::kPods);
    for (IndexBy& index : ownership_indexes(kControllerRevisions)) all.push_back(std::move(index));
    return all;
  }
  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Json* set = view.find(resources::kStatefulSets, key);
    if (set == nullptr) {
      pauses_.forget(key);
      return {};
    }
    const auto selector = selector_of(*set);
    if (!selector) return {};
    ObservedStatefulSet seen{.set = *set,
                             .claimed = claim(view, resources::kPods, *set, *selector),
                             .revisions = revisions_of(view, *set),
                             .find_claim = [&view, set](std::string_view name) {
                               return view.find(resources::kPersistentVolumeClaims,
                                                base::format("{}/{}", api::namespace_of(*set), name));
                             }};
    std::erase_if(seen.claimed.adopt, [&](const Json* pod) { return !ordinal_of(*set, *pod); });
    return decide(seen, turn, pauses_.of(key));
  }

 private:
  PausesByOwner pauses_;
};

}  // namespace

std::unique_ptr<Controller> make_stateful_set_controller() { return std::make_unique<StatefulSetController>(); }

}  // namespace controllers::workloads
