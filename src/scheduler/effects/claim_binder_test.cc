// What is written to a resource claim before its pod is bound, and what happens when somebody else writes too.
#include "scheduler/effects/claim_binder.h"

#include <gtest/gtest.h>

#include <deque>

#include "api/resource.h"

namespace scheduler {
namespace {

using api::Json;

// One claim on a server that checks versions; answers wait until run().
class Server final : public client::Client {
 public:
  void call(client::Request request, OnResult on_result) override {
    waiting.emplace_back(std::move(request), std::move(on_result));
  }
  std::unique_ptr<client::Watch> watch(client::WatchRequest, OnEvent, OnEnd) override { return nullptr; }

  void run() {
    while (!waiting.empty()) {
      auto [request, done] = std::move(waiting.front());
      waiting.pop_front();
      done(answer(request));
    }
  }

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
  std::deque<std::pair<client::Request, OnResult>> waiting;
  std::vector<std::string> log;
};

PlannedBind plan(Json allocation) {
  PlannedBind out{.ns = "a", .pod = "p", .uid = "pod-uid", .node = "n1"};
  out.claims.push_back({"a/c", "u", std::move(allocation)});
  return out;
}

std::string bind(Server& server, const PlannedBind& what) {
  ClaimBinder binder(server);
  std::string outcome = "nothing";
  binder.bind(what, [&](base::Status status) { outcome = status.ok() ? "bound" : status.error().message; });
  server.run();
  return outcome;
}

const Json kAllocation =
    Json::object({{"devices", Json::object({{"results", Json::array({Json::object({{"device", "gpu-0"}})})}})}});

TEST(ClaimBinder, protects_allocates_and_reserves) {
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

TEST(ClaimBinder, keeps_the_reservations_of_others) {
  Server server;
  server.claim.edit("status").set("allocation", kAllocation);
  server.claim.edit("status").set("reservedFor", *api::parse_json(R"([{"resource":"pods","name":"q","uid":"other"}])"));
  EXPECT_EQ(bind(server, plan({})), "bound");
  EXPECT_EQ(server.claim["status"]["reservedFor"].size(), 2u);
}

TEST(ClaimBinder, tries_again_after_a_conflict_and_gives_up_when_overtaken) {
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

TEST(ClaimBinder, takes_the_reservation_back) {
  Server server;
  ClaimBinder binder(server);
  binder.release(plan({}));
  server.run();
  ASSERT_EQ(server.log.size(), 1u);
  EXPECT_NE(server.log[0].find(R"({"$patch":"delete","uid":"pod-uid"})"), std::string::npos);
}

}  // namespace
}  // namespace scheduler
