// Claims and volumes on one machine: a claim binds to a volume that fits, or gets a folder of its own.
#include <algorithm>
#include <map>
#include <optional>

#include "api/meta/resource.h"
#include "api/pods/volume_claims.h"
#include "api/schema/quantity.h"
#include "api/selector.h"
#include "api/storage_resources.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"
#include "rt/files/files.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

// The default class, and the name that documents and charts written for other one-machine clusters expect.
constexpr std::string_view kClassName = "local-path", kUsualClassName = "standard";
constexpr std::string_view kDefaultClass = api::kDefaultClassMarks[0];
constexpr std::string_view kClassKey = "class|local-path";

api::Quantity size_of(const Json& list) { return api::Quantity::from_json(list["storage"]).value_or(api::Quantity()); }

bool covers(const Json& offered, const Json& wanted) {
  for (const Json& mode : wanted.items()) {
    const auto modes = offered.items();
    if (std::find(modes.begin(), modes.end(), mode) == modes.end()) return false;
  }
  return true;
}

std::string_view mode_of(const Json& spec) { return spec["volumeMode"].as_string("Filesystem"); }

bool is_selected(const Json& claim, const Json& volume) {
  const Json& given = claim["spec"]["selector"];
  if (given.is_null()) return true;
  const auto selector = api::label_selector_from(given);
  return selector.ok() && selector->matches(volume["metadata"]["labels"]);
}

// Why a claim cannot have the volume that it names, in the words of Kubernetes; empty: it can.
std::string_view mismatch(const Json& claim, const Json& volume, std::string_view class_name) {
  const Json& spec = volume["spec"];
  if (size_of(spec["capacity"]) < size_of(claim["spec"]["resources"]["requests"])) return "requested PV is too small";
  if (spec["storageClassName"].as_string() != class_name) return "storageClassName does not match";
  if (mode_of(spec) != mode_of(claim["spec"])) return "incompatible volumeMode";
  if (!covers(spec["accessModes"], claim["spec"]["accessModes"])) return "incompatible accessMode";
  return {};
}

class VolumeController final : public Controller {
 public:
  explicit VolumeController(VolumeOptions options) : options_(std::move(options)) {}

