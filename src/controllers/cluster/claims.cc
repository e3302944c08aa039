// The resource claims that pods ask for by template, and the devices that come back. In a cluster Kubernetes does.
#include <algorithm>
#include <map>
#include <vector>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/cluster/cluster.h"

namespace controllers::cluster {

using api::Json;
namespace resources = api::resources;

namespace {

const api::ResourceId kTemplates{"resource.k8s.io", "v1", "resourceclaimtemplates"};
constexpr std::string_view kManager = "ResourceClaimController";
constexpr std::string_view kPodClaim = "resource.kubernetes.io/pod-claim-name";
constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";
constexpr std::size_t kNameMax = 253;

bool is_over(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return phase == "Succeeded" || phase == "Failed" ||
         (api::is_deleting(pod) && pod["spec"]["nodeName"].as_string().empty());
}

// Follows from the pod, so that a step that is repeated finds what it made.
std::string claim_name(const Json& pod, std::string_view claim) {
  std::string uid;
  for (const char c : api::uid_of(pod)) {
    if (c != '-') uid += c;
  }
  std::string name = base::format("{}-{}", api::name_of(pod), claim);
  name.resize(std::min(name.size(), kNameMax - 9));
  return name + "-" + uid.substr(0, 8);
}

// The names of a pod's claims: its own, those in its status, and those that it will have.
class ClaimNames {
 public:
  explicit ClaimNames(const Json& pod) : pod_(pod) {
    for (const Json& status : pod["status"]["resourceClaimStatuses"].items())
      made_.emplace(status["name"].as_string(), &status["resourceClaimName"]);
  }
  std::string of(const Json& use) const {
    if (!use["resourceClaimName"].as_string().empty()) return use["resourceClaimName"].str();
    const auto made = made_.find(use["name"].as_string());
    return made != made_.end() ? made->second->str() : claim_name(pod_, use["name"].as_string());
  }

 private:
  const Json& pod_;
  std::map<std::string_view, const Json*> made_;  // of equal names the first
};

class ClaimController final : public Controller {
 public:
  std::string_view name() const override { return "resourceclaim-controller"; }

  // Keys: "pod ns/name" and "claim ns/name".
  std::vector<Write> writes() const override {
    return {{resources::kResourceClaims, "create update"},
            {resources::kResourceClaims, "update", "status"},
            {resources::kPods, "apply", "status"}};
  }
  std::vector<Wake> wakes_on() const override {
    return {{resources::kPods,
             [](const View&, const Json& pod) {
               Keys keys;
               const ClaimNames names(pod);
               for (const Json& use : pod["spec"]["resourceClaims"].items()) {
                 if (keys.empty()) keys.push_back("pod " + api::key_of(pod));
                 keys.push_back(base::format("claim {}/{}", api::namespace_of(pod), names.of(use)));
               }
               return keys;
             }},
            {resources::kResourceClaims,
             [](const View&, const Json& claim) {
               Keys keys = {"claim " + api::key_of(claim)};
               if (const Json& owner = api::controller_of(claim); owner["kind"].as_string() == "Pod")
                 keys.push_back("pod " + std::string(api::namespace_of(claim)) + "/" + owner["name"].str());
               return keys;
             }},
            {kTemplates, [](const View& view, const Json& made_from) {
               Keys keys;
               for (const Json* pod : view.by_index(resources::kPods, "template", api::key_of(made_from)))
                 keys.push_back("pod " + api::key_of(*pod));
               return keys;
             }}};
  }

  std::vector<IndexBy> indexes() const override {
    return {{resources::kPods, "template", [](const Json& pod) {
               Keys keys;
               for (const Json& use : pod["spec"]["resourceClaims"].items()) {
                 if (const std::string_view one = use["resourceClaimTemplateName"].as_string(); !one.empty())
                   keys.push_back(base::format("{}/{}", api::namespace_of(pod), one));
               }
               return keys;
             }}};
  }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    const std::size_t space = key.find(' ');
    const std::string object = key.substr(space + 1);
    return key.starts_with("pod ") ? make_claims(view, object) : tidy_claim(view, object);
  }

