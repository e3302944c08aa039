// The rules of a ClusterRole with an aggregationRule: the rules of all those that its selectors choose.
#include <algorithm>

#include "api/meta/resource.h"
#include "api/selector.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;

namespace {

const api::ResourceId kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};

bool gathers(const Json& role) { return !role["aggregationRule"]["clusterRoleSelectors"].empty(); }

// A selector that makes no sense chooses nothing: less is given rather than more.
bool is_chosen(const Json& selectors, const Json& role) {
  return std::ranges::any_of(selectors.items(), [&role](const Json& one) {
    const auto selector = api::label_selector_from(one);
    return selector.ok() && selector->matches(role["metadata"]["labels"]);
  });
}

// In the order of their roles' names, each rule once.
Json gathered_rules(const View& view, const Json& role) {
  Json rules = Json::array();
  for (const Json* other : view.all(kClusterRoles)) {
    if (api::name_of(*other) == api::name_of(role) || api::is_deleting(*other) ||
        !is_chosen(role["aggregationRule"]["clusterRoleSelectors"], *other))
      continue;
    for (const Json& rule : (*other)["rules"].items())
      if (std::ranges::find(rules.items(), rule) == rules.items().end()) rules.push_back(rule);
  }
  return rules;
}

class RoleController final : public Controller {
 public:
  std::string_view name() const override { return "clusterrole-aggregation-controller"; }

  std::vector<Write> writes() const override { return {{kClusterRoles, "update"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{kClusterRoles, [](const View& view, const Json& changed) {
               Keys keys;
               for (const Json* role : view.all(kClusterRoles))
                 if (gathers(*role) && (api::name_of(*role) == api::name_of(changed) ||
                                        is_chosen((*role)["aggregationRule"]["clusterRoleSelectors"], changed)))
                   keys.emplace_back(api::name_of(*role));
               return keys;
             }}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* role = view.find(kClusterRoles, key);
    if (!role || !gathers(*role) || api::is_deleting(*role)) return plan;
    Json rules = gathered_rules(view, *role);
    if (rules == (*role)["rules"] || (rules.empty() && (*role)["rules"].empty())) return plan;
    Json changed = *role;
    changed.set("rules", std::move(rules));
    plan.update(kClusterRoles, std::move(changed));
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_role_controller() { return std::make_unique<RoleController>(); }

}  // namespace controllers::cluster
