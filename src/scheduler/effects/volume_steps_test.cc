// The writes to a volume or a claim before its pod is bound, also when another client writes too.
#include "scheduler/effects/volume_steps.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"

namespace scheduler {
namespace {

using api::Json;

// Two claims and a volume on a server that checks versions. Marked claims are bound at once.
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

constexpr std::string_view kUnboundClaim =
    R"({"metadata":{"name":"c","namespace":"a","uid":"u"},"status":{"phase":"Pending"}})";
constexpr std::string_view kMarkedVolume =
    R"({"metadata":{"name":"v","uid":"x"},"spec":{"claimRef":{"namespace":"a","name":"c","uid":"u"}}})";

// A claim that is being provisioned: what is read of it, and what follows.
Step look_at(VolumeSteps& volumes, const PlannedBind& what, std::string_view claim, base::Duration uptime) {
  base::Random random(1);
  const base::Result<Json> answer = *api::parse_json(claim);
  return volumes.next(what, &answer, {.now = {}, .uptime = uptime, .random = random});
}

TEST(VolumeSteps, look_less_often_the_longer_a_claim_is_not_bound) {
  PlannedBind what = plan({{.claim = "a/d", .volume = ""}});
  what.volume_timeout = base::seconds(600);
  base::Random random(1);
  VolumeSteps volumes;
  ASSERT_EQ(volumes.begin(what, {.now = {}, .uptime = {}, .random = random}).kind, Step::Kind::kCall);
  const std::string_view pending = R"({"metadata":{"name":"d","namespace":"a","annotations":{)"
                                   R"("volume.kubernetes.io/selected-node":"n1"}},"status":{"phase":"Pending"}})";
  look_at(volumes, what, pending, {});  // is marked
  look_at(volumes, what, pending, {});  // and looked at
  base::Duration waited;
  int looks = 0;
  while (waited < base::seconds(30)) {
    const Step step = look_at(volumes, what, pending, waited);
    ASSERT_EQ(step.kind, Step::Kind::kPause);
    EXPECT_LE(step.pause, base::seconds(3));
    waited = waited + step.pause;
    ASSERT_LT(++looks, 20);
  }
}

TEST(VolumeSteps, a_claim_whose_provisioner_gives_the_node_back_is_decided_anew) {
  PlannedBind what = plan({{.claim = "a/d", .volume = ""}});
  what.volume_timeout = base::seconds(600);
  base::Random random(1);
  VolumeSteps volumes;
  volumes.begin(what, {.now = {}, .uptime = {}, .random = random});
  const std::string_view marked = R"({"metadata":{"name":"d","annotations":{)"
                                  R"("volume.kubernetes.io/selected-node":"n1"}},"status":{"phase":"Pending"}})";
  const std::string_view given_back = R"({"metadata":{"name":"d"},"status":{"phase":"Pending"}})";
  look_at(volumes, what, marked, {});
  look_at(volumes, what, marked, {});
  EXPECT_EQ(look_at(volumes, what, marked, {}).kind, Step::Kind::kPause);
  const Step step = look_at(volumes, what, given_back, {});
  EXPECT_EQ(step.kind, Step::Kind::kFailed);
  EXPECT_EQ(step.error.code, base::Code::kConflict);
  EXPECT_EQ(step.error.message, "claim a/d could not be provisioned for node n1");
  // Another scheduler's mark is not ours to judge, and a volume that is named already comes.
  VolumeSteps others;
  others.begin(what, {.now = {}, .uptime = {}, .random = random});
  look_at(others, what, marked, {});
  look_at(others, what, marked, {});
  const std::string_view named = R"({"metadata":{"name":"d"},"spec":{"volumeName":"v"},"status":{"phase":"Pending"}})";
  EXPECT_EQ(look_at(others, what, named, {}).kind, Step::Kind::kPause);
}

// A volume was chosen and marked, and its claim is not bound yet.
void wait_for_marked(VolumeSteps& volumes, const PlannedBind& what) {
  base::Random random(1);
  volumes.begin(what, {.now = {}, .uptime = {}, .random = random});
  look_at(volumes, what, kUnboundClaim, {});
  look_at(volumes, what, R"({"metadata":{"name":"v","uid":"x"},"spec":{}})", {});
  look_at(volumes, what, kMarkedVolume, {});
  ASSERT_EQ(look_at(volumes, what, kUnboundClaim, {}).kind, Step::Kind::kPause);
}

TEST(VolumeSteps, a_chosen_volume_that_is_not_marked_any_more_is_decided_anew) {
  PlannedBind what = plan({{.claim = "a/c", .volume = "v"}});
  what.volume_timeout = base::seconds(600);
  const struct {
    std::string_view volume;
    std::string error;  // empty: it is waited for
  } rows[] = {
      {kMarkedVolume, ""},
      {R"({"metadata":{"name":"v"},"spec":{}})", "volume v is not kept for claim a/c any more"},
      {R"({"metadata":{"name":"v"},"spec":{"claimRef":{"namespace":"a","name":"c"}}})",
       "volume v is not kept for claim a/c any more"},
      {R"({"metadata":{"name":"v"},"spec":{"claimRef":{"namespace":"b","name":"d","uid":"w"}}})",
       "volume v is not kept for claim a/c any more"},
  };
  for (const auto& row : rows) {
    VolumeSteps volumes;
    wait_for_marked(volumes, what);
    const Step read = look_at(volumes, what, kUnboundClaim, {});
    ASSERT_EQ(read.kind, Step::Kind::kCall) << row.volume;
    EXPECT_EQ(read.request.name, "v");
    const Step step = look_at(volumes, what, row.volume, {});
    EXPECT_EQ(step.kind, row.error.empty() ? Step::Kind::kPause : Step::Kind::kFailed) << row.volume;
    EXPECT_EQ(step.error.message, row.error);
    EXPECT_TRUE(row.error.empty() || step.error.code == base::Code::kConflict);
  }
  // A claim that names its volume already is about to be bound.
  VolumeSteps named;
  wait_for_marked(named, what);
  EXPECT_EQ(look_at(named, what, R"({"metadata":{"name":"c","uid":"u"},"spec":{"volumeName":"v"}})", {}).kind,
            Step::Kind::kPause);
  for (const char* phase : {"Pending", "Bound"}) {
    VolumeSteps of_another;
    wait_for_marked(of_another, what);
    const Step step = look_at(
        of_another, what,
        base::format(R"({{"metadata":{{"name":"c","uid":"u"}},"spec":{{"volumeName":"w"}},"status":{{"phase":"{}"}}}})",
                     phase),
        {});
    ASSERT_EQ(step.kind, Step::Kind::kFailed) << phase;
    EXPECT_EQ(step.error.message, "claim a/c is bound to volume w meanwhile");
  }
}

TEST(VolumeSteps, leaves_a_claim_that_was_bound_elsewhere) {
  Server server;
  server.objects["d"].edit_path({"spec", "volumeName"}) = "z";
  EXPECT_EQ(bind(server, plan({{.claim = "a/d", .volume = ""}})), "claim a/d is bound to volume z meanwhile");
  EXPECT_TRUE(server.log.empty());
}

}  // namespace
}  // namespace scheduler
