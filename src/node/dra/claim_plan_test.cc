// Which drivers are asked for what, and what containers get.
#include "node/dra/claim_plan.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) { return *api::parse_yaml(text); }

Json pod(const std::string& more = "") {
  return yaml(
      "{metadata: {name: p, namespace: ns, uid: pod-1}, spec: {resourceClaims: [{name: own, resourceClaimTemplateName: "
      "t}, {name: shared, resourceClaimName: s}]" +
      more + "}, status: {resourceClaimStatuses: [{name: own, resourceClaimName: p-own-1}]}}");
}

Json claim(const std::string& name, const std::string& status, const std::string& metadata = "") {
  return yaml("{metadata: {name: " + name + ", namespace: ns, uid: uid-" + name + metadata + "}, status: {" + status +
              "}}");
}

const std::string kReserved = "reservedFor: [{resource: pods, name: p, uid: pod-1}]";
const std::string kAllocated =
    "allocation: {devices: {results: [{driver: gpu.org, pool: n, device: g0, request: gpu}, {driver: nic.org, pool: n, "
    "device: n0, request: nic}]}}";

LocalClaim ready(const std::string& name, std::set<std::string> pods) {
  return {.key = {"ns", name, "uid-" + name},
          .pods = std::move(pods),
          .allocation = "x",
          .drivers = {{"gpu.org", {{{"gpu"}, "n", "g0", {"gpu.org/gpu=0"}}}},
                      {"nic.org", {{{}, "n", "n0", {"nic.org/nic=0"}}}}},
          .prepared = true,
          .confirmed = true};
}

LocalClaim wanted(const std::string& name, const std::string& pod_uid) {
  LocalClaim out = ready(name, {pod_uid});
  for (auto& [driver, devices] : out.drivers) devices.clear();
  out.prepared = out.confirmed = false;
  return out;
}

bool everybody(const std::string&) { return true; }

std::string text_of(const std::vector<DriverCall>& calls) {
  std::string out;
  for (const DriverCall& call : calls) {
    out += call.driver;
    for (const ClaimKey& key : call.claims) out += " " + key.name;
    out += "; ";
  }
  return out;
}

TEST(ClaimPlan, finds_the_claims_of_a_pod) {
  EXPECT_EQ(*claims_of(pod()), (std::vector<ClaimUse>{{"own", "p-own-1", true}, {"shared", "s", false}}));
  Json early = pod();
  early.edit("status").erase("resourceClaimStatuses");
  EXPECT_EQ(claims_of(early).error().message, "pod \"ns/p\": ResourceClaim not created yet");
  Json none = pod();
  none.edit("status").set("resourceClaimStatuses", yaml("[{name: own}]"));
  EXPECT_EQ(*claims_of(none), (std::vector<ClaimUse>{{"shared", "s", false}})) << "the claim is not needed";
  Json extended = pod();
  extended.edit("status").set("extendedResourceClaimStatus", yaml("{resourceClaimName: e}"));
  EXPECT_EQ(claims_of(extended)->back(), (ClaimUse{"", "e", false}));
  EXPECT_FALSE(has_claims(yaml("{spec: {}}")));
}

TEST(ClaimPlan, takes_a_claim_that_is_allocated_and_the_pods) {
  const ClaimUse use{"shared", "s", false}, own{"own", "p-own-1", true};
  const auto why = [&](const ClaimUse& of, const Json& object) {
    const auto taken = claim_for(pod(), of, object);
    return taken.ok() ? std::string("fine") : taken.error().message;
  };
  const auto good = claim_for(pod(), use, claim("s", kReserved + ", " + kAllocated));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->key, (ClaimKey{"ns", "s", "uid-s"}));
  EXPECT_EQ(good->drivers.size(), 2U);
  EXPECT_EQ(why(use, claim("s", kAllocated)), "pod p (pod-1) is not allowed to use ResourceClaim s (uid-s)");
  EXPECT_EQ(why(use, claim("s", kReserved)), "ResourceClaim s: not allocated");
  EXPECT_EQ(why(own, claim("p-own-1", kReserved + ", " + kAllocated)),
            "ResourceClaim ns/p-own-1 was not created for pod ns/p (pod is not owner)");
  EXPECT_EQ(why(own, claim("p-own-1", kReserved + ", " + kAllocated,
                           ", ownerReferences: [{controller: true, kind: Pod, uid: pod-1}]")),
            "fine");
  // Administrators' access is an allocation like any other here.
  EXPECT_EQ(why(use, claim("s", kReserved + ", allocation: {devices: {results: [{driver: gpu.org, pool: n, device: g0, "
                                            "request: gpu, adminAccess: true}]}}")),
            "fine");
}

