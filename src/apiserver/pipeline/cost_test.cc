// Large requests: what they cost in steps, that they are decided off the loop by what holds, and how much is told.
#include <gtest/gtest.h>

#include <optional>

#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/meta/resource.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "apiserver/pipeline/request/bounds.h"
#include "apiserver/pipeline/write/off_loop_writes.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

struct Bench : ApiForTests {
  Request request(Verb verb, const std::string& name, Json body = {}) const {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(api::resources::kConfigMaps);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    r.ns = "default";
    r.name = name;
    r.body = std::move(body);
    r.default_manager = "test";
    return r;
  }
  void send(Request r, std::optional<base::Result<Answer>>& answer) {
    api.call(std::move(r), [&answer](base::Result<Answer> a) { answer.emplace(std::move(a)); });
  }
  base::Result<Answer> call(Request r) {
    std::optional<base::Result<Answer>> answer;
    send(std::move(r), answer);
    env.settle();
    EXPECT_TRUE(answer.has_value());
    return answer ? *std::move(answer) : base::Result<Answer>(base::Error{});
  }
};

Json map_of(const std::string& name, std::size_t keys, std::string_view part = "data") {
  Json entries = Json::object();
  for (std::size_t i = 0; i < keys; ++i) entries.set(base::format("key-{}", i), "a value of some length");
  Json metadata = Json::object({{"name", name}});
  if (part == "labels") metadata.set("labels", entries);
  Json map = Json::object({{"metadata", metadata}});
  if (part == "data") map.set("data", entries);
  if (part == "unknown")
    for (const Json::Member& one : entries.members()) map.set(one.name(), one.value);
  return map;
}

