// The service account with which runs of pipelines that name none work on one machine, as on Kubeflow with one user: it
// may make claims and jobs in the namespace "default". A right that is taken from it stays taken: the objects are
// made while the account is missing.
#include "api/meta/resource.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kName = "pipeline-runner";
constexpr const char* kSpace = "default";
constexpr const char* kRbac = "rbac.authorization.k8s.io";
const api::ResourceId kRoles{kRbac, "v1", "roles"};
const api::ResourceId kRoleBindings{kRbac, "v1", "rolebindings"};

Json object_of(std::string_view version, std::string_view kind) {
  return Json::object(
      {{"apiVersion", version}, {"kind", kind}, {"metadata", Json::object({{"name", kName}, {"namespace", kSpace}})}});
}

Json rule(const char* group, std::initializer_list<Json> kinds) {
  return Json::object({{"apiGroups", Json::array({Json(group)})},
                       {"resources", Json::array(kinds)},
                       {"verbs", Json::array({Json("get"), Json("list"), Json("watch"), Json("create"), Json("update"),
                                              Json("patch"), Json("delete")})}});
}

// The part of upstream's role that steps of the documents' pipelines use.
Json role() {
  Json out = object_of("rbac.authorization.k8s.io/v1", "Role");
  out.set("rules", Json::array({rule("", {Json("persistentvolumeclaims")}), rule("batch", {Json("jobs")}),
                                rule("batch.volcano.sh", {Json("jobs")}), rule("kubeflow.org", {Json("*")})}));
  return out;
}

Json binding() {
  Json out = object_of("rbac.authorization.k8s.io/v1", "RoleBinding");
  out.set("roleRef", Json::object({{"apiGroup", kRbac}, {"kind", "Role"}, {"name", kName}}));
  out.set("subjects",
          Json::array({Json::object({{"kind", "ServiceAccount"}, {"name", kName}, {"namespace", kSpace}})}));
  return out;
}

class RunnerAccountController final : public Controller {
 public:
  std::string_view name() const override { return "pipeline-runner-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kServiceAccounts, "create"}, {kRoles, "create"}, {kRoleBindings, "create"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto of_space = [](const View&, const Json& object) {
      return api::name_of(object) == kSpace ? Keys{kSpace} : Keys{};
    };
    const auto of_account = [](const View&, const Json& object) {
      return api::name_of(object) == kName && api::namespace_of(object) == kSpace ? Keys{kSpace} : Keys{};
    };
    return {{resources::kNamespaces, of_space}, {resources::kServiceAccounts, of_account}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* space = view.find(resources::kNamespaces, key);
    if (space == nullptr || api::is_deleting(*space)) return plan;
    if (view.find(resources::kServiceAccounts, key + "/" + kName) != nullptr) return plan;
    plan.create(kRoles, role()).existing_is_fine = true;
    plan.create(kRoleBindings, binding()).existing_is_fine = true;
    plan.begin_stage();
    plan.create(resources::kServiceAccounts, object_of("v1", "ServiceAccount")).existing_is_fine = true;
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_runner_account_controller() { return std::make_unique<RunnerAccountController>(); }

}  // namespace controllers::cluster
