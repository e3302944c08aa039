// In the end each notebook has the one server that it asks for, or none, and says so; nothing is left of those that
// were deleted; and a profile has what its owner needs, but never a namespace that others had.
#include "api/kubeflow/v1/notebook.h"
#include "api/kubeflow/v1/profile.h"
#include "base/format.h"
#include "sim/checks/all.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kStopped = "kubeflow-resource-stopped", kOwner = "owner";

class NotebooksFollow final : public Check {
 public:
  explicit NotebooksFollow(World& world) : world_(world) {}

  void begin() override {
    world_.truth().on_change([this](const api::ResourceId& resource, const Json*, const Json* after) {
      if (resource == resources::kNamespaces && after && api::name_of(*after) == "taken" &&
          !api::annotation_of(*after, kOwner).empty())
        violation("the namespace taken was given to a profile");
    });
  }

  std::string unrest() override {
    for (const auto& [key, notebook] : world_.truth().objects(resources::kNotebooks))
      if (std::string why = why_unlike(key, notebook); !why.empty()) return why;
    for (const api::ResourceId* kind : {&resources::kStatefulSets, &resources::kServices})
      for (const auto& [key, object] : world_.truth().objects(*kind))
        if (api::controller_of(object)["kind"].as_string() == "Notebook" &&
            world_.truth().find(resources::kNotebooks, key) == nullptr)
          return base::format("{} {} is left of a notebook", kind->plural, key);
    for (const auto& [key, profile] : world_.truth().objects(resources::kProfiles))
      if (std::string why = why_unlike_profile(key); !why.empty()) return why;
    return {};
  }

  void finish() override {
    std::size_t stopped = 0;
    const auto& notebooks = world_.truth().objects(resources::kNotebooks);
    for (const auto& [key, notebook] : notebooks) stopped += is_stopped(notebook) ? 1 : 0;
    if (const std::string why = unrest(); !why.empty()) violation(why);
    world_.chronicle().record(base::format("{} notebooks, {} stopped", notebooks.size(), stopped));
  }

 private:
  static bool is_stopped(const Json& notebook) { return notebook["metadata"]["annotations"].has(kStopped); }

  std::string why_unlike(const std::string& key, const Json& notebook) const {
    const std::int64_t wanted = is_stopped(notebook) ? 0 : 1;
    const Json* set = world_.truth().find(resources::kStatefulSets, key);
    if (set == nullptr || api::controller_of(*set)["uid"].as_string() != api::uid_of(notebook))
      return base::format("notebook {} has no StatefulSet", key);
    if (!(*set)["spec"]["replicas"].is_number() || (*set)["spec"]["replicas"].as_int() != wanted)
      return base::format("notebook {} has {} replicas, and {} are wanted", key, (*set)["spec"]["replicas"].as_int(),
                          wanted);
    if (world_.truth().find(resources::kServices, key) == nullptr)
      return base::format("notebook {} has no Service", key);
    const Json* pod = world_.truth().find(resources::kPods, key + "-0");
    if ((pod != nullptr) != (wanted == 1)) return base::format("notebook {} has not the pods that are wanted", key);
    if (pod != nullptr && (*pod)["status"]["phase"].as_string() != "Running")
      return base::format("the pod of notebook {} is {}", key, (*pod)["status"]["phase"].as_string());
    if (notebook["status"]["readyReplicas"].as_int() != wanted)
      return base::format("notebook {} says that {} are ready", key, notebook["status"]["readyReplicas"].as_int());
    return {};
  }

  std::string why_unlike_profile(const std::string& name) const {
    if (name == "taken") return {};
    const Json* ns = world_.truth().find(resources::kNamespaces, name);
    if (ns == nullptr || api::annotation_of(*ns, kOwner) != name + "@example.com")
      return base::format("profile {} has no namespace of its own", name);
    for (const char* account : {"default-editor", "default-viewer"})
      if (world_.truth().find({"", "v1", "serviceaccounts"}, base::format("{}/{}", name, account)) == nullptr)
        return base::format("profile {} has no account {}", name, account);
    if (world_.truth().find({"rbac.authorization.k8s.io", "v1", "rolebindings"}, name + "/namespaceAdmin") == nullptr)
      return base::format("profile {} has nobody who may do everything", name);
    const Json* quota = world_.truth().find({"", "v1", "resourcequotas"}, name + "/kf-resource-quota");
    if (quota == nullptr || (*quota)["spec"]["hard"]["pods"].as_string() != "20")
      return base::format("profile {} has no quota", name);
    return {};
  }

  void violation(const std::string& what) { world_.chronicle().violation("notebooks-follow", what); }

  World& world_;
};

}  // namespace

std::unique_ptr<Check> make_notebooks_follow(World& world, Settings&, base::Random&) {
  return std::make_unique<NotebooksFollow>(world);
}

}  // namespace sim