TEST(ClaimPlan, asks_each_driver_once_for_all_claims) {
  const auto plan = plan_prepare({wanted("a", "pod-1"), wanted("b", "pod-1")}, {}, everybody);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(text_of(plan->calls), "gpu.org a b; nic.org a b; ");
  EXPECT_EQ(plan->claims.size(), 2U);
}

TEST(ClaimPlan, prepares_a_shared_claim_once_and_after_a_start_again) {
  LocalClaims local = {{"uid-a", ready("a", {"pod-0"})}};
  auto plan = plan_prepare({wanted("a", "pod-1")}, local, everybody);
  EXPECT_EQ(text_of(plan->calls), "");
  EXPECT_EQ(plan->claims["uid-a"].pods, (std::set<std::string>{"pod-0", "pod-1"}));
  local["uid-a"].confirmed = false;
  plan = plan_prepare({wanted("a", "pod-1")}, local, everybody);
  EXPECT_EQ(text_of(plan->calls), "gpu.org a; nic.org a; ");
}

TEST(ClaimPlan, says_what_is_in_the_way) {
  const auto why = [](const LocalClaim& want, const LocalClaims& local, const char* missing) {
    const auto plan = plan_prepare({want}, local, [&](const std::string& driver) { return driver != missing; });
    return plan.ok() ? std::string("nothing") : plan.error().message;
  };
  EXPECT_EQ(why(wanted("a", "pod-1"), {}, "nic.org"), "DRA driver nic.org is not registered");
  EXPECT_EQ(why(wanted("a", "pod-1"), {{"uid-a", ready("a", {"pod-1"})}}, "nic.org"),
            "DRA driver nic.org is not registered");
  LocalClaim old = ready("a", {"pod-0"});
  old.key.uid = "uid-old";
  EXPECT_EQ(why(wanted("a", "pod-1"), {{"uid-old", old}}, ""),
            "old ResourceClaim with same name a and different UID uid-old still exists (previous pod force-deleted?!)");
  LocalClaim moved = ready("a", {"pod-0"});
  moved.allocation = "y";
  EXPECT_EQ(why(wanted("a", "pod-1"), {{"uid-a", moved}}, ""),
            "ResourceClaim a is still prepared for the allocation that it had before");
}

TEST(ClaimPlan, gives_back_with_the_last_pod) {
  const LocalClaims local = {{"uid-a", ready("a", {"pod-1"})}, {"uid-b", ready("b", {"pod-1", "pod-2"})}};
  const UnpreparePlan plan = plan_unprepare("pod-1", local);
  EXPECT_EQ(plan.last, std::vector<std::string>{"uid-a"});
  EXPECT_EQ(plan.shared, std::vector<std::string>{"uid-b"});
  EXPECT_EQ(text_of(plan.calls), "gpu.org a; nic.org a; ");
  EXPECT_TRUE(plan_unprepare("pod-3", local).last.empty());
}

TEST(ClaimPlan, gives_containers_the_devices_of_their_requests) {
  const LocalClaims local = {{"uid-p-own-1", ready("p-own-1", {"pod-1"})}, {"uid-s", ready("s", {"pod-1"})}};
  const auto names = [&](const std::string& container) {
    const auto found = cdi_names_of(pod(), yaml(container), local);
    std::string out = found.ok() ? "" : found.error().message;
    if (found.ok())
      for (const std::string& name : *found) out += name + " ";
    return out;
  };
  EXPECT_EQ(names("{name: m}"), "");
  EXPECT_EQ(names("{name: m, resources: {claims: [{name: own}]}}"), "gpu.org/gpu=0 nic.org/nic=0 ");
  EXPECT_EQ(names("{name: m, resources: {claims: [{name: own, request: gpu}, {name: shared, request: gpu}]}}"),
            "gpu.org/gpu=0 nic.org/nic=0 ")
      << "a device without requests is every request's";
  LocalClaims lost = local;
  lost["uid-s"].prepared = false;
  EXPECT_EQ(cdi_names_of(pod(), yaml("{name: m, resources: {claims: [{name: shared}]}}"), lost).error().message,
            "ResourceClaim s is not prepared");
  Json extended = pod();
  extended.edit("status").set("extendedResourceClaimStatus",
                              yaml("{resourceClaimName: s, requestMappings: [{containerName: m, resourceName: "
                                   "gpu.org/gpu, requestName: gpu}]}"));
  EXPECT_EQ(cdi_names_of(extended, yaml("{name: m, resources: {requests: {gpu.org/gpu: 1}}}"), local)->size(), 2U);
  EXPECT_EQ(cdi_names_of(extended, yaml("{name: other, resources: {requests: {gpu.org/gpu: 1}}}"), local)->size(), 0U);
}

}  // namespace
}  // namespace node