TEST(Cost, of_large_writes_grows_with_their_size) {
  for (const char* part : {"unknown", "data"}) {
    const auto steps = [&](std::size_t keys) {
      Bench b;
      const std::uint64_t begun = api::work_steps;
      EXPECT_TRUE(b.call(b.request(Verb::kCreate, "", map_of("m", keys, part))).ok());
      EXPECT_TRUE(b.call(b.request(Verb::kUpdate, "m", map_of("m", keys / 2, part))).ok());
      EXPECT_TRUE(b.call(b.request(Verb::kDelete, "m")).ok());
      return api::work_steps - begun;
    };
    const std::uint64_t once = steps(10'000);
    EXPECT_LE(steps(20'000), 3 * once) << part;
  }
}

TEST(Cost, warnings_and_refusals_are_short) {
  Bench b;
  const auto warned = b.call(b.request(Verb::kCreate, "", map_of("m", 40'000, "unknown")));
  ASSERT_TRUE(warned.ok());
  std::size_t bytes = 0;
  for (const std::string& one : warned->warnings) bytes += one.size();
  EXPECT_LE(bytes, 4096u);
  EXPECT_EQ(warned->warnings.front(), "unknown field \"key-0\"");
  Request strict = b.request(Verb::kCreate, "", map_of("n", 40'000, "unknown"));
  strict.field_validation = FieldValidation::kStrict;
  EXPECT_LE(b.call(strict).error().message.size(), 20'000u);
  Json labels = map_of("l", 0);
  for (int i = 0; i < 1000; ++i) labels.edit_path({"metadata", "labels"}).set(base::format("-{}", i), "x");
  const auto refused = b.call(b.request(Verb::kCreate, "", labels));
  EXPECT_EQ(refused.error().causes.size(), api::kProblemsMax);
  EXPECT_LE(refused.error().message.size(), 20'000u);
  EXPECT_TRUE(refused.error().message.ends_with("(and 900 more)"));
  Json owned = map_of("o", 0);
  Json owners = Json::array();
  for (int i = 0; i < 50'000; ++i) owners.push_back(Json::object());
  owned.edit("metadata").set("ownerReferences", std::move(owners));
  const std::string four_each = b.call(b.request(Verb::kCreate, "", owned)).error().message;
  EXPECT_TRUE(four_each.ends_with("(and 900 more)")) << four_each.substr(four_each.size() - 100);
}

TEST(Bounds, of_warnings_are_those_of_kubernetes) {
  std::vector<std::string> few = {"a", "b", "a", std::string(3000, 'x')};
  bound_warnings(few);
  EXPECT_EQ(few, (std::vector<std::string>{"a", "b", std::string(3000, 'x')}));
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back(base::format("{} ", i) + std::string(1000, 'x'));
  bound_warnings(many);
  EXPECT_EQ(many.size(), 16u);
  EXPECT_EQ(many[0].size(), 256u);
}

TEST(LongWrites, hold_for_what_they_saw_or_are_decided_again) {
  Bench b;
  ASSERT_TRUE(b.call(b.request(Verb::kCreate, "", map_of("m", 4000))).ok());
  Request slow = b.request(Verb::kPatch, "m", Json::object({{"data", Json::object({{"slow", "1"}})}}));
  ASSERT_TRUE(is_long(static_cast<const Lookups&>(LiveObjects(*b.store)), slow));
  Request other = slow;
  other.body = Json::object({{"data", Json::object({{"other", "1"}})}});
  std::optional<base::Result<Answer>> first, second;
  b.send(std::move(slow), first);
  b.send(std::move(other), second);
  b.env.settle();
  ASSERT_TRUE(first && first->ok() && second && second->ok());
  const Json stored = object_of(*b.call(b.request(Verb::kGet, "m")));
  EXPECT_EQ(stored["data"]["slow"].as_string(), "1");
  EXPECT_EQ(stored["data"]["other"].as_string(), "1");
}

TEST(LongWrites, get_generated_names) {
  Bench b;
  Json map = map_of("", 5'000);
  map.set("metadata", Json::object({{"generateName", "large-"}}));
  const auto made = b.call(b.request(Verb::kCreate, "", map));
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_TRUE(api::name_of(object_of(*made)).starts_with("large-"));
  EXPECT_TRUE(b.call(b.request(Verb::kCreate, "", map)).ok());
}

TEST(LongWrites, see_that_their_object_or_namespace_is_missing) {
  Bench b;
  EXPECT_EQ(b.call(b.request(Verb::kUpdate, "nobody", map_of("nobody", 4000))).error().code, Code::kNotFound);
  Request elsewhere = b.request(Verb::kCreate, "", map_of("m", 4000));
  elsewhere.ns = "nowhere";
  EXPECT_EQ(b.call(elsewhere).error().code, Code::kNotFound);
  ASSERT_TRUE(b.call(b.request(Verb::kCreate, "", map_of("m", 4000))).ok());
  EXPECT_EQ(b.call(b.request(Verb::kCreate, "", map_of("m", 4000))).error().code, Code::kAlreadyExists);
}

TEST(LongWrites, that_are_too_large_are_refused_before_more_is_done_with_them) {
  Bench b;
  Request pod = b.request(Verb::kCreate, "");
  pod.kind = api::find_kind(api::resources::kPods);
  pod.resource = static_cast<std::uint32_t>(pod.kind - api::all_kinds().data());
  // Small as it is sent, large with its defaults.
  pod.body =
      Json::object({{"metadata", Json::object({{"name", "p"}})},
                    {"spec", Json::object({{"containers", Json::array(std::vector<Json>(20'000, Json::object()))}})}});
  const std::uint64_t begun = api::work_steps;
  EXPECT_EQ(b.call(pod).error().code, Code::kTooLarge);
  EXPECT_LE(api::work_steps - begun, 10'000'000u);
  Json map = map_of("m", 0);
  map.edit("data").set("k", std::string(1'700'000, 'x'));
  EXPECT_EQ(b.call(b.request(Verb::kCreate, "", map)).error().message, "Request entity too large: limit is 1572864");
}

TEST(LongWrites, that_are_too_many_come_again_later) {
  Bench b;
  std::vector<std::optional<base::Result<Answer>>> answers(300);
  for (std::size_t i = 0; i < answers.size(); ++i)
    b.send(b.request(Verb::kCreate, "", map_of(base::format("m-{}", i), 3000)), answers[i]);
  b.env.settle();
  std::size_t made = 0;
  for (const auto& answer : answers) {
    ASSERT_TRUE(answer.has_value());
    made += answer->ok();
    if (!answer->ok()) {
      EXPECT_EQ(answer->error().code, Code::kTooManyRequests);
      EXPECT_EQ(answer->error().retry_after_seconds, 1);
    }
  }
  EXPECT_EQ(made, 64u);
}

TEST(Collections, are_deleted_in_turns) {
  Bench b;
  for (int i = 0; i < 300; ++i) {
    Json map = map_of(base::format("m-{}", i), 100);
    map.edit_path({"metadata", "labels"}).set("odd", i % 2 ? "yes" : "no");
    ASSERT_TRUE(b.call(b.request(Verb::kCreate, "", map)).ok());
  }
  Request odd = b.request(Verb::kDeleteCollection, "");
  odd.label_selector = "odd=yes";
  std::optional<base::Result<Answer>> deleted, read;
  b.send(odd, deleted);
  b.send(b.request(Verb::kGet, "m-0"), read);
  EXPECT_TRUE(read.has_value());  // at once, while most deletions have not begun
  b.env.settle();
  ASSERT_TRUE(deleted && deleted->ok());
  EXPECT_EQ(object_of(**deleted)["items"].size(), 150u);
  EXPECT_EQ(b.store->count(odd.resource), 150u);
  Request list = b.request(Verb::kList, "");
  list.label_selector = "odd=no";
  list.limit = 100;
  const Json page = object_of(*b.call(list));
  EXPECT_EQ(page["items"].size(), 100u);
  list.continue_token = page["metadata"]["continue"].as_string();
  const Json rest = object_of(*b.call(list));
  EXPECT_EQ(rest["items"].size(), 50u);
  EXPECT_FALSE(rest["metadata"].has("continue"));
}

}  // namespace
}  // namespace apiserver
