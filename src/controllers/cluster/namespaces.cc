// The life of a namespace: a service account at its start, an empty house at its end.
#include <map>

#include "api/kinds.h"
#include "api/meta/resource.h"
#include "controllers/cluster/cluster.h"
#include "controllers/cluster/namespace_content.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr const char* kRootCa = "kube-root-ca.crt";

class NamespaceController final : public Controller {
 public:
  explicit NamespaceController(std::string root_ca) : root_ca_(std::move(root_ca)) {}
  std::string_view name() const override { return "namespace-controller"; }

  std::vector<Write> writes() const override {
    return {{api::ResourceId{"*", "*", "*"}, "create update patch delete deletecollection"}};
  }
  std::vector<Wake> wakes_on() const override {
    std::vector<Wake> wakes;
    wakes.push_back({resources::kNamespaces,
                     [](const View&, const Json& space) { return Keys{std::string(api::name_of(space))}; }});
    for (const api::KindInfo& kind : api::all_kinds())
      if (kind.namespaced && kind.kind != "Event") wakes.push_back(wake_on(kind.resource));
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> indexes;
    for (const api::KindInfo& kind : api::all_kinds())
      if (kind.namespaced && kind.kind != "Event") indexes.push_back(index_of(kind.resource));
    for (const auto& [resource, kind] : strangers_) indexes.push_back(index_of(resource));
    return indexes;
  }

  bool follows_definitions() const override { return true; }
  void kind_comes(const api::KindInfo& kind) override {
    if (kind.namespaced) strangers_[kind.resource] = kind.kind;
  }
  void kind_goes(const api::ResourceId& resource) override { strangers_.erase(resource); }
  std::vector<Wake> wakes_on_kind(const api::ResourceId& resource) override {
    if (!strangers_.contains(resource)) return {};
    return {wake_on(resource)};
  }
  std::vector<IndexBy> indexes_of_kind(const api::ResourceId& resource) override { return {index_of(resource)}; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
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
    empty_out(view, *space, key, turn, plan);
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

  // An object that goes may have been the last one in its namespace.
  static Wake wake_on(const api::ResourceId& resource) {
    return {resource,
            [](const View& view, const Json& object) {
              const Json* space = view.find(resources::kNamespaces, api::namespace_of(object));
              const bool matters = space && (api::is_deleting(*space) || api::name_of(object) == "default" ||
                                             api::name_of(object) == kRootCa);
              return matters ? Keys{std::string(api::namespace_of(object))} : Keys{};
            },
            [](const Json*, const Json* after) { return after == nullptr; }};
  }

  static IndexBy index_of(const api::ResourceId& resource) {
    return {resource, "namespace", [](const Json& object) { return Keys{std::string(api::namespace_of(object))}; }};
  }

  // Takes out what is seen of a resource, and counts it.
  static void remove_seen(const View& view, const api::ResourceId& resource, const std::string& key,
                          NamespaceContent& remains, Plan& plan) {
    const auto objects = view.by_index(resource, "namespace", key);
    remains.add(resource, objects);
    for (const Json* object : objects)
      if (!api::is_deleting(*object)) plan.remove(resource, *object);
  }

  void empty_out(const View& view, const Json& space, const std::string& key, const Turn& turn, Plan& plan) const {
    NamespaceContent remains;
    for (const api::KindInfo& kind : api::all_kinds())
      if (kind.namespaced && kind.kind != "Event") remove_seen(view, kind.resource, key, remains, plan);
    for (const auto& [resource, kind] : strangers_) remove_seen(view, resource, key, remains, plan);
    if (!remains.empty()) return report(space, remains, turn, plan);
    bool held = false;
    Json kept = Json::array();
    for (const Json& finalizer : space["spec"]["finalizers"].items()) {
      if (finalizer.as_string() == "kubernetes")
        held = true;
      else
        kept.push_back(finalizer);
    }
    if (!held) return report(space, remains, turn, plan);  // somebody else's finalizer keeps it
    // The view may be behind: events go last, and whatever is left is seen by the next turn.
    const api::KindInfo* events = api::find_kind(resources::kEvents);
    if (events) plan.remove_all(events->resource, "Event", key);
    for (const auto& [resource, kind] : strangers_) plan.remove_all(resource, kind, key);
    plan.begin_stage();
    Json object = space;
    object.edit("spec").set("finalizers", std::move(kept));
    plan.update(resources::kNamespaces, std::move(object)).subresource = "finalize";
  }

  // Why the namespace is still there. An object that has only now been told to go may be gone at once, which needs no
  // words.
  static void report(const Json& space, const NamespaceContent& remains, const Turn& turn, Plan& plan) {
    if (!writes_nothing(plan)) return;
    if (remains.empty() && space["status"]["conditions"].empty()) return;  // nothing was ever said to be left
    auto conditions = remains.conditions(space, turn.now);
    if (!conditions) return;
    if (turn.counts_wait > base::Duration{}) return plan.requeue_after(turn.counts_wait);
    Action& write = plan.patch(resources::kNamespaces, space, client::PatchType::kStrategic,
                               Json::object({{"status", Json::object({{"conditions", *std::move(conditions)}})}}));
    write.subresource = "status";
    write.urgency = client::Urgency::kCounts;
  }

  std::string root_ca_;                               // empty: there is none
  std::map<api::ResourceId, std::string> strangers_;  // kinds inside namespaces
};

}  // namespace

std::unique_ptr<Controller> make_namespace_controller(std::string root_ca) {
  return std::make_unique<NamespaceController>(std::move(root_ca));
}

}  // namespace controllers::cluster
