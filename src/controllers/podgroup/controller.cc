// Plain pods: name the group on the pod, then make it if it is missing.
#include "controllers/podgroup/controller.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "api/schema/names.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/number.h"
#include "controllers/groups/usage.h"
#include "controllers/podgroup/native_groups.h"

namespace controllers::podgroup {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";

void copy_if_absent(const Json& from, std::string_view key, Json& to) {
  if (const Json* value = from.find(key); value && !to.has(key)) to.set(key, *value);
}

Json annotations_for(const Json& pod, const std::vector<const Json*>& owners, bool inherit) {
  Json annotations = Json::object();
  if (inherit)
    for (const Json* owner : owners)
      for (const Json::Member& member : (*owner)["metadata"]["annotations"].members())
        if (member.name().starts_with("volcano.sh/") && !annotations.has(member.name()))
          annotations.set(member.name(), member.value);
  const Json& own = pod["metadata"]["annotations"];
  const auto take = [&](std::string_view key) {
    if (const Json* value = own.find(key)) annotations.set(key, *value);
  };
  take("volcano.sh/preemptable");
  take("volcano.sh/cooldown-time");
  take("volcano.sh/revocable-zone");
  take(own.has("volcano.sh/jdb-min-available") ? "volcano.sh/jdb-min-available" : "volcano.sh/jdb-max-unavailable");
  return annotations;
}

std::int64_t min_member_for(const std::vector<const Json*>& owners, bool inherit) {
  if (inherit)
    for (const Json* owner : owners)
      if (const auto text = api::annotation_of(*owner, "scheduling.volcano.sh/group-min-member"); !text.empty()) {
        const auto number = base::parse_number<std::int32_t>(text);
        return number && *number >= 0 ? *number : 1;
      }
  return 1;
}

Json topology_for(const Json& pod) {
  const std::string_view tier = api::annotation_of(pod, "volcano.sh/network-topology-highest-tier");
  const std::string mode = base::lower(api::annotation_of(pod, "volcano.sh/network-topology-mode"));
  if (tier.empty() && mode.empty()) return {};
  Json topology = Json::object({{"mode", mode == "soft" ? "soft" : "hard"}});
  if (const auto number = base::parse_number<std::int64_t>(tier); number && *number >= 0)
    topology.set("highestTierAllowed", *number);
  return topology;
}

}  // namespace

std::string group_name_for(const Json& pod) {
  const Json& owner = api::controller_of(pod);
  return "podgroup-" + (owner.is_null() ? std::string(api::uid_of(pod)) : owner["uid"].str());
}

Json group_for(const Json& pod, const std::vector<const Json*>& owners, bool inherit) {
  Json metadata = Json::object({{"name", group_name_for(pod)}, {"namespace", api::namespace_of(pod)}});
  if (Json annotations = annotations_for(pod, owners, inherit); !annotations.empty())
    metadata.set("annotations", std::move(annotations));
  Json labels = Json::object();
  copy_if_absent(pod["metadata"]["labels"], "volcano.sh/preemptable", labels);
  copy_if_absent(pod["metadata"]["labels"], "volcano.sh/cooldown-time", labels);
  if (!labels.empty()) metadata.set("labels", std::move(labels));
  if (api::controller_of(pod).is_null()) {
    Json self = pod;
    if (!self.has("kind")) self.set("kind", "Pod");
    if (!self.has("apiVersion")) self.set("apiVersion", "v1");
    metadata.set("ownerReferences", Json::array({api::controller_reference(self)}));
  } else {
    metadata.set("ownerReferences", pod["metadata"]["ownerReferences"]);
  }
  const std::int64_t min_member = min_member_for(owners, inherit);
  api::ResourceList needed = quota_usage(pod["spec"]);
  for (auto& [name, quantity] : needed) quantity = quantity.times(min_member);
  Json spec = Json::object({{"minMember", min_member}, {"minResources", api::to_json(needed)}});
  if (const std::string priority = pod["spec"]["priorityClassName"].str(); !priority.empty())
    spec.set("priorityClassName", priority);
  if (const auto queue = api::annotation_of(pod, "scheduling.volcano.sh/queue-name"); !queue.empty())
    spec.set("queue", queue);
  if (Json topology = topology_for(pod); !topology.is_null()) spec.set("networkTopology", std::move(topology));
  return Json::object({{"apiVersion", "scheduling.volcano.sh/v1beta1"},
                       {"kind", "PodGroup"},
                       {"metadata", std::move(metadata)},
                       {"spec", std::move(spec)},
                       {"status", Json::object({{"phase", "Pending"}})}});
}

