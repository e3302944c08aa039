// JSON patch, merge patch, strategic merge, and server-side apply.
#include "api/schema/patch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/schema/field_set.h"
#include "api/schema/managed_fields.h"

namespace api {
namespace {

Json parse(std::string_view text) { return *parse_json(text); }

// The names of the items of a list, in order.
std::string names_of(const Json& list) {
  std::string names;
  for (const Json& item : list.items()) names += (names.empty() ? "" : " ") + item["name"].str();
  return names;
}

Json list_of_names(std::string_view names) {
  Json list = Json::array();
  for (std::size_t at = 0; at < names.size();) {
    const std::size_t end = std::min(names.find(' ', at), names.size());
    list.push_back(Json::object({{"name", std::string(names.substr(at, end - at))}}));
    at = end + 1;
  }
  return list;
}

TEST(Patch, json_patch_operations) {
  struct Row {
    const char* document;
    const char* patch;
    const char* result;  // null: refused
  };
  for (const Row& row :
       {Row{R"({"a":1})", R"([{"op":"add","path":"/b","value":2}])", R"({"a":1,"b":2})"},
        Row{R"({"l":[1,3]})", R"([{"op":"add","path":"/l/1","value":2}])", R"({"l":[1,2,3]})"},
        Row{R"({"l":[1]})", R"([{"op":"add","path":"/l/-","value":2}])", R"({"l":[1,2]})"},
        Row{R"({"a":1})", R"([{"op":"remove","path":"/a"}])", "{}"},
        Row{R"({"a":1})", R"([{"op":"remove","path":"/b"}])", nullptr},
        Row{R"({"a":1})", R"([{"op":"replace","path":"/b","value":1}])", nullptr},
        Row{R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", nullptr},
        Row{R"({"a/b":1,"~":2})", R"([{"op":"replace","path":"/a~1b","value":3},{"op":"remove","path":"/~0"}])",
            R"({"a/b":3})"},
        Row{R"({"a":{"b":1}})", R"([{"op":"move","from":"/a/b","path":"/c"}])", R"({"a":{},"c":1})"},
        Row{R"({"a":[1]})", R"([{"op":"copy","from":"/a","path":"/c"}])", R"({"a":[1],"c":[1]})"},
        Row{R"({"a":1})", R"([{"op":"frob","path":"/a"}])", nullptr},
        Row{R"({"l":[1]})", R"([{"op":"add","path":"/l/5","value":2}])", nullptr},
        Row{R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/b"}])", "{}"},
        Row{R"({"a":1,"":2})", R"([{"op":"remove","path":"/a"},{"op":"remove","path":"/"}])", "{}"},
        // A whole is not in its parts, and a path begins with a slash.
        Row{R"({"a":1})", R"([{"op":"remove","path":"/a"},{"op":"remove","path":""}])", nullptr},
        Row{R"({"a":1})", R"([{"op":"remove","path":"/a"},{"op":"remove","path":"a"}])", nullptr},
        Row{R"({"a":1})", R"([{"op":"remove","path":"/a"},{"op":"remove"}])", nullptr},
        Row{R"({})", R"({"op":"add"})", nullptr}}) {
    const auto result = apply_json_patch(parse(row.document), parse(row.patch));
    ASSERT_EQ(result.ok(), row.result != nullptr) << row.patch;
    if (row.result) {
      EXPECT_EQ(*result, parse(row.result)) << row.patch;
    }
  }
}

TEST(Patch, merge_patch_and_its_inverse) {
  const Json before = parse(R"({"a":{"b":1,"c":2},"l":[1],"d":null})");
  const Json after = apply_merge_patch(before, parse(R"({"a":{"b":null,"e":{"f":1}},"l":[2]})"));
  EXPECT_EQ(after, parse(R"({"a":{"c":2,"e":{"f":1}},"l":[2],"d":null})"));
  EXPECT_EQ(apply_merge_patch(parse(R"({"x":1,"y":{"z":1,"k":2}})"),
                              make_merge_patch(parse(R"({"x":1,"y":{"z":1,"k":2}})"), parse(R"({"y":{"z":2}})"))),
            parse(R"({"y":{"z":2}})"));
}

TEST(Patch, strategic_merge_follows_merge_keys_and_directives) {
  const Schema& pod = core_schema("core.v1.Pod");
  const Json live = parse(
      R"({"metadata":{"finalizers":["a","b"]},"spec":{"containers":[{"name":"a","image":"1","env":[{"name":"X","value":"1"}]},{"name":"b","image":"2"}],"tolerations":[{"key":"t"}]}})");
  const auto merged = [&](const char* patch) { return apply_strategic_patch(pod, live, parse(patch)).value(); };
  EXPECT_EQ(merged(R"({"spec":{"containers":[{"name":"a","image":"9"}]}})")["spec"]["containers"],
            parse(R"([{"name":"a","image":"9","env":[{"name":"X","value":"1"}]},{"name":"b","image":"2"}])"));
  EXPECT_EQ(merged(R"({"spec":{"containers":[{"name":"b","$patch":"delete"}]}})")["spec"]["containers"].size(), 1u);
  EXPECT_EQ(merged(R"({"spec":{"containers":[{"name":"c","image":"3"},{"$patch":"replace"}]}})")["spec"]["containers"],
            parse(R"([{"name":"c","image":"3"}])"));
  EXPECT_EQ(merged(R"({"spec":{"tolerations":[]}})")["spec"]["tolerations"].size(), 0u);
  EXPECT_EQ(merged(R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})")["metadata"]["finalizers"],
            parse(R"(["b"])"));
  EXPECT_EQ(merged(R"({"metadata":{"finalizers":["c"]}})")["metadata"]["finalizers"], parse(R"(["a","b","c"])"));
  EXPECT_EQ(merged(R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}})")["spec"]["containers"]
                                                                                             [std::size_t{0}]["name"]
                                                                                                 .as_string(),
            "b");
  EXPECT_FALSE(apply_strategic_patch(pod, live, parse(R"({"spec":{"containers":[{"image":"9"}]}})")).ok());
}

