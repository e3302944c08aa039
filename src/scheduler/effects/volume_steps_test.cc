// What is written to a volume or a claim before its pod is bound, and what happens when somebody else writes too.
#include "scheduler/effects/volume_steps.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/resource.h"

namespace scheduler {
namespace {

using api::Json;

// Two claims and a volume on a server that checks versions. What is marked is bound at once.
class Server {
 public:
  base::Result<Json> answer(const client::Request& request) {
    Json& object = objects[request.name];
    if (request.verb == client::Verb::kGet) {
      if (request.name == "v" && on_volume_read) on_volume_read();
      return seen_late ? *std::exchange(seen_late, std::nullopt) : object;
    }
    log.push_back(request.name + " " + request.body.dump());
    if (request.body["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"])
      return base::make_error(base::Code::kConflict, "the object has been modified");
    if (request.name == "v") object.edit("spec").set("claimRef", request.body["spec"]["claimRef"]);
    for (const char* claim : {"c", "d"}) objects[claim].edit("status").set("phase", "Bound");
    return object;
  }

  std::map<std::string, Json> objects = {
      {"c", *api::parse_json(R"({"metadata":{"name":"c","namespace":"a","uid":"u","resourceVersion":"1"}})")},
      {"d", *api::parse_json(R"({"metadata":{"name":"d","namespace":"a","uid":"w","resourceVersion":"2"}})")},
      {"v", *api::parse_json(R"({"metadata":{"name":"v","uid":"x","resourceVersion":"7"},"spec":{}})")}};
  std::function<void()> on_volume_read;
  std::optional<Json> seen_late;  // what the next read shows instead
  std::vector<std::string> log;
};

PlannedBind plan(std::vector<VolumeChoice> volumes) {
  PlannedBind out{.ns = "a", .pod = "p", .uid = "pod-uid", .node = "n1"};
  out.volumes = std::move(volumes);
  return out;
}

std::string bind(Server& server, const PlannedBind& what) {
  base::Random random(1);
  const StepContext context{.now = {}, .uptime = {}, .random = random};
  VolumeSteps volumes;
  Step step = volumes.begin(what, context);
  for (int i = 0; i < 100 && step.kind == Step::Kind::kCall; ++i) {
    const base::Result<Json> answer = server.answer(step.request);
    step = volumes.next(what, &answer, context);
  }
  return step.kind == Step::Kind::kDone ? "bound" : step.error.message;
}

TEST(VolumeSteps, marks_the_volume_and_the_claim_as_they_were_read) {
  Server server;
  EXPECT_EQ(bind(server, plan({{.claim = "a/c", .volume = "v"}, {.claim = "a/d", .volume = ""}})), "bound");
  ASSERT_EQ(server.log.size(), 2u);
  EXPECT_EQ(server.log[0],
            R"(v {"spec":{"claimRef":{"apiVersion":"v1","kind":"PersistentVolumeClaim","namespace":"a","name":"c",)"
            R"("uid":"u"}},"metadata":{"annotations":{"pv.kubernetes.io/bound-by-controller":"yes"},"uid":"x",)"
            R"("resourceVersion":"7"}})");
  EXPECT_EQ(server.log[1], R"(d {"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"n1"},"uid":"w",)"
                           R"("resourceVersion":"2"}})");
  // The same again writes the volume no second time.
  EXPECT_EQ(bind(server, plan({{.claim = "a/c", .volume = "v"}})), "bound");
  EXPECT_EQ(server.log.size(), 2u);
}

TEST(VolumeSteps, leaves_a_volume_that_another_claim_took) {
  Server taken;
  taken.objects["v"].edit_path({"spec", "claimRef"}) =
      *api::parse_json(R"({"namespace":"b","name":"other","uid":"o"})");
  EXPECT_EQ(bind(taken, plan({{.claim = "a/c", .volume = "v"}})), "volume v is taken by claim b/other meanwhile");
  EXPECT_TRUE(taken.log.empty());
  // A claim of that name before this one.
  Server former;
  former.objects["v"].edit_path({"spec", "claimRef"}) = *api::parse_json(R"({"namespace":"a","name":"c","uid":"o"})");
  EXPECT_EQ(bind(former, plan({{.claim = "a/c", .volume = "v"}})), "volume v is taken by claim a/c meanwhile");
  // Kept for this claim by its administrator.
  Server reserved;
  reserved.objects["v"].edit_path({"spec", "claimRef"}) = *api::parse_json(R"({"namespace":"a","name":"c"})");
  EXPECT_EQ(bind(reserved, plan({{.claim = "a/c", .volume = "v"}})), "bound");
  EXPECT_EQ(reserved.objects["v"]["spec"]["claimRef"]["uid"].as_string(), "u");
}

TEST(VolumeSteps, loses_to_who_takes_the_volume_between_reading_and_writing) {
  Server server;
  server.on_volume_read = [&server] {
    if (server.log.empty()) server.seen_late = server.objects["v"];
    server.objects["v"].edit("metadata").set("resourceVersion", "8");
    server.objects["v"].edit_path({"spec", "claimRef"}) =
        *api::parse_json(R"({"namespace":"b","name":"other","uid":"o"})");
  };
  EXPECT_EQ(bind(server, plan({{.claim = "a/c", .volume = "v"}})), "volume v is taken by claim b/other meanwhile");
  EXPECT_EQ(server.log.size(), 1u);
  EXPECT_EQ(server.objects["v"]["spec"]["claimRef"]["uid"].as_string(), "o");
}

TEST(VolumeSteps, leaves_a_claim_that_was_bound_elsewhere) {
  Server server;
  server.objects["d"].edit_path({"spec", "volumeName"}) = "z";
  EXPECT_EQ(bind(server, plan({{.claim = "a/d", .volume = ""}})), "claim a/d is bound to volume z meanwhile");
  EXPECT_TRUE(server.log.empty());
}

}  // namespace
}  // namespace scheduler
