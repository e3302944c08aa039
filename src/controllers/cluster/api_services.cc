// An APIService for each group and version that is served: those of the program, and those of definitions.
#include <set>

#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/time.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

const api::ResourceId kApiServices{"apiregistration.k8s.io", "v1", "apiservices"};
const api::ResourceId kDefinitions{"apiextensions.k8s.io", "v1", "customresourcedefinitions"};
constexpr std::string_view kManaged = "kube-aggregator.kubernetes.io/automanaged";
constexpr std::int64_t kOfProgram = 17'000, kOfDefinition = 1'000;  // groups with a higher number are listed first

std::string name_of_version(std::string_view group, std::string_view version) {
  return base::format("{}.{}", version, group);
}

// Such as "v1.apps" and "v1.".
const std::set<std::string>& versions_of_program() {
  static const auto kAll = [] {
    std::set<std::string> all;
    for (const api::KindInfo& kind : api::all_kinds())
      all.insert(name_of_version(kind.resource.group, kind.resource.version));
    return all;
  }();
  return kAll;
}

Keys versions_of(const Json& definition) {
  Keys keys;
  for (const Json& version : definition["spec"]["versions"].items())
    keys.push_back(name_of_version(definition["spec"]["group"].as_string(), version["name"].as_string()));
  return keys;
}

bool serves(const Json& definition, const std::string& name) {
  for (const Json& version : definition["spec"]["versions"].items())
    if (version["served"].as_bool() &&
        name_of_version(definition["spec"]["group"].as_string(), version["name"].as_string()) == name)
      return true;
  return false;
}

class ApiServiceController final : public Controller {
 public:
  std::string_view name() const override { return "local-apiservice-controller"; }

  std::vector<Write> writes() const override {
    return {{kApiServices, "create delete"}, {kApiServices, "update", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{kApiServices, [](const View&, const Json& one) { return Keys{std::string(api::name_of(one))}; }},
            {kDefinitions, [](const View&, const Json& one) { return versions_of(one); }},
            // There is always one, so that those of the program are looked at when it starts.
            {resources::kNamespaces, [](const View&, const Json& space) {
               Keys keys;
               if (api::name_of(space) == "default")
                 keys.assign(versions_of_program().begin(), versions_of_program().end());
               return keys;
             }}};
  }
  std::vector<IndexBy> indexes() const override { return {{kDefinitions, "version", versions_of}}; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    Plan plan;
    const Json* there = view.find(kApiServices, key);
    const bool of_program = versions_of_program().contains(key);
    if (!of_program && !is_defined(view, key)) {
      if (there != nullptr && api::label_of(*there, kManaged) == "true" && !api::is_deleting(*there))
        plan.remove(kApiServices, *there);
      return plan;
    }
    if (there == nullptr) {
      plan.create(kApiServices, local(key, of_program)).existing_is_fine = true;
    } else if ((*there)["status"]["conditions"].empty()) {
      Json changed = *there;
      changed.edit("status").set("conditions",
                                 Json::array({Json::object({{"type", "Available"},
                                                            {"status", "True"},
                                                            {"reason", "Local"},
                                                            {"message", "Local APIServices are always available"},
                                                            {"lastTransitionTime", base::format_rfc3339(turn.now)}})}));
      plan.set_status(kApiServices, std::move(changed));
    }
    return plan;
  }

 private:
  static bool is_defined(const View& view, const std::string& key) {
    for (const Json* definition : view.by_index(kDefinitions, "version", key))
      if (serves(*definition, key)) return true;
    return false;
  }

  static Json local(const std::string& key, bool of_program) {
    const std::size_t dot = key.find('.');
    return Json::object(
        {{"apiVersion", "apiregistration.k8s.io/v1"},
         {"kind", "APIService"},
         {"metadata",
          Json::object({{"name", key}, {"labels", Json::object({{kManaged, of_program ? "onstart" : "true"}})}})},
         {"spec", Json::object({{"group", key.substr(dot + 1)},
                                {"version", key.substr(0, dot)},
                                {"groupPriorityMinimum", of_program ? kOfProgram : kOfDefinition},
                                {"versionPriority", of_program ? 15 : 100}})}});
  }
};

}  // namespace

std::unique_ptr<Controller> make_api_service_controller() { return std::make_unique<ApiServiceController>(); }

}  // namespace controllers::cluster
