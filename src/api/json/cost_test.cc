// The cost of a request, counted in steps: twice as much asked is about twice the work, or it is refused by a limit.
#include <gtest/gtest.h>

#include <functional>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/json/problems.h"
#include "api/json/work.h"
#include "api/json/yaml.h"
#include "api/schema/managed_fields.h"
#include "api/schema/patch.h"
#include "base/format.h"

namespace api {
namespace {

std::uint64_t steps_of(const std::function<void()>& work) {
  const std::uint64_t begun = work_steps;
  work();
  return work_steps - begun;
}

// The work for 2n is at most three times that for n: linear with its logarithm, never square.
void expect_linear(const char* what, std::size_t n, const std::function<void(std::size_t)>& work) {
  const std::uint64_t once = steps_of([&] { work(n); });
  const std::uint64_t twice = steps_of([&] { work(2 * n); });
  EXPECT_GT(once, 0u) << what;
  EXPECT_LE(twice, 3 * once) << what << ": " << once << " steps for " << n << ", " << twice << " for " << 2 * n;
  EXPECT_LE(twice, 2 * n * 200) << what;
}

std::string name(std::size_t i) { return base::format("name-{}", i); }

Json object_of_names(std::size_t n) {
  Json object = Json::object();
  for (std::size_t i = 0; i < n; ++i) object.set(name(i), static_cast<std::int64_t>(i));
  return object;
}

Json named_list(std::size_t n, bool backwards = false) {
  Json list = Json::array();
  for (std::size_t i = 0; i < n; ++i) list.push_back(Json::object({{"name", name(backwards ? n - 1 - i : i)}}));
  return list;
}

Json config_map(std::size_t n) {
  return Json::object({{"apiVersion", "v1"},
                       {"kind", "ConfigMap"},
                       {"metadata", Json::object({{"name", "m"}})},
                       {"data", object_of_names(n)}});
}

TEST(Cost, unknown_fields_are_pruned_in_one_look) {
  expect_linear("prune", 20'000, [](std::size_t n) {
    Json map = config_map(0);
    for (std::size_t i = 0; i < n; ++i) map.set(name(i), 1);
    std::vector<std::string> removed;
    prune(core_schema("core.v1.ConfigMap"), map, {}, &removed);
    EXPECT_EQ(map.size(), 4u);
    EXPECT_EQ(removed.size(), kProblemsMax);
    EXPECT_EQ(removed.front(), "name-0");
  });
}

TEST(Cost, json_patches_of_many_operations) {
  expect_linear("removes", 4000, [](std::size_t n) {
    Json patch = Json::array();
    for (std::size_t i = 0; i < n; ++i) patch.push_back(Json::object({{"op", "remove"}, {"path", "/" + name(i)}}));
    EXPECT_TRUE(apply_json_patch(object_of_names(n), patch)->empty());
  });
  expect_linear("adds", 4000, [](std::size_t n) {
    Json patch = Json::array();
    for (std::size_t i = 0; i < n; ++i)
      patch.push_back(Json::object({{"op", "add"}, {"path", "/" + name(i)}, {"value", 1}}));
    EXPECT_EQ(apply_json_patch(Json::object(), patch)->size(), n);
  });
  expect_linear("tests", 4000, [](std::size_t n) {
    Json patch = Json::array();
    for (std::size_t i = 0; i < n; ++i)
      patch.push_back(Json::object({{"op", "test"}, {"path", "/" + name(i)}, {"value", static_cast<std::int64_t>(i)}}));
    EXPECT_TRUE(apply_json_patch(object_of_names(n), patch).ok());
  });
}

Json repeated(std::size_t n, const Json& operation) { return Json::array(std::vector<Json>(n, operation)); }

TEST(Cost, a_json_patch_stops_at_its_limits) {
  const auto refused = [](const Json& document, const Json& patch) {
    std::optional<base::Error> error;
    const std::uint64_t steps = steps_of([&] {
      auto result = apply_json_patch(document, patch);
      if (!result.ok()) error = result.take_error();
    });
    EXPECT_TRUE(error.has_value());
    EXPECT_LE(steps, JsonPatchLimits().steps * 2);
    return error.value_or(base::Error{});
  };
  const auto op = [](const char* what) { return parse_json(what).value(); };
  EXPECT_EQ(refused(Json::object(), repeated(10'001, op(R"({"op":"test","path":"","value":{}})"))).message,
            "The allowed maximum operations in a JSON patch is 10000, got 10001");
  // From the front of a long list, one by one.
  Json list = Json::array(std::vector<Json>(100'000, Json(1)));
  const base::Error front =
      refused(Json::object({{"l", list}}), repeated(5000, op(R"({"op":"remove","path":"/l/0"})")));
  EXPECT_EQ(front.code, base::Code::kTooLarge);
  EXPECT_EQ(front.message.substr(0, 45), "the JSON patch takes more than 8388608 steps ");
  // Copies that double.
  const base::Error copies =
      refused(op(R"({"a":["0123456789abcdef"]})"), repeated(60, op(R"({"op":"copy","from":"/a","path":"/a/-"})")));
  EXPECT_EQ(copies.code, base::Code::kInvalid);
  EXPECT_NE(copies.message.find("copy of /a/-: "), std::string::npos);
  // Levels that double.
  Json deep = Json::object();
  for (int i = 0; i < 900; ++i) deep = Json::object({{"a", deep}});
  std::string path;
  for (int i = 0; i < 300; ++i) path += "/a";
  Json patch = Json::array({Json::object({{"op", "copy"}, {"from", ""}, {"path", path + "/b"}})});
  EXPECT_EQ(refused(deep, patch).code, base::Code::kInvalid);
  patch = Json::array({Json::object({{"op", "add"}, {"path", path + "/b"}, {"value", deep}})});
  EXPECT_EQ(refused(deep, patch).code, base::Code::kInvalid);
}

TEST(Cost, a_failed_operation_is_named) {
  const Json patch = parse_json(R"([{"op":"add","path":"/a","value":1},{"op":"test","path":"/a","value":2}])").value();
  EXPECT_EQ(apply_json_patch(Json::object(), patch).error().message,
            "the server rejected our request due to an error in our request: operation 1, test of /a: testing value /a "
            "failed");
  const Json twice = parse_json(R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/a"}])").value();
  EXPECT_EQ(
      apply_json_patch(Json::object({{"a", 1}}), twice).error().message,
      "the server rejected our request due to an error in our request: operation 1, remove of /a: path /a does not "
      "exist");
}

TEST(Cost, merge_patches) {
  expect_linear("nulls of a merge patch", 20'000, [](std::size_t n) {
    Json patch = Json::object();
    for (std::size_t i = 0; i < n; ++i) patch.set(name(i), Json());
    EXPECT_TRUE(apply_merge_patch(object_of_names(n), patch).empty());
  });
  const Schema& pod = core_schema("core.v1.Pod");
  const auto strategic = [&](const Json& before, const Json& spec) {
    return apply_strategic_patch(pod, Json::object({{"spec", before}}), Json::object({{"spec", spec}})).value()["spec"];
  };
  expect_linear("$setElementOrder", 10'000, [&](std::size_t n) {
    const Json spec = strategic(Json::object({{"containers", named_list(n)}}),
                                Json::object({{"$setElementOrder/containers", named_list(n, true)}}));
    EXPECT_EQ(spec["containers"], named_list(n, true));
  });
  expect_linear("$setElementOrder of half the items", 10'000, [&](std::size_t n) {
    Json half = Json::array();
    for (std::size_t i = 0; i < n; i += 2) half.push_back(Json::object({{"name", name(i)}}));
    const Json before = Json::object({{"containers", named_list(n)}});
    EXPECT_EQ(strategic(before, Json::object({{"$setElementOrder/containers", half}})), before);
  });
  expect_linear("merge by key", 10'000, [&](std::size_t n) {
    EXPECT_EQ(strategic(Json::object({{"containers", named_list(n)}}),
                        Json::object({{"containers", named_list(n, true)}}))["containers"],
              named_list(n));
  });
  expect_linear("delete by key", 10'000, [&](std::size_t n) {
    Json gone = named_list(n);
    for (std::size_t i = 0; i < n; ++i) gone.edit(i).set("$patch", "delete");
    EXPECT_TRUE(
        strategic(Json::object({{"containers", named_list(n)}}), Json::object({{"containers", gone}}))["containers"]
            .empty());
  });
  expect_linear("finalizers", 10'000, [&](std::size_t n) {
    std::vector<Json> all;
    for (std::size_t i = 0; i < n; ++i) all.emplace_back(name(i));
    const Json list = Json::array(std::move(all));
    const Json before = Json::object({{"metadata", Json::object({{"finalizers", list}})}});
    EXPECT_EQ(apply_strategic_patch(pod, before, before).value(), before);
    const Json gone = Json::object({{"metadata", Json::object({{"$deleteFromPrimitiveList/finalizers", list}})}});
    EXPECT_TRUE(apply_strategic_patch(pod, before, gone).value()["metadata"]["finalizers"].empty());
  });
}