TEST(Patch, items_that_an_order_does_not_name_keep_their_place) {
  const Schema& pod = core_schema("core.v1.PodSpec");
  struct Row {
    const char* live;
    const char* order;
    const char* added;
    const char* result;
  };
  for (const Row& row :
       {Row{"sidecar a b", "a b c", "c", "sidecar a b c"}, Row{"a sidecar b", "a b", "", "a sidecar b"},
        Row{"a sidecar b", "b a", "", "sidecar b a"}, Row{"a b sidecar", "c a b", "c", "c a b sidecar"},
        Row{"sidecar a", "c a", "c", "c sidecar a"}, Row{"x a y b z", "b a", "", "x y b a z"}}) {
    const Json patch = Json::object(
        {{"$setElementOrder/containers", list_of_names(row.order)}, {"containers", list_of_names(row.added)}});
    const Json live = Json::object({{"containers", list_of_names(row.live)}});
    EXPECT_EQ(names_of(apply_strategic_patch(pod, live, patch).value()["containers"]), row.result) << row.live;
  }
}

TEST(Patch, a_deletion_takes_every_item_of_the_key_before_others_merge) {
  const Schema& container = core_schema("core.v1.Container");
  const Json live = parse(
      R"({"ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":80},{"containerPort":53,"protocol":"UDP"}]})");
  const auto ports = [&](const char* patch) {
    return apply_strategic_patch(container, live, Json::object({{"ports", parse(patch)}})).value()["ports"];
  };
  EXPECT_EQ(ports(R"([{"containerPort":53,"$patch":"delete"}])"), parse(R"([{"containerPort":80}])"));
  for (
      const char* patch :
      {R"([{"containerPort":53,"$patch":"delete"},{"containerPort":53,"name":"dns"},{"containerPort":80,"name":"web"}])",
       R"([{"containerPort":53,"name":"dns"},{"containerPort":80,"name":"web"},{"containerPort":53,"$patch":"delete"}])"})
    EXPECT_EQ(ports(patch), parse(R"([{"containerPort":80,"name":"web"},{"containerPort":53,"name":"dns"}])")) << patch;
  EXPECT_EQ(ports(R"([{"containerPort":53,"name":"dns"}])")[std::size_t{0}]["name"].as_string(), "dns");
}

TEST(Patch, items_of_one_key_merge_one_after_the_other) {
  const Schema& pod = core_schema("core.v1.PodSpec");
  const Json live = parse(
      R"({"containers":[{"name":"a","image":"1","env":[{"name":"X","value":"1"},{"name":"Y","value":"1"}],"resources":{"limits":{"cpu":"1","memory":"1"}}}]})");
  const Json before = parse(live.dump());
  const Json patch = parse(
      R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[
          {"name":"a","image":"2","env":[{"name":"Z"}],"resources":{"limits":{"cpu":"2"}}},
          {"name":"b","image":"3","args":["x"]},
          {"name":"a","env":[{"name":"Y","value":"2"}],"$setElementOrder/env":[{"name":"Z"},{"name":"X"}],
           "resources":{"limits":{"memory":null}}},
          {"name":"b","$retainKeys":["name","args"]}]})");
  EXPECT_EQ(apply_strategic_patch(pod, live, patch).value(), parse(R"({"containers":[
                {"name":"b","args":["x"]},
                {"name":"a","image":"2","env":[{"name":"Y","value":"2"},{"name":"Z"},{"name":"X","value":"1"}],
                 "resources":{"limits":{"cpu":"2"}}}]})"));
  EXPECT_EQ(live, before);
}