 private:
  // The claims of the pod's templates, and their names in its status once they are there.
  static Plan make_claims(const View& view, const std::string& key) {
    Plan plan;
    const Json* pod = view.find(resources::kPods, key);
    if (pod == nullptr || api::is_deleting(*pod) || is_over(*pod)) return plan;
    Json statuses = Json::array();
    bool complete = true;
    const ClaimNames names(*pod);
    for (const Json& use : (*pod)["spec"]["resourceClaims"].items()) {
      const std::string_view made_from = use["resourceClaimTemplateName"].as_string();
      if (made_from.empty()) continue;
      const std::string name = names.of(use), ns(api::namespace_of(*pod));
      statuses.push_back(Json::object({{"name", use["name"]}, {"resourceClaimName", name}}));
      const Json* claim = view.find(resources::kResourceClaims, ns + "/" + name);
      if (claim != nullptr) {
        complete = complete && api::controller_of(*claim)["uid"].as_string() == api::uid_of(*pod);
        continue;
      }
      const Json* source = view.find(kTemplates, base::format("{}/{}", ns, made_from));
      if (source == nullptr) {
        plan.event(*pod, "Warning", "FailedResourceClaimCreation",
                   base::format("PodResourceClaim {}: resource claim template \"{}\" not found",
                                use["name"].as_string(), made_from));
        complete = false;
        continue;
      }
      plan.create(resources::kResourceClaims, claim_from(*source, *pod, use["name"].as_string(), name));
    }
    if (!complete || (*pod)["status"]["resourceClaimStatuses"] == statuses || statuses.empty()) return plan;
    if (!writes_nothing(plan)) plan.begin_stage();
    plan.apply_status(resources::kPods, *pod, Json::object({{"resourceClaimStatuses", std::move(statuses)}}),
                      std::string(kManager));
    return plan;
  }

  static Json claim_from(const Json& source, const Json& pod, std::string_view claim, const std::string& name) {
    Json metadata = source["spec"]["metadata"].is_object() ? source["spec"]["metadata"] : Json::object();
    metadata.set("name", name);
    metadata.set("namespace", api::namespace_of(pod));
    metadata.edit("annotations").set(kPodClaim, claim);
    Json owner = pod;
    owner.set("apiVersion", "v1");
    owner.set("kind", "Pod");
    metadata.set("ownerReferences", Json::array({api::controller_reference(owner)}));
    return Json::object({{"apiVersion", "resource.k8s.io/v1"},
                         {"kind", "ResourceClaim"},
                         {"metadata", std::move(metadata)},
                         {"spec", source["spec"]["spec"]}});
  }

  // Pods that are gone or done no longer hold the claim; nobody holds it: its devices are free.
  static Plan tidy_claim(const View& view, const std::string& key) {
    Plan plan;
    const Json* claim = view.find(resources::kResourceClaims, key);
    if (claim == nullptr) return plan;
    Json holders = Json::array();
    for (const Json& one : (*claim)["status"]["reservedFor"].items()) {
      const Json* pod =
          one["resource"].as_string() != "pods"
              ? nullptr
              : view.find(resources::kPods, base::format("{}/{}", api::namespace_of(*claim), one["name"].as_string()));
      const bool foreign = one["resource"].as_string() != "pods";
      if (foreign || (pod != nullptr && api::uid_of(*pod) == one["uid"].as_string() && !is_over(*pod)))
        holders.push_back(one);
    }
    const bool fewer = holders.size() != (*claim)["status"]["reservedFor"].size();
    const bool frees =
        holders.empty() && (fewer || api::is_deleting(*claim)) && (*claim)["status"]["allocation"].is_object();
    if (fewer || frees) {
      Json changed = *claim;
      Json& status = changed.edit("status");
      if (holders.empty())
        status.erase("reservedFor");
      else
        status.set("reservedFor", holders);
      if (frees) status.erase("allocation");
      plan.set_status(resources::kResourceClaims, std::move(changed));
      return plan;  // the rest once that is seen
    }
    const Json& finalizers = (*claim)["metadata"]["finalizers"];
    const bool protects = std::any_of(finalizers.items().begin(), finalizers.items().end(),
                                      [](const Json& one) { return one.as_string() == kFinalizer; });
    if (!protects || !holders.empty() || (*claim)["status"]["allocation"].is_object()) return plan;
    Json left = Json::array();
    for (const Json& one : finalizers.items()) {
      if (one.as_string() != kFinalizer) left.push_back(one);
    }
    Json changed = *claim;
    changed.edit("metadata").set("finalizers", std::move(left));
    plan.update(resources::kResourceClaims, std::move(changed));
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_claim_controller() { return std::make_unique<ClaimController>(); }

}  // namespace controllers::cluster