// `n` items of the key "c", each with `fields`, after one with `first`.
Json repeated_container(std::size_t n, Json first, Json fields) {
  first.set("name", "c");
  fields.set("name", "c");
  std::vector<Json> items(n + 1, fields);
  items[0] = std::move(first);
  return Json::object({{"containers", Json::array(std::move(items))}});
}

TEST(Cost, items_of_one_key_merge_in_place) {
  const Schema& pod = core_schema("core.v1.PodSpec");
  const Json one = Json::object({{"x", 1}});
  const auto limits_of = [](const Json& map) { return Json::object({{"resources", Json::object({{"limits", map}})}}); };
  const auto unknown_of = [](const Json& map) { return Json::object({{"unknown", Json::object({{"m", map}})}}); };
  expect_linear("limits", 4000, [&](std::size_t n) {
    const Json patch = repeated_container(n, limits_of(object_of_names(n)), limits_of(one));
    const Json result = apply_strategic_patch(pod, Json::object(), patch).value();
    EXPECT_EQ(result["containers"][std::size_t{0}]["resources"]["limits"].size(), n + 1);
  });
  expect_linear("limits that are stored", 4000, [&](std::size_t n) {
    const Json live = repeated_container(0, limits_of(object_of_names(n)), {});
    const Json result = apply_strategic_patch(pod, live, repeated_container(n, limits_of(one), limits_of(one))).value();
    EXPECT_EQ(result["containers"][std::size_t{0}]["resources"]["limits"].size(), n + 1);
    EXPECT_EQ(live["containers"][std::size_t{0}]["resources"]["limits"], object_of_names(n));
  });
  expect_linear("a field that nobody knows", 4000, [&](std::size_t n) {
    const Json patch = repeated_container(n, unknown_of(object_of_names(n)), unknown_of(one));
    const Json result = apply_strategic_patch(pod, Json::object(), patch).value();
    EXPECT_EQ(result["containers"][std::size_t{0}]["unknown"]["m"].size(), n + 1);
  });
}

