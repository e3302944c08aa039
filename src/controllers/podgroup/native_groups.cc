// A group of the same name, owned by the PodGroup, when its first pod comes.
#include "controllers/podgroup/native_groups.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/groups/usage.h"

namespace controllers::podgroup {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";
constexpr std::string_view kQueueName = "scheduling.volcano.sh/queue-name";
constexpr std::string_view kDisruptionMode = "volcano.sh/disruption-mode";
constexpr std::string_view kPreemptionPolicy = "volcano.sh/preemption-policy";
constexpr std::string_view kGroupPriority = "volcano.sh/group-priority";
constexpr std::string_view kTopologyKey = "volcano.sh/topology-key";
constexpr std::string_view kScheduled = "PodGroupInitiallyScheduled";
constexpr const char* kPodIndex = "native-group";

std::int64_t min_count_of(const Json& native) {
  const Json& gang = native["spec"]["schedulingPolicy"]["gang"];
  return gang.is_object() ? std::max<std::int64_t>(gang["minCount"].as_int(), 1) : 1;
}

// The wishes of the group that our kind has no fields for. Without a mode, pods are disrupted each alone.
Json annotations_for(const Json& native) {
  const Json& spec = native["spec"];
  Json out =
      Json::object({{std::string(kDisruptionMode), spec["disruptionMode"]["all"].is_object() ? "all" : "single"}});
  if (const std::string policy = spec["preemptionPolicy"].str(); !policy.empty())
    out.set(std::string(kPreemptionPolicy), policy);
  if (spec["priority"].is_number()) out.set(std::string(kGroupPriority), std::to_string(spec["priority"].as_int()));
  if (const Json& topology = spec["schedulingConstraints"]["topology"]; topology.size() > 0)
    out.set(std::string(kTopologyKey), topology[std::size_t{0}]["key"].str());
  return out;
}

const Json* condition_of(const Json& object, std::string_view type) {
  const Json* found = nullptr;  // the newest stands last
  for (const Json& one : object["status"]["conditions"].items())
    if (one["type"].as_string() == type) found = &one;
  return found;
}

// The condition that follows from the group's own status; null: none yet.
Json condition_for(const Json& group) {
  const auto made = [](std::string_view status, std::string_view reason, std::string message) {
    return Json::object(
        {{"type", kScheduled}, {"status", status}, {"reason", reason}, {"message", std::move(message)}});
  };
  const std::string_view phase = group["status"]["phase"].as_string();
  if (phase == "Running" || phase == "Completed") return made("True", "Scheduled", "");
  const Json* refused = condition_of(group, "Unschedulable");
  if (refused == nullptr || (*refused)["status"].as_string() != "True") return {};
  return made("False", "Unschedulable", (*refused)["message"].str());
}

class NativeGroupController final : public Controller {
 public:
  explicit NativeGroupController(std::vector<std::string> scheduler_names) : names_(std::move(scheduler_names)) {}

  std::string_view name() const override { return "native-gang-controller"; }

