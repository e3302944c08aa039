// The finalizers kubernetes.io/pvc-protection and kubernetes.io/pv-protection: admission gives them to what is made
// (apiserver/kinds/storage/storage_protection_hook.h), here they are given to what was made without, and taken away.
#include "controllers/cluster/protection.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/pods/volume_claims.h"
#include "base/format.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kOfClaims = "kubernetes.io/pvc-protection";
constexpr std::string_view kOfVolumes = "kubernetes.io/pv-protection";

bool has_finalizer(const Json& object, std::string_view name) {
  return std::ranges::any_of(object["metadata"]["finalizers"].items(),
                             [name](const Json& one) { return one.as_string() == name; });
}

Json with_finalizer(Json object, std::string_view name) {
  Json all = object["metadata"]["finalizers"].is_array() ? object["metadata"]["finalizers"] : Json::array();
  all.push_back(name);
  object.edit("metadata").set("finalizers", std::move(all));
  return object;
}

Json without_finalizer(Json object, std::string_view name) {
  Json left = Json::array();
  for (const Json& one : object["metadata"]["finalizers"].items())
    if (one.as_string() != name) left.push_back(one);
  object.edit("metadata").set("finalizers", std::move(left));
  return object;
}

// Both work alike: only what "in use" means differs.
Plan protect(const api::ResourceId& resource, const Json& object, std::string_view finalizer, bool in_use) {
  Plan plan;
  const bool has = has_finalizer(object, finalizer);
  if (!api::is_deleting(object) && !has) plan.update(resource, with_finalizer(object, finalizer));
  if (api::is_deleting(object) && has && !in_use) plan.update(resource, without_finalizer(object, finalizer));
  return plan;
}

// The claims that a pod names, and those that were made for it alone. One without a node uses nothing: no node lets it
// begin with a claim that is being deleted.
Keys claims_in_use(const Json& pod) {
  Keys keys;
  if (pod["spec"]["nodeName"].as_string().empty()) return keys;
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    if (const std::string claim = api::claim_of_volume(pod, volume); !claim.empty())
      keys.push_back(base::format("{}/{}", api::namespace_of(pod), claim));
  }
  return keys;
}

class ClaimProtection final : public Controller {
 public:
  std::string_view name() const override { return "persistentvolumeclaim-protection-controller"; }

  std::vector<Write> writes() const override { return {{resources::kPersistentVolumeClaims, "update"}}; }
  std::vector<Wake> wakes_on() const override {
    return {
        {resources::kPersistentVolumeClaims, [](const View&, const Json& claim) { return Keys{api::key_of(claim)}; }},
        {resources::kPods,
         [](const View& view, const Json& pod) {
           Keys keys = claims_in_use(pod);
           std::erase_if(keys, [&view](const std::string& key) {
             const Json* claim = view.find(resources::kPersistentVolumeClaims, key);
             return claim == nullptr || !api::is_deleting(*claim);
           });
           return keys;
         },
         [](const Json*, const Json* after) { return after == nullptr; }}};
  }

  std::vector<IndexBy> indexes() const override { return {{resources::kPods, "claim-in-use", claims_in_use}}; }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    const Json* claim = view.find(resources::kPersistentVolumeClaims, key);
    if (claim == nullptr) return {};
    return protect(resources::kPersistentVolumeClaims, *claim, kOfClaims, is_used(view, key, *claim));
  }

 private:
  static bool is_used(const View& view, const std::string& key, const Json& claim) {
    return std::ranges::any_of(view.by_index(resources::kPods, "claim-in-use", key), [&claim](const Json* pod) {
      return std::ranges::any_of((*pod)["spec"]["volumes"].items(), [&](const Json& volume) {
        return api::claim_of_volume(*pod, volume) == api::name_of(claim) && api::is_claim_of(*pod, volume, claim);
      });
    });
  }
};

class VolumeProtection final : public Controller {
 public:
  std::string_view name() const override { return "persistentvolume-protection-controller"; }

  std::vector<Write> writes() const override { return {{resources::kPersistentVolumes, "update"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kPersistentVolumes,
             [](const View&, const Json& volume) { return Keys{std::string(api::name_of(volume))}; }}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    const Json* volume = view.find(resources::kPersistentVolumes, key);
    if (volume == nullptr) return {};
    return protect(resources::kPersistentVolumes, *volume, kOfVolumes,
                   (*volume)["status"]["phase"].as_string() == "Bound");
  }
};

}  // namespace

std::unique_ptr<Controller> make_claim_protection() { return std::make_unique<ClaimProtection>(); }
std::unique_ptr<Controller> make_volume_protection() { return std::make_unique<VolumeProtection>(); }

}  // namespace controllers::cluster