TEST(Cost, a_strategic_patch_stops_at_its_limit) {
  const auto refused = [](const Json& patch) {
    std::string message;
    const std::uint64_t steps = steps_of([&] {
      const auto result = apply_strategic_patch(core_schema("core.v1.PodSpec"), Json::object(), patch);
      ASSERT_FALSE(result.ok());
      EXPECT_EQ(result.error().code, base::Code::kTooLarge);
      message = result.error().message;
    });
    EXPECT_LE(steps, kPatchStepsMax * 2);
    return message;
  };
  const auto env_of = [](Json list) { return Json::object({{"env", std::move(list)}}); };
  const Json x = env_of(Json::array({Json::object({{"name", "x"}})}));
  EXPECT_EQ(refused(repeated_container(2000, env_of(named_list(2000)), x)),
            "the strategic merge patch takes more than 8388608 steps of work: it stopped at an item with name \"x\"");
  refused(repeated_container(2000, env_of(Json::array({Json::object({{"name", std::string(1 << 20, 'k')}})})), x));
  const Json retain = Json::object({{"resources", Json::object({{"limits", Json::object({{"y", Json()}})}})}});
  Json limits = retain;
  limits.edit("resources").set("limits", object_of_names(5000));
  limits.edit("resources").edit("limits").set("y", 1);
  Json some = retain;
  some.edit("resources").edit("limits").set("z", Json());
  refused(repeated_container(5000, limits, some));
}

TEST(Cost, field_ownership) {
  const Schema& map = core_schema("core.v1.ConfigMap");
  expect_linear("update", 10'000, [&](std::size_t n) {
    Json object = config_map(n);
    record_update(map, Json(), object, {"a", "v1", "", base::Time{1}});
    Json changed = object;
    changed.set("data", Json::object());
    record_update(map, object, changed, {"b", "v1", "", base::Time{2}});
  });
  expect_linear("apply", 10'000, [&](std::size_t n) {
    const Json live = apply_configuration(map, Json(), config_map(n), {"a", "v1", "", base::Time{1}}, false).value();
    const Json left = apply_configuration(map, live, config_map(1), {"a", "v1", "", base::Time{1}}, false).value();
    EXPECT_EQ(left["data"].size(), 1u);
    Json other = config_map(n);
    for (std::size_t i = 0; i < n; ++i) other.edit("data").set(name(i), "other");
    const auto clash = apply_configuration(map, live, other, {"b", "v1", "", base::Time{1}}, false);
    EXPECT_EQ(clash.error().causes.size(), kProblemsMax);
  });
}

TEST(Cost, lists_that_are_applied) {
  const Schema& pod = core_schema("core.v1.PodSpec");
  expect_linear("lists backwards", 10'000, [&](std::size_t n) {
    const Json live = Json::object({{"containers", named_list(n)}});
    const Json config = Json::object({{"containers", named_list(n, true)}});
    EXPECT_EQ(lay_over(pod, live, config), config);
  });
  expect_linear("keys that repeat", 10'000, [&](std::size_t n) {
    const Json once = named_list(n);
    Json twice = once;
    for (const Json& item : once.items()) twice.push_back(item);
    const Json config = Json::object({{"containers", twice}});
    const auto refused = apply_configuration(pod, Json(), config, {"m", "v1", "", base::Time{1}}, false);
    ASSERT_FALSE(refused.ok());
    EXPECT_LE(refused.error().message.size(), std::size_t{100} * 256);
  });
}