  std::string_view name() const override { return "volume-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kStorageClasses, "create"},
            {resources::kPersistentVolumeClaims, "update"},
            {resources::kPersistentVolumeClaims, "update", "status"},
            {resources::kPersistentVolumes, "create update delete"},
            {resources::kPersistentVolumes, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto waiting = [](const View& view, const Json&) {
      Keys keys;
      for (const Json* claim : view.all(resources::kPersistentVolumeClaims))
        if ((*claim)["status"]["phase"].as_string() != "Bound") keys.push_back("claim|" + api::key_of(*claim));
      return keys;
    };
    return {{resources::kPersistentVolumeClaims,
             [](const View&, const Json& claim) {
               Keys keys{"claim|" + api::key_of(claim)};
               if (const std::string volume = claim["spec"]["volumeName"].str(); !volume.empty())
                 keys.push_back("volume|" + volume);
               return keys;
             }},
            {resources::kPersistentVolumes,
             [waiting](const View& view, const Json& volume) {
               // One that is somebody's is of no use to the others, of whom there may be thousands.
               Keys keys = is_free(volume) ? waiting(view, volume) : Keys{};
               keys.push_back("volume|" + std::string(api::name_of(volume)));
               if (const Json& claim = volume["spec"]["claimRef"]; claim.is_object())
                 keys.push_back(base::format("claim|{}/{}", claim["namespace"].as_string(), claim["name"].as_string()));
               return keys;
             }},
            {resources::kStorageClasses,
             [waiting](const View& view, const Json& one) {
               Keys keys = waiting(view, one);
               keys.emplace_back(kClassKey);
               return keys;
             }},
            {resources::kNamespaces, [](const View&, const Json&) { return Keys{std::string(kClassKey)}; },
             [](const Json* before, const Json*) { return before == nullptr; }},
            // A claim that waits for its first consumer.
            {resources::kPods,
             [](const View&, const Json& pod) {
               Keys keys;
               for (const std::string& claim : claims_of(pod)) keys.push_back("claim|" + claim);
               return keys;
             },
             [](const Json* before, const Json* after) { return !before && after; }}};
  }

  std::vector<IndexBy> indexes() const override {
    return {{resources::kPods, "claim", claims_of},
            {resources::kPersistentVolumes, "claim",
             [](const Json& volume) {
               const Json& claim = volume["spec"]["claimRef"];
               if (!claim.is_object()) return Keys{};
               return Keys{base::format("{}/{}", claim["namespace"].as_string(), claim["name"].as_string())};
             }},
            {resources::kPersistentVolumes, "free", [](const Json& volume) {
               return is_free(volume) ? Keys{volume["spec"]["storageClassName"].str()} : Keys{};
             }}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const std::string rest = key.substr(key.find('|') + 1);
    if (key == kClassKey)
      keep_class(view, plan);
    else if (key.starts_with("claim|"))
      bind(view, rest, plan);
    else
      release(view, rest, plan);
    return plan;
  }

 private:
  // The event that a claim without a volume waits for.
  enum class Wait : std::uint8_t { kForConsumer, kForNode, kForVolume };

  static bool is_free(const Json& volume) { return !volume["spec"]["claimRef"].is_object(); }

  static Keys claims_of(const Json& pod) {
    Keys keys;
    for (const Json& volume : pod["spec"]["volumes"].items())
      if (const std::string claim = api::claim_of_volume(pod, volume); !claim.empty())
        keys.push_back(base::format("{}/{}", api::namespace_of(pod), claim));
    return keys;
  }

  // Made once, when there is no class at all: who deletes or replaces it means it.
  void keep_class(const View& view, Plan& plan) {
    if (class_made_ || options_.folder.empty() || !view.all(resources::kStorageClasses).empty()) return;
    class_made_ = true;
    add_class(Json::object({{"name", kClassName}, {"annotations", Json::object({{kDefaultClass, "true"}})}}), plan);
    add_class(Json::object({{"name", kUsualClassName}}), plan);
  }

  static void add_class(Json metadata, Plan& plan) {
    plan.create(resources::kStorageClasses, Json::object({{"apiVersion", "storage.k8s.io/v1"},
                                                          {"kind", "StorageClass"},
                                                          {"metadata", std::move(metadata)},
                                                          {"provisioner", api::kLocalProvisioner},
                                                          {"reclaimPolicy", "Delete"},
                                                          {"volumeBindingMode", "WaitForFirstConsumer"}}))
        .existing_is_fine = true;
  }

  static const Json* class_of(const View& view, const Json& claim, bool& named) {
    const Json& name = claim["spec"]["storageClassName"];
    named = name.is_string();
    if (named) return view.find(resources::kStorageClasses, name.as_string());
    for (const Json* one : view.all(resources::kStorageClasses))
      if (api::is_default_class(*one)) return one;
    return nullptr;
  }

  static const Json* fitting_volume(const View& view, const Json& claim, std::string_view class_name, Plan& plan) {
    for (const Json* volume : view.by_index(resources::kPersistentVolumes, "claim", api::key_of(claim))) {
      const std::string_view asked = claim["spec"]["volumeName"].as_string();
      if (!asked.empty() && asked != api::name_of(*volume)) continue;  // it cannot be changed to another
      const Json& uid = (*volume)["spec"]["claimRef"]["uid"];
      if (uid.as_string() == api::uid_of(claim)) return volume;
      // Kept for this claim by an administrator, whatever its class.
      if (uid.is_null() && mismatch(claim, *volume, (*volume)["spec"]["storageClassName"].as_string()).empty())
        return volume;
    }
    if (const std::string asked = claim["spec"]["volumeName"].str(); !asked.empty()) {
      const Json* volume = view.find(resources::kPersistentVolumes, asked);
      if (volume == nullptr || !is_free(*volume)) return nullptr;
      const std::string_view why = mismatch(claim, *volume, class_name);
      if (why.empty()) return volume;
      plan.event(claim, "Warning", "VolumeMismatch",
                 base::format("Cannot bind to requested volume \"{}\": {}", asked, why));
      return nullptr;
    }
    const Json* best = nullptr;
    for (const Json* volume : view.by_index(resources::kPersistentVolumes, "free", class_name)) {
      const Json& spec = (*volume)["spec"];
      if (api::is_deleting(*volume) || !is_selected(claim, *volume)) continue;
      if (!mismatch(claim, *volume, class_name).empty()) continue;
      if (!best || size_of(spec["capacity"]) < size_of((*best)["spec"]["capacity"])) best = volume;
    }
    return best;
  }

  void bind(const View& view, const std::string& key, Plan& plan) {
    const Json* claim = view.find(resources::kPersistentVolumeClaims, key);
    const std::string_view phase = claim ? (*claim)["status"]["phase"].as_string() : "";
    if (!claim || api::is_deleting(*claim) || phase == "Bound") {
      reported_.erase(key);
      return;
    }
    plan.set_subject(*claim);
    bool named = false;
    const Json* storage_class = class_of(view, *claim, named);
    const std::string class_name =
        storage_class ? std::string(api::name_of(*storage_class)) : (*claim)["spec"]["storageClassName"].str();
    if (const Json* volume = fitting_volume(view, *claim, class_name, plan)) return join(*claim, *volume, plan);
    if (phase.empty()) {
      Json pending = *claim;
      pending.edit("status").set("phase", "Pending");
      plan.set_status(resources::kPersistentVolumeClaims, std::move(pending));
    }
    const bool waits = storage_class && (*storage_class)["volumeBindingMode"].as_string() == "WaitForFirstConsumer";
    const bool has_consumer = !view.by_index(resources::kPods, "claim", key).empty();
    const bool has_node = !api::annotation_of(*claim, "volume.kubernetes.io/selected-node").empty();
    const Wait wait = !waits || has_node ? Wait::kForVolume : has_consumer ? Wait::kForNode : Wait::kForConsumer;
    if (!storage_class || (*storage_class)["provisioner"].as_string() != api::kLocalProvisioner ||
        options_.folder.empty())
      return report_wait(*claim, storage_class, class_name, wait, plan);
    if (!(*claim)["spec"]["volumeName"].as_string().empty()) return;
    if (waits && !has_consumer) return report_wait(*claim, storage_class, class_name, wait, plan);
    if (mode_of((*claim)["spec"]) == "Block")
      return plan.event(*claim, "Warning", "ProvisioningFailed",
                        "spec.volumeMode: Block is not supported: volumes of this class are folders");
    if ((*claim)["spec"]["selector"].is_object())
      return plan.event(*claim, "Warning", "ProvisioningFailed", "claim.Spec.Selector is not supported");
    plan.begin_stage("ProvisioningFailed", "{}");
    make_volume(*claim, *storage_class, plan);
  }

  // In the words of Kubernetes' own controller, once for as long as it holds.
  void report_wait(const Json& claim, const Json* storage_class, const std::string& class_name, Wait wait, Plan& plan) {
    const std::string volume = claim["spec"]["volumeName"].str();
    std::string type = "Normal", reason, text;
    if (!volume.empty()) {
      reason = "FailedBinding";
      text = base::format("volume \"{}\" is not there, or belongs to another claim", volume);
    } else if (wait == Wait::kForConsumer) {
      reason = "WaitForFirstConsumer";
      text = "waiting for first consumer to be created before binding";
    } else if (wait == Wait::kForNode) {
      reason = "WaitForPodScheduled";
      text = "waiting for its pod to be scheduled";
    } else if (storage_class) {
      reason = "ExternalProvisioning";
      text = base::format(
          "Waiting for a volume to be created either by the external provisioner '{}' or manually by the "
          "system administrator. If volume creation is delayed, please verify that the provisioner is "
          "running and correctly registered.",
          (*storage_class)["provisioner"].as_string());
    } else if (!class_name.empty()) {
      type = "Warning";
      reason = "ProvisioningFailed";
      text = base::format("storageclass.storage.k8s.io \"{}\" not found", class_name);
    } else {
      reason = "FailedBinding";
      text = "no persistent volumes available for this claim and no storage class is set";
    }
    std::string text_now = base::format("{} {}", api::uid_of(claim), text);
    std::string& reported = reported_[api::key_of(claim)];
    if (text_now == reported) return;
    reported = std::move(text_now);
    plan.event(claim, type, reason, std::move(text));
  }

  void make_volume(const Json& claim, const Json& storage_class, Plan& plan) {
    const std::string name = base::format("pvc-{}", api::uid_of(claim));
    Json spec = Json::object(
        {{"accessModes", claim["spec"]["accessModes"]},
         {"capacity", Json::object({{"storage", claim["spec"]["resources"]["requests"]["storage"]}})},
         {"claimRef", Json::object({{"apiVersion", "v1"},
                                    {"kind", "PersistentVolumeClaim"},
                                    {"name", api::name_of(claim)},
                                    {"namespace", api::namespace_of(claim)},
                                    {"uid", api::uid_of(claim)}})},
         {"hostPath", Json::object({{"path", options_.folder + "/" + name}, {"type", "DirectoryOrCreate"}})},
         {"persistentVolumeReclaimPolicy", storage_class["reclaimPolicy"].as_string("Delete")},
         {"storageClassName", api::name_of(storage_class)}});
    if (!options_.node_name.empty())
      spec.set("nodeAffinity",
               *api::parse_json(base::format(
                   R"({{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"kubernetes.io/hostname",)"
                   R"("operator":"In","values":["{}"]}}]}}]}}}})",
                   options_.node_name)));
    plan.create(resources::kPersistentVolumes,
                Json::object(
                    {{"apiVersion", "v1"},
                     {"kind", "PersistentVolume"},
                     {"metadata",
                      Json::object({{"name", name},
                                    {"annotations", Json::object({{api::kProvisionedBy, api::kLocalProvisioner}})}})},
                     {"spec", std::move(spec)}}))
        .existing_is_fine = true;
  }

  static void join(const Json& claim, const Json& volume, Plan& plan) {
    if (volume["spec"]["claimRef"]["uid"].is_null()) {
      Json taken = volume;
      taken.edit("spec").set("claimRef", Json::object({{"apiVersion", "v1"},
                                                       {"kind", "PersistentVolumeClaim"},
                                                       {"name", api::name_of(claim)},
                                                       {"namespace", api::namespace_of(claim)},
                                                       {"uid", api::uid_of(claim)}}));
      plan.update(resources::kPersistentVolumes, std::move(taken));
    }
    if (volume["status"]["phase"].as_string() != "Bound") {
      plan.begin_stage();
      Json bound = volume;
      bound.edit("status").set("phase", "Bound");
      plan.set_status(resources::kPersistentVolumes, std::move(bound));
    }
    plan.begin_stage();
    Json named = claim;
    named.edit("spec").set("volumeName", api::name_of(volume));
    if (!named["spec"]["storageClassName"].is_string())
      named.edit("spec").set("storageClassName", volume["spec"]["storageClassName"].as_string());
    named.edit_path({"metadata", "annotations"}).set("pv.kubernetes.io/bind-completed", "yes");
    plan.update(resources::kPersistentVolumeClaims, named);
    plan.begin_stage();
    named.set("status", Json::object({{"phase", "Bound"},
                                      {"accessModes", volume["spec"]["accessModes"]},
                                      {"capacity", volume["spec"]["capacity"]}}));
    plan.set_status(resources::kPersistentVolumeClaims, std::move(named));
  }

  static void set_phase(const Json& volume, std::string_view phase, Plan& plan) {
    if (volume["status"]["phase"].as_string() == phase) return;
    plan.begin_stage();
    Json changed = volume;
    changed.edit("status").set("phase", phase);
    plan.set_status(resources::kPersistentVolumes, std::move(changed));
  }

  // A volume whose claim is gone: kept, or deleted with its folder.
  void release(const View& view, const std::string& name, Plan& plan) {
    const Json* volume = view.find(resources::kPersistentVolumes, name);
    if (!volume) return;
    const Json& reference = (*volume)["spec"]["claimRef"];
    if (!reference.is_object() || reference["uid"].is_null()) return set_phase(*volume, "Available", plan);
    const std::string key = base::format("{}/{}", reference["namespace"].as_string(), reference["name"].as_string());
    const Json* claim = view.find(resources::kPersistentVolumeClaims, key);
    if (claim && api::uid_of(*claim) == reference["uid"].as_string()) return;
    plan.require_gone(resources::kPersistentVolumeClaims, "PersistentVolumeClaim", reference["namespace"].as_string(),
                      reference["name"].as_string(), reference["uid"].as_string());
    const bool ours =
        api::annotation_of(*volume, api::kProvisionedBy) == api::kLocalProvisioner && !options_.folder.empty();
    const bool goes = ours && (*volume)["spec"]["persistentVolumeReclaimPolicy"].as_string() == "Delete";
    set_phase(*volume, "Released", plan);
    if (!goes) return;
    // Pods that still hold the folder end first. If there is a claim of that name again, they hold that one's.
    const auto holds = [](const Json* pod) { return !(*pod)["spec"]["nodeName"].as_string().empty(); };
    if (!claim && std::ranges::any_of(view.by_index(resources::kPods, "claim", key), holds)) {
      plan.requeue_after(base::seconds(1));
      return;
    }
    plan.begin_stage("VolumeFailedDelete", "{}");
    plan.remove_tree(options_.folder + "/" + name);
    if (api::is_deleting(*volume)) return;
    plan.begin_stage();
    plan.remove(resources::kPersistentVolumes, *volume);
  }

  VolumeOptions options_;
  bool class_made_ = false;
  std::map<std::string, std::string> reported_;  // of claims that wait: uid and text of the last event
};

}  // namespace

std::unique_ptr<Controller> make_volume_controller(VolumeOptions options) {
  return std::make_unique<VolumeController>(std::move(options));
}

}  // namespace controllers::cluster
