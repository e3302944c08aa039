// A role that forbids patching or getting: the same writes, by updating what was listed.
#include "client/without_patch.h"

#include <gtest/gtest.h>

#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"

namespace client {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

struct World {
  testing::FakeEnv env;
  testing::FakeClient* server = nullptr;
  std::unique_ptr<Client> client;

  World() {
    auto fake = std::make_unique<testing::FakeClient>(env);
    server = fake.get();
    client = make_client_without_patch(std::move(fake));
    server->put(api::resources::kPods, json(R"({"metadata":{"namespace":"ns","name":"a","uid":"u"},"status":
        {"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}})"));
  }
  void forbid(std::vector<Verb> verbs) {
    server->forbids = [verbs](const Request& request) {
      return std::find(verbs.begin(), verbs.end(), request.verb) != verbs.end();
    };
  }
  base::Result<Json> ask(Request request) {
    std::optional<base::Result<Json>> out;
    client->call(std::move(request), [&](base::Result<Json> answer) { out = std::move(answer); });
    env.run_for(base::seconds(1));
    return out ? *std::move(out) : base::make_error(base::Code::kTimeout, "no answer");
  }
  base::Result<Json> patch(std::string_view text, PatchType type = PatchType::kMerge) {
    return ask({.verb = Verb::kPatch,
                .resource = api::resources::kPods,
                .ns = "ns",
                .name = "a",
                .subresource = "status",
                .body = json(text),
                .patch_type = type});
  }
  std::string verbs() {
    static constexpr std::string_view kNames[] = {"get", "list", "create", "update", "patch", "delete", "collection"};
    std::string out;
    for (const Request& request : std::exchange(server->calls, {})) {
      if (!out.empty()) out += ' ';
      out += kNames[static_cast<std::size_t>(request.verb)];
      if (request.verb == Verb::kUpdate) out += "/" + request.subresource;
      if (request.verb == Verb::kList) out += "?" + request.field_selector;
    }
    return out;
  }
};

TEST(WithoutPatch, lets_through_what_is_allowed) {
  World world;
  ASSERT_TRUE(world.patch(R"({"status":{"phase":"Failed"}})").ok());
  EXPECT_EQ(world.verbs(), "patch");
}

TEST(WithoutPatch, updates_where_patches_are_forbidden) {
  World world;
  world.forbid({Verb::kPatch});
  ASSERT_TRUE(world.patch(R"({"metadata":{"uid":"u"},"status":{"phase":"Failed"}})").ok());
  EXPECT_EQ((*world.server->find(api::resources::kPods, "ns/a"))["status"]["phase"].as_string(), "Failed");
  EXPECT_EQ(world.verbs(), "patch get update/status");
  ASSERT_TRUE(world.patch(R"({"status":{"phase":"Failed"}})").ok());
  EXPECT_EQ(world.verbs(), "get") << "nothing changes, and nobody asks for what is known to be forbidden";
}

TEST(WithoutPatch, lists_what_it_may_not_get) {
  World world;
  world.forbid({Verb::kPatch, Verb::kGet});
  ASSERT_TRUE(world.patch(R"({"status":{"phase":"Failed"}})").ok());
  EXPECT_EQ(world.verbs(), "patch get list?metadata.name=a update/status");
  const auto missing = world.ask({.verb = Verb::kGet, .resource = api::resources::kPods, .ns = "ns", .name = "b"});
  EXPECT_EQ(missing.error().code, base::Code::kNotFound);
  EXPECT_EQ(missing.error().message, "pods \"b\" not found");
  EXPECT_EQ(world.verbs(), "list?metadata.name=b");
}

TEST(WithoutPatch, applies_lists_by_their_keys) {
  World world;
  world.forbid({Verb::kPatch});
  ASSERT_TRUE(
      world.patch(R"({"status":{"conditions":[{"type":"PodScheduled","status":"False"}]}})", PatchType::kStrategic)
          .ok());
  EXPECT_EQ((*world.server->find(api::resources::kPods, "ns/a"))["status"]["conditions"].size(), 2u);
}

TEST(WithoutPatch, writes_nothing_over_another_object) {
  World world;
  world.forbid({Verb::kPatch});
  EXPECT_EQ(world.patch(R"({"metadata":{"uid":"other"},"status":{"phase":"Failed"}})").error().code,
            base::Code::kConflict);
  EXPECT_EQ(world.patch(R"({"metadata":{"resourceVersion":"0"},"status":{"phase":"Failed"}})").error().code,
            base::Code::kConflict);
  EXPECT_EQ(world.verbs(), "patch get patch get");
}

TEST(WithoutPatch, tries_again_when_the_object_has_changed) {
  World world;
  int left = 2;
  world.server->forbids = [&](const Request& request) {
    if (request.verb == Verb::kUpdate && left-- > 0)
      world.server->put(api::resources::kPods,
                        json(R"({"metadata":{"namespace":"ns","name":"a","uid":"u","labels":{"new":"yes"}}})"));
    return request.verb == Verb::kPatch;
  };
  ASSERT_TRUE(world.patch(R"({"status":{"phase":"Failed"}})").ok());
  EXPECT_EQ(world.verbs(), "patch get update/status get update/status get update/status");
  EXPECT_EQ((*world.server->find(api::resources::kPods, "ns/a"))["metadata"]["labels"]["new"].as_string(), "yes");
}

TEST(WithoutPatch, remembers_no_refusal_where_the_other_way_is_closed_too) {
  World world;
  world.forbid({Verb::kGet, Verb::kList});
  const Request get{.verb = Verb::kGet, .resource = api::resources::kPods, .ns = "ns", .name = "a"};
  EXPECT_EQ(world.ask(get).error().code, base::Code::kForbidden);
  world.forbid({Verb::kList});  // the first refusal has passed
  EXPECT_TRUE(world.ask(get).ok());
  EXPECT_EQ(world.verbs(), "get list?metadata.name=a get");
}

TEST(WithoutPatch, forgets_what_it_knew_when_the_role_changes_back) {
  World world;
  world.forbid({Verb::kGet});
  const Request get{.verb = Verb::kGet, .resource = api::resources::kPods, .ns = "ns", .name = "a"};
  EXPECT_TRUE(world.ask(get).ok());
  world.forbid({Verb::kList});
  EXPECT_FALSE(world.ask(get).ok());
  EXPECT_TRUE(world.ask(get).ok());
  EXPECT_EQ(world.verbs(), "get list?metadata.name=a list?metadata.name=a get");
}

TEST(WithoutPatch, says_that_the_server_is_busy_when_others_are_always_faster) {
  World world;
  world.server->forbids = [&](const Request& request) {
    if (request.verb == Verb::kUpdate)
      world.server->put(api::resources::kPods, json(R"({"metadata":{"namespace":"ns","name":"a","uid":"u"}})"));
    return request.verb == Verb::kPatch;
  };
  EXPECT_EQ(world.patch(R"({"status":{"phase":"Failed"}})").error().code, base::Code::kUnavailable);
}

TEST(WithoutPatch, says_so_when_updates_are_forbidden_too) {
  World world;
  world.forbid({Verb::kPatch, Verb::kUpdate});
  EXPECT_EQ(world.patch(R"({"status":{"phase":"Failed"}})").error().code, base::Code::kForbidden);
}

}  // namespace
}  // namespace client