  std::vector<Write> writes() const override {
    return {
        {resources::kPodGroups, "create update"}, {resources::kPods, "patch"}, {kNativePodGroups, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto itself = [](const View&, const Json& object) { return Keys{api::key_of(object)}; };
    return {
        {.resource = resources::kPods,
         .keys = [](const View&, const Json& pod) { return groups_of(pod); },
         .matters = [](const Json* before, const Json* after) { return !before && after; }},
        {.resource = kNativePodGroups, .keys = itself, .may_be_absent = true},
        {.resource = kNativeWorkloads, .keys = [](const View&, const Json&) { return Keys{}; }, .may_be_absent = true},
        {.resource = resources::kPodGroups, .keys = itself}};
  }
  std::vector<IndexBy> indexes() const override { return {{resources::kPods, kPodIndex, groups_of}}; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* native = view.find(kNativePodGroups, key);
    if (native == nullptr || api::is_deleting(*native)) return plan;
    const std::vector<const Json*> pods = pods_of(view, key);
    const Json* group = view.find(resources::kPodGroups, key);
    if (group != nullptr && api::controller_of(*group)["uid"].as_string() != api::uid_of(*native)) {
      if (!pods.empty() && warned_.insert(std::string(api::uid_of(*native))).second)
        plan.event(*native, "Warning", "GroupNameTaken",
                   base::format("podgroups.scheduling.volcano.sh {:?} is of another owner, so that the pods of this "
                                "group wait",
                                api::name_of(*native)));
      return plan;
    }
    plan.set_subject(*native);
    // COMPAT(annotated-first): a group whose pods are known is let in, placed and told once.
    for (const Json* pod : pods)
      if (api::annotation_of(*pod, kGroupName).empty())
        plan.patch(
            resources::kPods, *pod, client::PatchType::kMerge,
            Json::object(
                {{"metadata",
                  Json::object({{"annotations", Json::object({{std::string(kGroupName), api::name_of(*native)}})}})}}));
    plan.begin_stage();
    if (group == nullptr && !pods.empty()) {
      Action& create =
          plan.create(resources::kPodGroups, group_for_native(*native, workload_of(view, *native), *pods.front()));
      create.existing_is_fine = true;
      create.failure_reason = "FailedCreatePodGroup";
      create.failure_text = "The group for the scheduler cannot be created: {}";
    }
    if (group != nullptr && !pods.empty()) resize(*native, *pods.front(), *group, plan);
    if (group != nullptr) mirror(*native, *group, turn.now, plan);
    return plan;
  }

 private:
  static Keys groups_of(const Json& pod) {
    const std::string_view name = native_group_of(pod);
    return name.empty() ? Keys{} : Keys{base::format("{}/{}", api::namespace_of(pod), name)};
  }

  std::vector<const Json*> pods_of(const View& view, const std::string& key) const {
    std::vector<const Json*> out;
    for (const Json* pod : view.by_index(resources::kPods, kPodIndex, key))
      if (!api::is_deleting(*pod) && std::ranges::find(names_, (*pod)["spec"]["schedulerName"].str()) != names_.end())
        out.push_back(pod);
    return out;
  }

  static const Json* workload_of(const View& view, const Json& native) {
    const std::string_view name = native["spec"]["workloadRef"]["workloadName"].as_string();
    return name.empty() ? nullptr : view.find(kNativeWorkloads, base::format("{}/{}", api::namespace_of(native), name));
  }

  // The minimum of a gang may change while it runs.
  static void resize(const Json& native, const Json& pod, const Json& group, Plan& plan) {
    if (group["spec"]["minMember"].as_int() == min_count_of(native)) return;
    const Json wanted = group_for_native(native, nullptr, pod);
    Json changed = group;
    for (const char* field : {"minMember", "minResources"}) changed.edit("spec").set(field, wanted["spec"][field]);
    plan.update(resources::kPodGroups, std::move(changed)).stops_nothing = true;
  }

  // The condition tells of the first start: it stays true, whatever becomes of the pods.
  static void mirror(const Json& native, const Json& group, base::Time now, Plan& plan) {
    const Json* present = condition_of(native, kScheduled);
    if (present != nullptr && (*present)["status"].as_string() == "True") return;
    Json wanted = condition_for(group);
    if (wanted.is_null()) return;
    const bool same_status = present != nullptr && (*present)["status"] == wanted["status"];
    if (same_status && (*present)["reason"] == wanted["reason"] && (*present)["message"] == wanted["message"]) return;
    wanted.set("lastTransitionTime", same_status ? (*present)["lastTransitionTime"].str() : base::format_rfc3339(now));
    Json conditions = Json::array({});
    for (const Json& one : native["status"]["conditions"].items())
      if (one["type"].as_string() != kScheduled) conditions.push_back(one);
    conditions.push_back(std::move(wanted));
    Json changed = native;
    changed.edit("status").set("conditions", std::move(conditions));
    plan.set_status(kNativePodGroups, std::move(changed)).stops_nothing = true;
  }

  const std::vector<std::string> names_;
  std::set<std::string> warned_;  // uids of groups whose name another owner has
};

}  // namespace

std::string_view native_group_of(const Json& pod) { return pod["spec"]["schedulingGroup"]["podGroupName"].as_string(); }

Json group_for_native(const Json& native, const Json* workload, const Json& pod) {
  const std::int64_t members = min_count_of(native);
  api::ResourceList needed = quota_usage(pod["spec"]);
  for (auto& [name, quantity] : needed) quantity = quantity.times(members);
  Json spec = Json::object({{"minMember", members}, {"minResources", api::to_json(needed)}});
  if (const Json& priority = native["spec"]["priorityClassName"]; !priority.as_string().empty())
    spec.set("priorityClassName", priority);
  for (const Json* one : std::initializer_list<const Json*>{&native, workload, &pod}) {
    if (one == nullptr || api::annotation_of(*one, kQueueName).empty()) continue;
    spec.set("queue", api::annotation_of(*one, kQueueName));
    break;
  }
  Json self = native;
  if (!self.has("kind")) self.set("kind", "PodGroup");
  if (!self.has("apiVersion")) self.set("apiVersion", kNativePodGroups.api_version());
  return Json::object(
      {{"apiVersion", "scheduling.volcano.sh/v1beta1"},
       {"kind", "PodGroup"},
       {"metadata", Json::object({{"name", api::name_of(native)},
                                  {"namespace", api::namespace_of(native)},
                                  {"annotations", annotations_for(native)},
                                  {"ownerReferences", Json::array({api::controller_reference(self)})}})},
       {"spec", std::move(spec)},
       {"status", Json::object({{"phase", "Pending"}})}});
}

std::unique_ptr<Controller> make_native_group_controller(std::vector<std::string> scheduler_names) {
  return std::make_unique<NativeGroupController>(std::move(scheduler_names));
}

}  // namespace controllers::podgroup
