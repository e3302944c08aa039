// One look at a pod: the newest configuration that selects it, and whether its annotations say so.
#include "controllers/colocation/controller.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/selector.h"

namespace controllers::colocation {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kName = "volcano.sh/colocation-config-name";
constexpr std::string_view kContent = "volcano.sh/colocation-config";
constexpr std::string_view kReset = "{}";  // tells the agent to undo what it set

// Absent selects nothing, empty selects all; one that makes no sense selects nothing.
bool selects(const Json& configuration, const Json& pod) {
  const Json& selector = configuration["spec"]["selector"];
  if (!selector.is_object()) return false;
  const auto read = api::label_selector_from(selector);
  return read.ok() && read->matches(pod["metadata"]["labels"]);
}

std::string content_of(const Json& configuration) {
  const Json& qos = configuration["spec"]["memoryQos"];
  if (!qos.is_object()) return std::string(kReset);
  Json ratios = Json::object();
  for (const char* ratio : {"highRatio", "lowRatio", "minRatio"})
    if (const std::int64_t value = qos[ratio].as_int(); value != 0) ratios.set(ratio, value);
  return Json::object({{"memoryQos", std::move(ratios)}}).dump();
}

bool newer(const Json& one, const Json& other) {
  const auto time = [](const Json& object) {
    return base::parse_rfc3339(object["metadata"]["creationTimestamp"].as_string()).value_or(base::Time{});
  };
  return time(one) != time(other) ? time(one) > time(other) : api::name_of(one) < api::name_of(other);
}

const Json* configuration_for(const View& view, const Json& pod) {
  const Json* best = nullptr;
  for (const Json* one : view.by_index(resources::kColocationConfigurations, "namespace", api::namespace_of(pod)))
    if (!api::is_deleting(*one) && selects(*one, pod) && (!best || newer(*one, *best))) best = one;
  return best;
}

bool is_marked(const Json& pod) {
  const Json& annotations = pod["metadata"]["annotations"];
  return annotations.has(kName) || annotations.has(kContent);
}

class ColocationController final : public Controller {
 public:
  std::string_view name() const override { return "colocation-config-controller"; }

  std::vector<Write> writes() const override { return {{resources::kPods, "patch"}}; }
  std::vector<Wake> wakes_on() const override {
    return {
        {.resource = resources::kPods,
         .keys =
             [](const View& view, const Json& pod) {
               // Most pods are in namespaces without configurations.
               const bool concerns =
                   is_marked(pod) ||
                   !view.by_index(resources::kColocationConfigurations, "namespace", api::namespace_of(pod)).empty();
               return concerns ? Keys{api::key_of(pod)} : Keys{};
             },
         .matters =
             [](const Json* before, const Json* after) {
               return after && (!before || (*before)["metadata"]["labels"] != (*after)["metadata"]["labels"]);
             }},
        {.resource = resources::kColocationConfigurations,
         .keys =
             [](const View& view, const Json& configuration) {
               Keys keys;
               for (const Json* pod : view.by_index(resources::kPods, "namespace", api::namespace_of(configuration)))
                 if (selects(configuration, *pod)) keys.push_back(api::key_of(*pod));
               return keys;
             },
         .matters = [](const Json* before,
                       const Json* after) { return !before || !after || (*before)["spec"] != (*after)["spec"]; },
         .may_be_absent = true}};
  }

  std::vector<IndexBy> indexes() const override {
    const auto space = [](const Json& one) { return Keys{std::string(api::namespace_of(one))}; };
    return {{resources::kColocationConfigurations, "namespace", space}, {resources::kPods, "namespace", space}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* pod = view.find(resources::kPods, key);
    if (!pod || api::is_deleting(*pod)) return plan;
    const Json* configuration = configuration_for(view, *pod);
    if (!configuration && !is_marked(*pod)) return plan;
    const Json name = configuration ? Json(api::name_of(*configuration)) : Json();
    const std::string content = configuration ? content_of(*configuration) : std::string(kReset);
    const Json& annotations = (*pod)["metadata"]["annotations"];
    if (annotations[kName] == name && annotations[kContent].as_string() == content) return plan;
    plan.patch(resources::kPods, *pod, client::PatchType::kMerge,
               Json::object({{"metadata",
                              Json::object({{"annotations", Json::object({{kName, name}, {kContent, content}})}})}}));
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_colocation_controller() { return std::make_unique<ColocationController>(); }

}  // namespace controllers::colocation
