// Before a pod is bound: how do its resource claims get their devices and its name?
#include "scheduler/effects/claim_steps.h"

#include <vector>

#include "api/meta/resource.h"
#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;

constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";

bool is_reserved_for(const Json& claim, std::string_view uid) {
  for (const Json& consumer : claim["status"]["reservedFor"].items()) {
    if (consumer["uid"].as_string() == uid) return true;
  }
  return false;
}

client::Request claim_request(const std::string& key, client::Verb verb) {
  const std::size_t slash = key.find('/');
  return {.verb = verb,
          .resource = api::resources::kResourceClaims,
          .ns = key.substr(0, slash),
          .name = key.substr(slash + 1)};
}

// Why the claim as it is now cannot have what was planned; empty: it can.
std::string obstacle(const PlannedClaim& plan, const Json& claim) {
  const Json& allocation = claim["status"]["allocation"];
  if (api::uid_of(claim) != plan.uid) return base::format("resourceclaim {} was replaced", plan.key);
  if (plan.allocation.is_null() && !allocation.is_object())
    return base::format("resourceclaim {} lost its allocation", plan.key);
  if (!plan.allocation.is_null() && allocation.is_object() && allocation != plan.allocation)
    return base::format("resourceclaim {} was allocated by somebody else", plan.key);
  return {};
}

}  // namespace

Step ClaimSteps::begin(const PlannedBind& plan) const {
  if (next_ == plan.claims.size()) return Step::done();
  return Step::call(claim_request(plan.claims[next_].key, client::Verb::kGet));
}

// A claim with devices must not vanish before they are given back.
Step ClaimSteps::protect(const PlannedBind& plan, const Json& claim) {
  const PlannedClaim& wanted = plan.claims[next_];
  if (std::string why = obstacle(wanted, claim); !why.empty())
    return Step::failed(base::make_error(base::Code::kConflict, std::move(why)));
  bool is_protected = claim["status"]["allocation"].is_object();
  std::vector<Json> finalizers(claim["metadata"]["finalizers"].items().begin(),
                               claim["metadata"]["finalizers"].items().end());
  for (const Json& one : finalizers) is_protected |= one.as_string() == kFinalizer;
  if (is_protected) return reserve(plan, claim);
  finalizers.emplace_back(kFinalizer);
  client::Request patch = claim_request(wanted.key, client::Verb::kPatch);
  patch.body = Json::object({{"metadata", Json::object({{"uid", wanted.uid},
                                                        {"resourceVersion", api::resource_version_of(claim)},
                                                        {"finalizers", Json::array(std::move(finalizers))}})}});
  at_ = At::kProtect;
  return Step::call(std::move(patch));
}

Step ClaimSteps::reserve(const PlannedBind& plan, const Json& claim) {
  const PlannedClaim& wanted = plan.claims[next_];
  if (is_reserved_for(claim, plan.uid) && (wanted.allocation.is_null() || claim["status"]["allocation"].is_object()))
    return proceed(plan);
  std::vector<Json> consumers(claim["status"]["reservedFor"].items().begin(),
                              claim["status"]["reservedFor"].items().end());
  if (!is_reserved_for(claim, plan.uid)) {
    consumers.push_back(Json::object({{"resource", "pods"}, {"name", plan.pod}, {"uid", plan.uid}}));
  }
  Json status = Json::object({{"reservedFor", Json::array(std::move(consumers))}});
  if (!wanted.allocation.is_null()) status.set("allocation", wanted.allocation);
  client::Request patch = claim_request(wanted.key, client::Verb::kPatch);
  patch.subresource = "status";
  patch.body = Json::object(
      {{"metadata", Json::object({{"uid", wanted.uid}, {"resourceVersion", api::resource_version_of(claim)}})},
       {"status", std::move(status)}});
  at_ = At::kReserve;
  return Step::call(std::move(patch));
}

Step ClaimSteps::proceed(const PlannedBind& plan) {
  ++next_;
  conflicts_ = 0;
  at_ = At::kRead;
  return begin(plan);
}

Step ClaimSteps::next(const PlannedBind& plan, const base::Result<Json>& answer) {
  if (answer.ok()) {
    if (at_ == At::kRead) return protect(plan, *answer);
    return at_ == At::kProtect ? reserve(plan, *answer) : proceed(plan);
  }
  const bool may_read_again = at_ != At::kRead && answer.error().code == base::Code::kConflict;
  if (!may_read_again || ++conflicts_ >= kConflictsMax) return Step::failed(answer.error());
  at_ = At::kRead;
  return begin(plan);
}

client::Request claim_release_request(const PlannedBind& plan, const PlannedClaim& claim) {
  client::Request patch = claim_request(claim.key, client::Verb::kPatch);
  patch.subresource = "status";
  patch.patch_type = client::PatchType::kStrategic;
  Json gone = Json::object({{"$patch", "delete"}, {"uid", plan.uid}});
  patch.body = Json::object({{"metadata", Json::object({{"uid", claim.uid}})},
                             {"status", Json::object({{"reservedFor", Json::array({gone})}})}});
  return patch;
}

}  // namespace scheduler
