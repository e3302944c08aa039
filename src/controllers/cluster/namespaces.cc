// The life of a namespace: a service account at its start, an empty house at its end.
#include "api/kinds.h"
#include "api/resource.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kRootCa = "kube-root-ca.crt";

class NamespaceController final : public Controller {
 public:
  explicit NamespaceController(std::string root_ca) : root_ca_(std::move(root_ca)) {}
  std::string_view name() const override { return "namespace-controller"; }

  std::vector<Wake> wakes_on() const override {
    std::vector<Wake> wakes;
    wakes.push_back({resources::kNamespaces,
                     [](const View&, const Json& space) { return Keys{std::string(api::name_of(space))}; }});
    for (const api::KindInfo& kind : api::all_kinds()) {
      if (!kind.namespaced || kind.kind == "Event") continue;
      // What goes may have been the last thing in its namespace.
      wakes.push_back({kind.resource,
                       [](const View& view, const Json& object) {
                         const Json* space = view.find(resources::kNamespaces, api::namespace_of(object));
                         const bool matters = space && (api::is_deleting(*space) || api::name_of(object) == "default" ||
                                                        api::name_of(object) == kRootCa);
                         return matters ? Keys{std::string(api::namespace_of(object))} : Keys{};
                       },
                       [](const Json*, const Json* after) { return after == nullptr; }});
    }
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> indexes;
    for (const api::KindInfo& kind : api::all_kinds())
      if (kind.namespaced && kind.kind != "Event")
        indexes.push_back({kind.resource, "namespace",
                           [](const Json& object) { return Keys{std::string(api::namespace_of(object))}; }});
    return indexes;
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* space = view.find(resources::kNamespaces, key);
    if (!space) return plan;
    if (!api::is_deleting(*space)) {
      if (!view.find(resources::kServiceAccounts, key + "/default"))
        plan.create(resources::kServiceAccounts,
                    Json::object({{"apiVersion", "v1"},
                                  {"kind", "ServiceAccount"},
                                  {"metadata", Json::object({{"name", "default"}, {"namespace", key}})}}))
            .existing_is_fine = true;
      if (!root_ca_.empty()) keep_root_ca(view, key, plan);
      return plan;
    }
    empty_out(view, *space, key, plan);
    return plan;
  }

 private:
  void keep_root_ca(const View& view, const std::string& key, Plan& plan) const {
    if (view.find(resources::kConfigMaps, key + "/" + kRootCa)) return;
    plan.create(resources::kConfigMaps,
                Json::object({{"apiVersion", "v1"},
                              {"kind", "ConfigMap"},
                              {"metadata", Json::object({{"name", kRootCa}, {"namespace", key}})},
                              {"data", Json::object({{"ca.crt", root_ca_}})}}))
        .existing_is_fine = true;
  }

  static void empty_out(const View& view, const Json& space, const std::string& key, Plan& plan) {
    bool empty = true;
    for (const api::KindInfo& kind : api::all_kinds()) {
      if (!kind.namespaced || kind.kind == "Event") continue;
      for (const Json* object : view.by_index(kind.resource, "namespace", key)) {
        empty = false;
        if (!api::is_deleting(*object)) plan.remove(kind.resource, *object);
      }
    }
    if (!empty) return;
    bool held = false;
    Json kept = Json::array();
    for (const Json& finalizer : space["spec"]["finalizers"].items()) {
      if (finalizer.as_string() == "kubernetes")
        held = true;
      else
        kept.push_back(finalizer);
    }
    if (!held) return;
    // The view may be behind: events go last, and whatever is left is seen by the next turn.
    const api::KindInfo* events = api::find_kind(resources::kEvents);
    if (events) plan.remove_all(events->resource, "Event", key);
    plan.begin_stage();
    Json object = space;
    object.edit("spec").set("finalizers", std::move(kept));
    plan.update(resources::kNamespaces, std::move(object)).subresource = "finalize";
  }

  std::string root_ca_;  // empty: there is none
};

}  // namespace

std::unique_ptr<Controller> make_namespace_controller(std::string root_ca) {
  return std::make_unique<NamespaceController>(std::move(root_ca));
}

}  // namespace controllers::cluster