TEST(Cost, the_oldest_of_many_managers_become_one) {
  const Schema& map = core_schema("core.v1.ConfigMap");
  Json object = config_map(0);
  for (int i = 0; i < 40; ++i) {
    Json changed = object;
    changed.edit("data").set(name(static_cast<std::size_t>(i)), "x");
    record_update(map, object, changed, {base::format("manager-{}", i), "v1", "", base::Time{base::seconds(i).ns}});
    object = changed;
  }
  const auto entries = object["metadata"]["managedFields"].items();
  ASSERT_EQ(entries.size(), 10u);
  EXPECT_EQ(entries[0]["manager"].as_string(), "ancient-changes");
  EXPECT_EQ(entries[0]["fieldsV1"]["f:data"].size(), 32u);  // with the map itself
  EXPECT_EQ(entries[9]["manager"].as_string(), "manager-39");
}

// Names whose hashes share their lower bits, as somebody who knows the hash finds them.
std::vector<std::string> colliding_names(std::size_t n) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; names.size() < n; ++i)
    if (std::string one = base::format("{}", i); (std::hash<std::string_view>()(one) & 0xfff) == 0)
      names.push_back(std::move(one));
  return names;
}

TEST(Cost, names_that_were_made_to_collide) {
  const std::vector<std::string> names = colliding_names(1000);
  Json object = Json::object();
  const std::uint64_t steps = steps_of([&] {
    for (const std::string& one : names) object.set(one, "x");
    for (const std::string& one : names) EXPECT_TRUE(object.has(one));
  });
  EXPECT_LE(steps, names.size() * 200);
  const Json shared = object;
  for (std::size_t i = 0; i < names.size(); i += 2) EXPECT_TRUE(object.erase(names[i]));
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(object.has(names[i]), i % 2 == 1);
    EXPECT_TRUE(shared.has(names[i]));
  }
  object.set(names[0], "again");
  EXPECT_EQ(object[names[0]].as_string(), "again");
  EXPECT_EQ(object.members().back().name(), names[0]);
}

TEST(Cost, validation_ends_at_a_hundred_problems) {
  expect_linear("validate", 20'000, [](std::size_t n) {
    std::vector<base::Cause> causes;
    Json pod = Json::object({{"spec", Json::object({{"containers", Json::array(std::vector<Json>(n, Json(1)))}})}});
    prune(core_schema("core.v1.Pod"), pod, {}, nullptr);
    validate(core_schema("core.v1.Pod"), pod, {}, causes);
    EXPECT_EQ(causes.size(), kProblemsMax);
  });
}

TEST(Cost, the_texts_of_problems_are_short) {
  const std::string long_name(1 << 20, 'x');
  Json map = config_map(0);
  map.edit("data").set(long_name, Json::array());
  map.set(long_name, 1);
  std::vector<base::Cause> causes;
  std::vector<std::string> removed;
  validate(core_schema("core.v1.ConfigMap"), map, {}, causes);
  prune(core_schema("core.v1.ConfigMap"), map, {}, &removed);
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_LT(causes[0].message.size() + causes[0].field.size(), 4096u);
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_LT(removed[0].size(), 2048u);
}

TEST(Cost, keys_that_repeat_below_a_long_name) {
  std::string body = R"({")" + std::string(100'000, 'x') + R"(":{)";
  for (int i = 0; i < 10'000; ++i) body += R"("a":1,)";
  body += R"("a":1}})";
  std::vector<std::string> twice;
  ASSERT_TRUE(parse_json(body, {&twice}).ok());
  EXPECT_EQ(twice.size(), 100u);
  EXPECT_LE(twice[0].size(), 1024u);
  twice.clear();
  body.erase(2, 99'500);  // YAML has a limit of its own for keys
  ASSERT_TRUE(parse_yaml(body, {&twice}).ok());
  EXPECT_EQ(twice.size(), 100u);
}

TEST(Cost, aliases_stand_for_a_limited_amount_of_text) {
  std::string body = "a: &x \"" + std::string(1 << 20, 'y') + "\"\nb: [*x, *x]\n";
  EXPECT_TRUE(parse_yaml(body).ok());
  body = "a: &x \"" + std::string(1 << 20, 'y') + "\"\nb: [*x, *x, *x, *x]\n";
  EXPECT_EQ(parse_yaml(body).error().message, "yaml: line 2: document contains excessive aliasing");
}

}  // namespace
}  // namespace api