namespace {

// The resources of owners of these kinds; they are looked at once for each group, so no view is kept of them.
std::optional<api::ResourceId> owner_resource(std::string_view kind) {
  if (kind == "ReplicaSet") return api::ResourceId{"apps", "v1", "replicasets"};
  if (kind == "DaemonSet") return api::ResourceId{"apps", "v1", "daemonsets"};
  if (kind == "StatefulSet") return api::ResourceId{"apps", "v1", "statefulsets"};
  if (kind == "Job") return api::ResourceId{"batch", "v1", "jobs"};
  return std::nullopt;
}

std::int64_t replicas_of(const Json& workload) {
  const Json& replicas = workload["spec"]["replicas"];
  return replicas.is_number() ? replicas.as_int() : 1;
}

// The ReplicaSet or StatefulSet that controls `pod`; null if there is none, or if the pod is not of its newest
// template.
const Json* workload_of(const View& view, const Json& pod) {
  const Json& owner = api::controller_of(pod);
  const bool stateful = owner["kind"].as_string() == "StatefulSet";
  if (!stateful && owner["kind"].as_string() != "ReplicaSet") return nullptr;
  const Json* workload = view.find(stateful ? resources::kStatefulSets : resources::kReplicaSets,
                                   base::format("{}/{}", api::namespace_of(pod), owner["name"].as_string()));
  if (!workload || api::uid_of(*workload) != owner["uid"].as_string()) return nullptr;
  const std::string_view newest = (*workload)["status"]["updateRevision"].as_string();
  if (stateful && api::label_of(pod, "controller-revision-hash") != newest) return nullptr;
  return workload;
}

// The patch that makes `group` that of `wanted`; null: nothing. COMPAT(group-of-workload): keys that others have put on
// the group stay.
Json difference(const Json& group, const Json& wanted) {
  Json patch = Json::object();
  for (const char* map : {"labels", "annotations"})
    for (const Json::Member& one : wanted["metadata"][map].members())
      if (group["metadata"][map][one.name()] != one.value)
        patch.edit_path({"metadata", map}).set(one.name(), one.value);
  const auto spec = [&](std::string_view key, bool equal) {
    if (!equal) patch.edit("spec").set(key, wanted["spec"][key]);
  };
  const Json& have = group["spec"];
  const Json& want = wanted["spec"];
  spec("minMember", have["minMember"].as_int() == want["minMember"].as_int());
  spec("minResources", api::resource_list_from(have["minResources"]) == api::resource_list_from(want["minResources"]));
  spec("priorityClassName", have["priorityClassName"].as_string() == want["priorityClassName"].as_string());
  spec("networkTopology", have["networkTopology"] == want["networkTopology"]);
  // Without a queue of the pod's own the server has chosen one.
  spec("queue", !want.has("queue") || have["queue"].as_string() == want["queue"].as_string());
  return patch.empty() ? Json() : patch;
}

class PodGroupController final : public Controller {
 public:
  explicit PodGroupController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "pg-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kPodGroups, "create patch delete"}, {resources::kPods, "patch"}};
  }
  std::vector<Wake> wakes_on() const override {
    std::vector<Wake> wakes = {{resources::kPods, [](const View&, const Json& pod) { return Keys{api::key_of(pod)}; },
                                [](const Json* before, const Json* after) { return !before && after; }},
                               {resources::kPodGroups, [](const View&, const Json&) { return Keys{}; }}};
    if (!options_.workloads) return wakes;
    // Also one that was so before: its group may have been made meanwhile.
    const auto came_to_nothing = [](const Json*, const Json* after) { return after && replicas_of(*after) == 0; };
    for (const auto& [prefix, resource] : kWorkloads)
      wakes.push_back({*resource,
                       [prefix = prefix](const View&, const Json& one) {
                         return Keys{base::format("{}/{}", prefix, api::key_of(one))};
                       },
                       came_to_nothing, true});
    return wakes;
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    for (const auto& [prefix, resource] : kWorkloads)
      if (std::count(key.begin(), key.end(), '/') == 2 && key.starts_with(prefix))
        return without_replicas(view, view.find(*resource, key.substr(prefix.size() + 1)));
    Plan plan;
    const Json* pod = view.find(resources::kPods, key);
    if (!pod || !is_ours(*pod)) return plan;
    const Json deployment = shared_owner(view, key, *pod);
    const std::string group =
        deployment.is_null() ? group_name_for(*pod) : base::format("podgroup-{}", deployment["uid"].as_string());
    const std::string_view named = api::annotation_of(*pod, kGroupName);
    const Json* existing = view.find(resources::kPodGroups, base::format("{}/{}", api::namespace_of(*pod), group));
    // A pod that names its group, which is not there, was annotated by a controller that came no further.
    if (!named.empty() && (named != group || existing || !(*pod)["spec"]["nodeName"].as_string().empty())) return plan;
    if (!existing) {
      if (options_.inherit_owner_annotations && !owners_.count(key) && fetch_owners(*pod, plan)) {
        plan.requeue_after({});
        return plan;
      }
      std::vector<const Json*> owners;
      if (const auto fetched = owners_.find(key); fetched != owners_.end())
        for (const Json& owner : fetched->second)
          if (is_owner_of(owner, *pod)) owners.push_back(&owner);
      // COMPAT(annotated-first): a group whose pod is known is let in, placed and told once.
      if (named.empty()) annotate(*pod, group, plan);
      plan.set_subject(*pod);
      plan.begin_stage();
      Json made = group_for(*pod, owners, options_.inherit_owner_annotations);
      made.edit("metadata").set("name", group);
      if (!deployment.is_null()) made.edit("metadata").set("ownerReferences", Json::array({deployment}));
      Action& create = plan.create(resources::kPodGroups, std::move(made));
      create.existing_is_fine = true;
      create.failure_reason = "FailedCreatePodGroup";
      create.failure_text = base::format("The pod's PodGroup {} cannot be created: {{}}", group);
      return plan;
    }
    if (const Json* workload = options_.workloads ? workload_of(view, *pod) : nullptr) {
      Json patch = difference(*existing, group_for(*pod, {workload}, options_.inherit_owner_annotations));
      if (!patch.is_null()) plan.patch(resources::kPodGroups, *existing, client::PatchType::kMerge, std::move(patch));
    }
    plan.begin_stage();
    annotate(*pod, group, plan);
    return plan;
  }