TEST(Apply, owners_conflict_share_and_let_go) {
  const Schema& map = core_schema("core.v1.ConfigMap");
  const auto apply = [&](const Json& live, const char* config, const char* who, bool force = false) {
    return apply_configuration(map, live, parse(config), {who, "v1", "", base::Time{1}}, force);
  };
  const Json first =
      apply(Json(), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"1"}})", "x")
          .value();
  const auto clash = apply(first, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2"}})", "y");
  ASSERT_FALSE(clash.ok());
  EXPECT_EQ(clash.error().code, base::Code::kConflict);
  EXPECT_EQ(clash.error().message, "Apply failed with 1 conflict: conflict with \"x\": .data.a");
  const Json taken = apply(first, R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2"}})", "y", true).value();
  EXPECT_EQ(taken["data"], parse(R"({"a":"2","b":"1"})"));
  // x no longer owns a; dropping both from its configuration removes only what nobody else owns.
  const Json left = apply(taken, R"({"apiVersion":"v1","kind":"ConfigMap","data":{}})", "x").value();
  EXPECT_EQ(left["data"], parse(R"({"a":"2"})"));
}

// The step from kubectl's own apply to that of the server.
TEST(Apply, kubectl_takes_over_what_it_applied_itself) {
  const Schema& map = core_schema("core.v1.ConfigMap");
  const auto made = [&](const char* last_applied) {
    Json object = parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"1"}})");
    object.edit("metadata").edit("annotations").set("kubectl.kubernetes.io/last-applied-configuration", last_applied);
    record_update(map, Json(), object, {"kubectl-client-side-apply", "v1", "", base::Time{1}});
    return object;
  };
  const auto apply = [&](const Json& live, const char* who) {
    return apply_configuration(map, live, parse(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"2","b":"2"}})"),
                               {who, "v1", "", base::Time{2}}, false);
  };
  const Json live = made(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","b":"1"}})");
  const auto taken = apply(live, "kubectl");
  ASSERT_TRUE(taken.ok()) << taken.error().message;
  EXPECT_EQ((*taken)["data"], parse(R"({"a":"2","b":"2"})"));
  for (const Json& entry : (*taken)["metadata"]["managedFields"].items())
    EXPECT_EQ(entry["fieldsV1"]["f:data"].has("f:a"), entry["manager"].as_string() == "kubectl");
  EXPECT_FALSE(apply(live, "other").ok());
  // Fields that somebody else changed since are not kubectl's, and they alone are named.
  EXPECT_EQ(apply(made(R"({"apiVersion":"v1","data":{"a":"1","b":"0"}})"), "kubectl").error().message,
            "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.b");
  for (const char* rubbish :
       {"", "{", "[]", "null", R"({"apiVersion":"v2","data":{"a":"1","b":"1"}})", R"({"data":1})"})
    EXPECT_EQ(apply(made(rubbish), "kubectl").error().causes.size(), 2u) << rubbish;
}

// The fields of an update, with the maps and lists around them, become an apply's (kubectl rewrites it so).
TEST(Apply, maps_around_what_is_still_applied_stay) {
  const Schema& map = core_schema("core.v1.ConfigMap");
  Json live =
      parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"1","c":"1"}})");
  record_update(map, Json(), live, {"kubectl", "v1", "", base::Time{1}});
  live.edit("metadata").edit("managedFields").edit(0).set("operation", "Apply");
  live.edit("data").set("d", "1");  // nobody's
  const auto apply = [&](const char* config) {
    return apply_configuration(map, live, parse(config), {"kubectl", "v1", "", base::Time{2}}, false).value();
  };
  EXPECT_EQ(apply(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","b":"1"}})")["data"],
            parse(R"({"a":"1","b":"1","d":"1"})"));
  EXPECT_EQ(apply(R"({"apiVersion":"v1","kind":"ConfigMap","data":{"a":"1","b":"1","c":"1"}})")["data"], live["data"]);
  EXPECT_EQ(apply(R"({"apiVersion":"v1","kind":"ConfigMap"})")["data"], parse(R"({"d":"1"})"));
}

TEST(Apply, updates_take_ownership_of_what_they_change) {
  const Schema& pod = core_schema("core.v1.Pod");
  Json object =
      parse(R"({"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"1"}]}})");
  record_update(pod, Json(), object, {"creator", "v1", "", base::Time{1}});
  ASSERT_EQ(object["metadata"]["managedFields"].size(), 1u);
  EXPECT_EQ(
      object["metadata"]["managedFields"][std::size_t{0}]["fieldsV1"],
      parse(
          R"({"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{}}}}})"));
  Json changed = object;
  changed.edit("spec").edit("containers").edit(0).set("image", "2");
  record_update(pod, object, changed, {"other", "v1", "", base::Time{2}});
  ASSERT_EQ(changed["metadata"]["managedFields"].size(), 2u);
  for (const Json& entry : changed["metadata"]["managedFields"].items()) {
    const bool owns = !entry["fieldsV1"]["f:spec"]["f:containers"]["k:{\"name\":\"c\"}"]["f:image"].is_null();
    EXPECT_EQ(owns, entry["manager"].as_string() == "other");
  }
}

