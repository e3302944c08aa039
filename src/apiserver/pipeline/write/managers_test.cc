// The owners of fields that clients themselves name, in PUTs and patches.
#include <gtest/gtest.h>

#include "apiserver/pipeline/api_for_tests.h"

namespace apiserver {
namespace {

using api::Json;

Json parse(std::string_view text) { return *api::parse_json(text); }

struct Bench : ApiForTests {
  Json ok(Verb verb, Json body, PatchType type = PatchType::kJson, const std::string& manager = {}) {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(api::resources::kConfigMaps);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    r.ns = "default";
    if (verb != Verb::kCreate) r.name = "m";
    r.body = std::move(body);
    r.patch_type = type;
    r.field_manager = manager;
    r.default_manager = "test";
    Json object;
    api.call(std::move(r), [&](base::Result<Answer> answer) {
      EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
      if (answer.ok()) object = object_of(*std::move(answer));
    });
    env.settle();
    return object;
  }
  Json made() { return ok(Verb::kCreate, parse(R"({"metadata":{"name":"m"},"data":{"a":"1","b":"1"}})")); }
  Json patched(const Json& managers) {
    Json operation = Json::object({{"op", "replace"}, {"path", "/metadata/managedFields"}, {"value", managers}});
    return ok(Verb::kPatch, Json::array({std::move(operation)}));
  }
};

const Json& managers_of(const Json& object) { return object["metadata"]["managedFields"]; }
const Json& version_of(const Json& object) { return object["metadata"]["resourceVersion"]; }

Json entry(const char* manager, const char* operation, const char* fields) {
  return Json::object({{"manager", manager},
                       {"operation", operation},
                       {"apiVersion", "v1"},
                       {"time", "2001-01-02T03:04:05Z"},
                       {"fieldsType", "FieldsV1"},
                       {"fieldsV1", parse(fields)}});
}

TEST(Managers, an_emptied_list_clears_them) {
  for (const char* empty : {"[{}]", "[]"}) {
    Bench b;
    const Json made = b.made();
    ASSERT_EQ(managers_of(made).size(), 1u);
    const Json cleared = b.patched(parse(empty));
    EXPECT_TRUE(managers_of(cleared).is_null()) << managers_of(cleared).dump();
    EXPECT_FALSE(version_of(cleared) == version_of(made));
    EXPECT_EQ(version_of(b.ok(Verb::kPatch, parse(R"({"metadata":{"managedFields":[]}})"), PatchType::kMerge)),
              version_of(cleared));
  }
}

// As kubectl and Flux turn what was applied by a client into what the server applies.
TEST(Managers, a_rewritten_list_is_taken) {
  Bench b;
  const Json made = b.made();
  const Json list = Json::array({entry("kubectl", "Apply", R"({"f:data":{"f:a":{}}})")});
  const Json taken = b.patched(list);
  EXPECT_EQ(managers_of(taken), list);
  EXPECT_EQ(version_of(b.patched(list)), version_of(taken));
  // A field that it owned and no longer names goes.
  const Json applied = b.ok(Verb::kPatch, parse(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"c":"1"}})"),
                            PatchType::kApply, "kubectl");
  EXPECT_EQ(applied["data"], parse(R"({"b":"1","c":"1"})"));
  // A PUT rewrites them, too, and what it changes is its author's.
  Json next = applied;
  next.edit("metadata").set("managedFields", Json::array({entry("x", "Update", R"({"f:data":{"f:b":{},"f:c":{}}})")}));
  next.edit("data").set("c", "2");
  const Json put = b.ok(Verb::kUpdate, next);
  ASSERT_EQ(managers_of(put).size(), 2u);
  EXPECT_EQ(managers_of(put)[std::size_t{0}]["fieldsV1"], parse(R"({"f:data":{"f:b":{}}})"));
  EXPECT_EQ(managers_of(put)[std::size_t{1}]["manager"].as_string(), "test");
  EXPECT_EQ(managers_of(put)[std::size_t{1}]["fieldsV1"], parse(R"({"f:data":{"f:c":{}}})"));
}

// `kubectl apply` without --server-side compares with what was applied last, whichever way.
TEST(Managers, an_apply_of_kubectl_keeps_its_annotation_in_step) {
  constexpr std::string_view kLast = "kubectl.kubernetes.io/last-applied-configuration";
  Bench b;
  b.made();
  const Json config = parse(
      R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","namespace":"default"},"data":{"z":"<2>"}})");
  const auto apply = [&](const Json& sent, const char* manager) {
    return b.ok(Verb::kPatch, sent, PatchType::kApply, manager)["metadata"]["annotations"];
  };
  EXPECT_FALSE(apply(config, "kubectl").has(kLast)) << "none was there";
  b.ok(Verb::kPatch, parse(R"({"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}}})"),
       PatchType::kMerge);
  EXPECT_EQ(apply(config, "flux")[kLast].as_string(), "{}") << "only kubectl's own";
  const std::string_view text =
      R"({"apiVersion":"v1","data":{"z":"\u003c2\u003e"},"kind":"ConfigMap","metadata":{"name":"m","namespace":"default"}})"
      "\n";
  EXPECT_EQ(apply(config, "kubectl")[kLast].as_string(), text);
  const Json version = version_of(b.ok(Verb::kPatch, config, PatchType::kApply, "kubectl"));
  EXPECT_EQ(version_of(b.ok(Verb::kPatch, config, PatchType::kApply, "kubectl")), version) << "nothing changed";
  // Annotations hold 256 KiB.
  Json large = config;
  large.edit("data").set("y", std::string(300 << 10, 'x'));
  EXPECT_FALSE(apply(large, "kubectl").has(kLast));
}

TEST(Managers, a_list_that_says_nothing_new_changes_nothing) {
  Bench b;
  const Json made = b.made();
  EXPECT_EQ(version_of(b.ok(Verb::kUpdate, made)), version_of(made));
  Json without = made;
  without.edit("metadata").erase("managedFields");
  EXPECT_EQ(b.ok(Verb::kUpdate, without), made);
  without.edit("data").set("a", "2");
  EXPECT_EQ(managers_of(b.ok(Verb::kUpdate, without)).size(), 1u);
  EXPECT_EQ(b.ok(Verb::kPatch, parse(R"([{"op":"remove","path":"/metadata/managedFields"}])"))["data"]["a"].as_string(),
            "2");
}

TEST(Managers, entries_that_no_server_wrote_are_left_out) {
  Bench b;
  const Json made = b.made();
  Json bad = Json::array({entry("a", "Delete", R"({"f:data":{}})"), entry("b", "Update", "{}"),
                          entry("c\n", "Update", R"({"f:data":{}})"),
                          entry("d", "Apply", R"({"f:kind":{},"f:metadata":{"f:name":{},"f:uid":{}},"nothing":{}})")});
  // The patch leaves nothing: the server keeps what it knows.
  EXPECT_EQ(b.patched(bad), made);
  bad.push_back(entry("e", "Update", R"({"f:data":{"f:a":{}}})"));
  bad.push_back(entry("e", "Update", R"({"f:data":{"f:b":{}}})"));
  Json good = Json::array({entry("e", "Update", R"({"f:data":{"f:a":{},"f:b":{}}})")});
  EXPECT_EQ(managers_of(b.patched(bad)), good);
  Json many = Json::array();
  for (int i = 0; i < 40; ++i)
    many.push_back(entry(("m" + std::to_string(i)).c_str(), "Update", R"({"f:data":{"f:a":{}}})"));
  EXPECT_EQ(managers_of(b.patched(many)).size(), 10u);
}

}  // namespace
}  // namespace apiserver