  // Owners are known from the plan that read them to the one that uses them.
  void finished(const std::string& key, Ending ending) override {
    owners_.erase(key);
    if (!ending.succeeded || ending.fetched.empty()) return;
    std::vector<Json>& owners = owners_[key];
    for (const Json& owner : ending.fetched) {
      if (owner.is_null()) continue;
      const Json& metadata = owner["metadata"];  // all that is looked at
      Json kept = Json::object({{"uid", metadata["uid"]}, {"annotations", metadata["annotations"]}});
      if (const Json& controller = api::controller_of(owner); !controller.is_null())
        kept.set("ownerReferences", Json::array({controller}));
      owners.push_back(Json::object({{"metadata", std::move(kept)}}));
    }
  }

 private:
  static constexpr std::size_t kOwnersMax = 16;
  static constexpr std::pair<std::string_view, const api::ResourceId*> kWorkloads[] = {
      {"ReplicaSet", &resources::kReplicaSets}, {"StatefulSet", &resources::kStatefulSets}};

  bool is_ours(const Json& pod) const {
    const auto& names = options_.scheduler_names;
    return !api::is_deleting(pod) && (!options_.native_groups || native_group_of(pod).empty()) &&
           std::find(names.begin(), names.end(), pod["spec"]["schedulerName"].str()) != names.end();
  }

