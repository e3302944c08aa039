// The writes to a resource claim before its pod is bound, also when another client writes too.
#include "scheduler/effects/claim_steps.h"

#include <gtest/gtest.h>

#include "api/meta/resource.h"

namespace scheduler {
namespace {

using api::Json;

// One claim on a server that checks versions.
class Server {
 public:
  base::Result<Json> answer(const client::Request& request) {
    if (request.verb == client::Verb::kGet) return claim;
    log.push_back((request.subresource.empty() ? "patch " : "patch status ") + request.body.dump());
    if (conflicts-- > 0) {
      touch();
      return base::make_error(base::Code::kConflict, "the object has been modified");
    }
    const Json& version = request.body["metadata"]["resourceVersion"];
    if (!version.is_null() && version != claim["metadata"]["resourceVersion"])
      return base::make_error(base::Code::kConflict, "stale");
    for (const auto& member : request.body["metadata"].members())
      claim.edit("metadata").set(member.name(), member.value);
    for (const auto& member : request.body["status"].members()) claim.edit("status").set(member.name(), member.value);
    touch();
    return claim;
  }

  void touch() { claim.edit("metadata").set("resourceVersion", std::to_string(++version)); }

  Json claim =
      *api::parse_json(R"({"metadata":{"name":"c","namespace":"a","uid":"u","resourceVersion":"1"},"spec":{}})");
  int version = 1;
  int conflicts = 0;
  std::vector<std::string> log;
};

PlannedBind plan(Json allocation) {
  PlannedBind out{.ns = "a", .pod = "p", .uid = "pod-uid", .node = "n1"};
  out.claims.push_back({"a/c", "u", std::move(allocation)});
  return out;
}

std::string bind(Server& server, const PlannedBind& what) {
  ClaimSteps claims;
  Step step = claims.begin(what);
  while (step.kind == Step::Kind::kCall) step = claims.next(what, server.answer(step.request));
  return step.kind == Step::Kind::kDone ? "bound" : step.error.message;
}

const Json kAllocation =
    Json::object({{"devices", Json::object({{"results", Json::array({Json::object({{"device", "gpu-0"}})})}})}});

TEST(ClaimSteps, protects_allocates_and_reserves) {
  Server server;
  EXPECT_EQ(bind(server, plan(kAllocation)), "bound");
  EXPECT_EQ(server.claim["metadata"]["finalizers"][std::size_t{0}].as_string(),
            "resource.kubernetes.io/delete-protection");
  EXPECT_EQ(server.claim["status"]["allocation"], kAllocation);
  EXPECT_EQ(server.claim["status"]["reservedFor"].dump(), R"([{"resource":"pods","name":"p","uid":"pod-uid"}])");
  EXPECT_EQ(server.log.size(), 2u);
  // The same again writes nothing.
  EXPECT_EQ(bind(server, plan(kAllocation)), "bound");
  EXPECT_EQ(server.log.size(), 2u);
}

TEST(ClaimSteps, keeps_the_reservations_of_others) {
  Server server;
  server.claim.edit("status").set("allocation", kAllocation);
  server.claim.edit("status").set("reservedFor", *api::parse_json(R"([{"resource":"pods","name":"q","uid":"other"}])"));
  EXPECT_EQ(bind(server, plan({})), "bound");
  EXPECT_EQ(server.claim["status"]["reservedFor"].size(), 2u);
}

TEST(ClaimSteps, tries_again_after_a_conflict_and_gives_up_when_overtaken) {
  Server server;
  server.conflicts = 2;
  EXPECT_EQ(bind(server, plan(kAllocation)), "bound");
  Server hopeless;
  hopeless.conflicts = 100;
  EXPECT_EQ(bind(hopeless, plan(kAllocation)), "the object has been modified");
  Server overtaken;
  overtaken.claim.edit("status").set("allocation", Json::object({{"devices", Json::object()}}));
  EXPECT_EQ(bind(overtaken, plan(kAllocation)), "resourceclaim a/c was allocated by somebody else");
  Server replaced;
  replaced.claim.edit("metadata").set("uid", "another");
  EXPECT_EQ(bind(replaced, plan(kAllocation)), "resourceclaim a/c was replaced");
  Server lost;
  EXPECT_EQ(bind(lost, plan({})), "resourceclaim a/c lost its allocation");
}

TEST(ClaimSteps, takes_the_reservation_back) {
  Server server;
  const PlannedBind what = plan({});
  (void)server.answer(claim_release_request(what, what.claims[0]));
  ASSERT_EQ(server.log.size(), 1u);
  EXPECT_NE(server.log[0].find(R"({"$patch":"delete","uid":"pod-uid"})"), std::string::npos);
}

}  // namespace
}  // namespace scheduler
