// The claims of pods' ephemeral volumes. In a cluster Kubernetes does.
#include "api/meta/resource.h"
#include "api/pods/volume_claims.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

Keys claims_of(const Json& pod) {
  Keys keys;
  for (const Json& volume : pod["spec"]["volumes"].items())
    if (volume["ephemeral"].is_object())
      keys.push_back(base::format("{}/{}", api::namespace_of(pod), api::claim_of_volume(pod, volume)));
  return keys;
}

class EphemeralVolumeController final : public Controller {
 public:
  std::string_view name() const override { return "ephemeral-volume-controller"; }
  std::string_view component() const override { return "ephemeral_volume"; }

  std::vector<Write> writes() const override { return {{resources::kPersistentVolumeClaims, "create"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kPods,
             [](const View&, const Json& pod) { return claims_of(pod).empty() ? Keys{} : Keys{api::key_of(pod)}; },
             [](const Json* before, const Json* after) { return !before && after; }},
            // One that is gone may have had the name of one that is to be made.
            {resources::kPersistentVolumeClaims,
             [](const View& view, const Json& claim) {
               Keys keys;
               for (const Json* pod : view.by_index(resources::kPods, "ephemeral-claim", api::key_of(claim)))
                 keys.push_back(api::key_of(*pod));
               return keys;
             },
             [](const Json*, const Json* after) { return after == nullptr; }}};
  }
  std::vector<IndexBy> indexes() const override { return {{resources::kPods, "ephemeral-claim", claims_of}}; }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* pod = view.find(resources::kPods, key);
    if (pod == nullptr || api::is_deleting(*pod)) return plan;
    for (const Json& volume : (*pod)["spec"]["volumes"].items()) {
      if (!volume["ephemeral"].is_object()) continue;
      const std::string name = api::claim_of_volume(*pod, volume);
      const Json* claim =
          view.find(resources::kPersistentVolumeClaims, base::format("{}/{}", api::namespace_of(*pod), name));
      if (claim == nullptr)
        plan.create(resources::kPersistentVolumeClaims, claim_for(*pod, volume, name));
      else if (!api::is_claim_of(*pod, volume, *claim))
        plan.event(*pod, "Warning", "FailedBinding",
                   base::format("ephemeral volume controller: PVC {}/{} was not made for this pod; delete it, or give "
                                "the volume another name",
                                api::namespace_of(*pod), name));
    }
    return plan;
  }

 private:
  static Json claim_for(const Json& pod, const Json& volume, const std::string& name) {
    const Json& made_from = volume["ephemeral"]["volumeClaimTemplate"];
    Json metadata = Json::object({{"name", name}, {"namespace", api::namespace_of(pod)}});
    for (const char* field : {"labels", "annotations"})
      if (made_from["metadata"][field].is_object()) metadata.set(field, made_from["metadata"][field]);
    Json owner = pod;
    owner.set("apiVersion", "v1");
    owner.set("kind", "Pod");
    metadata.set("ownerReferences", Json::array({api::controller_reference(owner)}));
    return Json::object({{"apiVersion", "v1"},
                         {"kind", "PersistentVolumeClaim"},
                         {"metadata", std::move(metadata)},
                         {"spec", made_from["spec"]}});
  }
};

}  // namespace

std::unique_ptr<Controller> make_ephemeral_volume_controller() { return std::make_unique<EphemeralVolumeController>(); }

}  // namespace controllers::cluster