  static void annotate(const Json& pod, const std::string& group, Plan& plan) {
    plan.patch(resources::kPods, pod, client::PatchType::kMerge,
               Json::object({{"metadata", Json::object({{"annotations", Json::object({{kGroupName, group}})}})}}));
  }

  // COMPAT(group-of-deployment): the Deployment whose pods start together, whichever of its ReplicaSets made them: a
  // rolling update never has a whole gang of the new template at once. Null: the pod has another owner, or starts
  // alone.
  Json shared_owner(const View& view, const std::string& key, const Json& pod) const {
    const Json& owner = api::controller_of(pod);
    if (!options_.inherit_owner_annotations || owner["kind"].as_string() != "ReplicaSet") return {};
    const Json* set =
        view.find(resources::kReplicaSets, base::format("{}/{}", api::namespace_of(pod), owner["name"].as_string()));
    if (set && api::uid_of(*set) != owner["uid"].as_string()) set = nullptr;
    if (const auto fetched = owners_.find(key); !set && fetched != owners_.end())
      for (const Json& one : fetched->second)
        if (api::uid_of(one) == owner["uid"].as_string()) set = &one;
    if (!set || api::controller_of(*set)["kind"].as_string() != "Deployment") return {};
    return min_member_for({set}, true) > 1 ? api::controller_of(*set) : Json();
  }

  // The group that the ReplicaSets of a Deployment share goes with the last replica of them all.
  static void remove_shared(const View& view, const Json& set, Plan& plan) {
    const std::string_view uid = api::controller_of(set)["uid"].as_string();
    const Json* group =
        uid.empty() ? nullptr
                    : view.find(resources::kPodGroups, base::format("{}/podgroup-{}", api::namespace_of(set), uid));
    if (!group) return;
    for (const Json* other : view.all(resources::kReplicaSets))
      if (api::controller_of(*other)["uid"].as_string() == uid && replicas_of(*other) != 0) return;
    plan.remove(resources::kPodGroups, *group);
  }

  static Plan without_replicas(const View& view, const Json* workload) {
    Plan plan;
    if (!workload || replicas_of(*workload) != 0) return plan;
    remove_shared(view, *workload, plan);
    const std::string name = base::format("{}/podgroup-{}", api::namespace_of(*workload), api::uid_of(*workload));
    if (const Json* group = view.find(resources::kPodGroups, name)) plan.remove(resources::kPodGroups, *group);
    return plan;
  }

  // Not one that only has the name of an owner.
  static bool is_owner_of(const Json& owner, const Json& pod) {
    const auto references = pod["metadata"]["ownerReferences"].items();
    return std::any_of(references.begin(), references.end(),
                       [&owner](const Json& reference) { return reference["uid"].as_string() == api::uid_of(owner); });
  }

  // False if there is nobody to ask. The pod's author wrote the references, whatever they are and however many.
  static bool fetch_owners(const Json& pod, Plan& plan) {
    std::set<std::pair<std::string_view, std::string_view>> asked;  // kind and name
    for (const Json& reference : pod["metadata"]["ownerReferences"].items()) {
      const std::string_view kind = reference["kind"].as_string(), name = reference["name"].as_string();
      const auto resource = owner_resource(kind);
      if (!resource || !api::is_dns_subdomain(name) || !asked.emplace(kind, name).second) continue;
      plan.fetch(*resource, kind, api::namespace_of(pod), name);
      if (asked.size() == kOwnersMax) break;
    }
    return !asked.empty();
  }

  Options options_;
  std::map<std::string, std::vector<Json>> owners_;  // of pods whose group is about to be made
};

}  // namespace

std::unique_ptr<Controller> make_podgroup_controller(Options options) {
  return std::make_unique<PodGroupController>(std::move(options));
}

}  // namespace controllers::podgroup