TEST(Apply, items_of_lists_come_in_the_order_of_the_configuration) {
  const Schema& pod = core_schema("core.v1.Pod");
  const auto with = [](std::string_view names) {
    return Json::object({{"spec", Json::object({{"initContainers", list_of_names(names)}})}});
  };
  struct Row {
    const char* live;
    const char* applied;
    const char* result;
  };
  for (const Row& row : {Row{"migrate", "wait-db migrate", "wait-db migrate"}, Row{"a b c", "c a", "b c a"},
                         Row{"x a y b z", "b a", "x y b z a"}, Row{"a b c", "a b c", "a b c"}, Row{"a b", "b a", "b a"},
                         Row{"sidecar a b", "a b c", "sidecar a b c"}, Row{"a sidecar", "b a", "b a sidecar"},
                         Row{"x y", "a", "x y a"}, Row{"a b c", "b", "a b c"}, Row{"", "b a", "b a"},
                         Row{"a b", "b n a", "b n a"}, Row{"a b c d", "d b", "a c d b"}}) {
    const auto apply = [&](const Json& live) {
      return apply_configuration(pod, live, with(row.applied), {"m", "v1", "", base::Time{1}}, true).value();
    };
    const Json once = apply(with(row.live));
    EXPECT_EQ(names_of(once["spec"]["initContainers"]), row.result) << row.live << " <- " << row.applied;
    EXPECT_EQ(apply(once), once) << row.live << " <- " << row.applied;
  }
  const Json live = parse(R"({"metadata":{"finalizers":["a","b","c"]}})");
  const Json config = parse(R"({"metadata":{"finalizers":["c","a"]}})");
  EXPECT_EQ(lay_over(pod, live, config)["metadata"]["finalizers"], parse(R"(["b","c","a"])"));
}

TEST(Apply, a_key_stands_once_in_a_configuration) {
  const Schema& pod = core_schema("core.v1.Pod");
  const auto refused = [&](const char* config) {
    const auto result = apply_configuration(pod, Json(), parse(config), {"m", "v1", "", base::Time{1}}, true);
    if (result.ok()) return std::string();
    EXPECT_EQ(result.error().code, base::Code::kBadRequest);
    return result.error().message;
  };
  EXPECT_EQ(refused(R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"n"},
                  "spec":{"containers":[{"name":"c","env":[{"name":"A","value":"1"},{"name":"A","value":"2"}]}]}})"),
            "failed to create typed patch object (n/p; /v1, Kind=Pod): .spec.containers[name=\"c\"].env: duplicate "
            "entries for "
            "key [name=\"A\"]");
  EXPECT_EQ(
      refused(R"({"metadata":{"finalizers":["a/b","a/b"]},
                       "spec":{"containers":[{"name":"c","ports":[{"containerPort":1},{"containerPort":1,"protocol":"TCP"}]}]}})"),
      "failed to create typed patch object (/; /, Kind=): errors:\n  .metadata.finalizers: duplicate entries for key "
      "[=\"a/b\"]\n  .spec.containers[name=\"c\"].ports: duplicate entries for key [containerPort=1,protocol=\"TCP\"]");
  // Lists without keys have what they have, and so do live objects.
  const Json live = parse(R"({"spec":{"containers":[{"name":"c","env":[{"name":"A"},{"name":"A"}]}]}})");
  const Json config = parse(R"({"spec":{"containers":[{"name":"c","args":["a","a"],"env":[{"name":"B"}]}]}})");
  EXPECT_TRUE(apply_configuration(pod, live, config, {"m", "v1", "", base::Time{1}}, true).ok());
}

// Others of a live list may have one name twice: who applies that name has it once.
TEST(Apply, an_item_takes_the_place_of_several) {
  const Schema& container = core_schema("core.v1.Container");
  const Json live = parse(R"({"env":[{"name":"A","value":"1"},{"name":"B"},{"name":"A","value":"2"}]})");
  const Json config = parse(R"({"env":[{"name":"A","value":"3"}]})");
  EXPECT_EQ(lay_over(container, live, config)["env"], parse(R"([{"name":"A","value":"3"},{"name":"B"}])"));
  EXPECT_EQ(lay_over(container, live, parse(R"({"env":[{"name":"C"}]})"))["env"].size(), 4u);
}

}  // namespace
}  // namespace api
