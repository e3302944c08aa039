// The rules for objects of strangers' kinds.
#include "apiserver/custom/custom_for_tests.h"
#include "apiserver/documents/tables.h"
#include "base/format.h"

namespace apiserver {
namespace {

using base::Code;
using Bench = CustomBench;

TEST(Custom, a_definition_is_served_at_once) {
  Bench b;
  EXPECT_FALSE(b.api.kinds()->find(kWidgetsV1));
  const Json made = b.define_widgets();
  EXPECT_EQ(made["status"]["conditions"][std::size_t{0}]["type"].as_string(), "NamesAccepted");
  EXPECT_EQ(made["status"]["conditions"][std::size_t{1}]["status"].as_string(), "True");
  EXPECT_EQ(made["status"]["storedVersions"], Json::array({Json("v1")}));
  EXPECT_EQ(made["spec"]["names"]["listKind"].as_string(), "WidgetList");
  const Json object =
      b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small, nul: null, name: null, gone: 1}")));
  EXPECT_EQ(object["spec"], yaml("{size: small, nul: null, replicas: 1, limit: 5}"));
  EXPECT_EQ(object["metadata"]["generation"].as_int(), 1);
  EXPECT_EQ(object["kind"].as_string(), "Widget");
  // The parts of an object are owned themselves.
  EXPECT_TRUE(object["metadata"]["managedFields"][std::size_t{0}]["fieldsV1"]["f:spec"].has("."));
}

TEST(Custom, what_is_kept_and_what_is_pruned) {
  Bench b;
  b.define_widgets();
  const Json object = b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget(R"(
size: small
free: {a: {b: null}}
map: {a: 1}
port: 80
template: {apiVersion: v1, kind: Pod, metadata: {name: a, foo: 1}, more: 1})")));
  EXPECT_EQ(object["spec"]["free"], yaml("{a: {b: null}}"));
  EXPECT_EQ(object["spec"]["template"], yaml("{apiVersion: v1, kind: Pod, metadata: {name: a}, more: 1}"));
  Request strict = b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small, gone: 1}", "y"));
  strict.field_validation = FieldValidation::kStrict;
  EXPECT_EQ(
      b.refused(std::move(strict)),
      "Widget in version \"v1\" cannot be handled as a Widget: strict decoding error: unknown field \"spec.gone\"");
}

// As Kubernetes decodes them: below `items` and `additionalProperties` of a schema nothing is strict.
TEST(Custom, unknown_fields_of_a_schema_are_named_but_below_items_and_values) {
  const auto defined = [](std::string_view schema) {
    return yaml(base::format(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: gadgets.example.com}}
spec:
  group: example.com
  scope: Namespaced
  names: {{plural: gadgets, kind: Gadget}}
  versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: object, properties: {{a: {}}}}}}}}}])",
                             schema));
  };
  const auto create = [&](Bench& b, std::string_view schema) {
    Request strict = b.request(Verb::kCreate, kDefinitions, "", defined(schema));
    strict.field_validation = FieldValidation::kStrict;
    return strict;
  };
  Bench named;
  EXPECT_NE(named.refused(create(named, "{type: string, readOnly: true}"))
                .find("unknown field \"spec.versions[0].schema.openAPIV3Schema.properties.a.readOnly\""),
            std::string::npos);
  for (const char* schema : {"{type: array, items: {type: string, readOnly: true}}",
                             "{type: object, additionalProperties: {type: string, readOnly: true}}",
                             "{type: array, items: {type: object, properties: {b: {type: string, readOnly: true}}}}"}) {
    Bench b;
    const Json made = b.ok(create(b, schema));
    EXPECT_EQ(made.dump().find("readOnly"), std::string::npos) << made.dump();
  }
}

TEST(Custom, objects_are_held_to_their_schema) {
  struct Row {
    const char* spec;
    const char* message;
  };
  const Row rows[] = {
      {"{}", "spec.size: Required value"},
      {"{size: huge}", "spec.size: Unsupported value: \"huge\": supported values: \"small\", \"large\""},
      {"{size: small, replicas: 11}",
       "spec.replicas: Invalid value: 11: spec.replicas in body should be less than or equal to 10"},
      {"{size: small, replicas: 6}", "spec.replicas: Forbidden: too many"},
      {"{size: small, name: a}", "spec.name: Invalid value: \"a\": spec.name in body should be at least 2 chars long"},
      {"{size: small, name: abcdef}", "spec.name: Too long: may not be more than 5 bytes"},
      {"{size: small, name: A1}", "spec.name: Invalid value: \"A1\": spec.name in body should match '^[a-z]+$'"},
      {"{size: small, tags: [a, a]}", "spec.tags[1]: Duplicate value: \"a\""},
      {"{size: small, tags: [a, b, c]}", "spec.tags: Too many: 3: must have at most 2 items"},
      {"{size: small, ratio: 3}", "spec.ratio: Invalid value: 3: spec.ratio in body should be less than 3"},
      {"{size: small, ratio: 1.2}", "spec.ratio: Invalid value: 1.2: spec.ratio in body should be a multiple of 0.5"},
      {"{size: small, port: true}",
       "spec.port: Invalid value: \"boolean\": spec.port in body must be of type integer,string: \"boolean\""},
      {"{size: small, map: {a: b}}",
       "spec.map.a: Invalid value: \"string\": spec.map.a in body must be of type integer: \"string\""},
      {"{size: small, ports: [{name: a}, {name: a}]}", "spec.ports[1]: Duplicate value: {\"name\":\"a\"}"},
      {"{size: small, choice: {a: x, b: y}}",
       "\"spec.choice\" must validate one and only one schema (oneOf). Found 2 valid alternatives"},
      {"{size: small, choice: {}}", "\"spec.choice\" must validate one and only one schema (oneOf). Found none valid"},
  };
  Bench b;
  b.define_widgets();
  for (const Row& row : rows) {
    const std::string message = b.refused(b.request(Verb::kCreate, kWidgetsV1, "", b.widget(row.spec)));
    EXPECT_NE(message.find(row.message), std::string::npos) << row.spec << "\n" << message;
  }
}

TEST(Custom, decimals_are_multiples_of_decimals) {
  Bench b;
  b.define_widgets();
  for (const auto& [share, fine] : {std::pair{"0.15", true},
                                    {"1.15", true},
                                    {"-0.35", true},
                                    {"0", true},
                                    {"0.151", false},
                                    {"100000000.02", false},
                                    {"1e300", true}}) {
    const auto made = b.call(
        b.request(Verb::kCreate, kWidgetsV1, "", b.widget(base::format("{{size: small, share: {}}}", share), "")));
    EXPECT_EQ(made.ok() || made.error().message.find("multiple") == std::string::npos, fine) << share;
  }
}

TEST(Custom, who_applies_a_status_owns_nothing_else) {
  Bench b;
  b.define_widgets();
  const auto apply = [&](const char* manager, const char* subresource, std::string_view body) {
    Request request = b.request(Verb::kPatch, kWidgetsV1, "x", yaml(body));
    request.body.set("apiVersion", "example.com/v1");
    request.body.set("kind", "Widget");
    request.subresource = subresource;
    request.patch_type = PatchType::kApply;
    request.field_manager = manager;
    return b.call(std::move(request));
  };
  ASSERT_TRUE(apply("a", "", "{metadata: {name: x, labels: {l: '1'}}, spec: {size: small}}").ok());
  ASSERT_TRUE(apply("s", "status", "{metadata: {name: x, labels: {l: '1'}}, status: {ready: true}}").ok());
  const Json object = b.ok(b.request(Verb::kGet, kWidgetsV1, "x"));
  EXPECT_TRUE(object["status"]["ready"].as_bool());
  EXPECT_EQ(object["metadata"]["managedFields"][std::size_t{1}]["fieldsV1"].dump(), R"({"f:status":{"f:ready":{}}})");
  EXPECT_TRUE(apply("a", "", "{metadata: {name: x, labels: {l: '2'}}, spec: {size: small}}").ok());
}

TEST(Custom, rules_compare_with_what_was) {
  Bench b;
  b.define_widgets();
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small, fixed: a}")));
  const std::string message = b.refused(b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{spec: {fixed: b}}")));
  EXPECT_EQ(message, "Widget.example.com \"x\" is invalid: spec.fixed: Invalid value: \"b\": is fixed");
  b.ok(b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{spec: {size: large}}")));
}

TEST(Custom, a_stricter_schema_lets_be_what_does_not_change) {
  Bench b;
  b.define_widgets();
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small, replicas: 3}")));
  Json stricter = yaml(kWidgets);
  Json versions = stricter["spec"]["versions"];
  for (std::size_t i = 0; i < 2; ++i)
    versions.edit(i)
        .edit_path({"schema", "openAPIV3Schema", "properties", "spec", "properties", "replicas"})
        .set("maximum", 2);
  b.ok(b.request(Verb::kPatch, kDefinitions, "widgets.example.com",
                 Json::object({{"spec", Json::object({{"versions", versions}})}})));
  b.ok(b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{spec: {size: large}}")));
  EXPECT_NE(b.refused(b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{spec: {replicas: 4}}")))
                .find("less than or equal to 2"),
            std::string::npos);
}

TEST(Custom, versions_share_what_is_stored) {
  Bench b;
  b.define_widgets();
  auto answer = b.call(b.request(Verb::kCreate, kWidgetsBeta, "", b.widget("{size: small}")));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->warnings, std::vector<std::string>{"example.com/v2beta1 Widget is deprecated"});
  EXPECT_EQ(object_of(*answer)["apiVersion"].as_string(), "example.com/v2beta1");
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsV1, "x"))["apiVersion"].as_string(), "example.com/v1");
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsBeta, "x"))["apiVersion"].as_string(), "example.com/v2beta1");
  const Json list = b.ok(b.request(Verb::kList, kWidgetsBeta, ""));
  EXPECT_EQ(list["items"][std::size_t{0}]["apiVersion"].as_string(), "example.com/v2beta1");
  b.ok(b.request(Verb::kPatch, kWidgetsBeta, "x", yaml("{spec: {size: large}}")));
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsV1, "x"))["spec"]["size"].as_string(), "large");
}

TEST(Custom, each_version_has_defaults_of_its_own) {
  Bench b;
  Json definition = yaml(kWidgets);
  definition.edit("spec")
      .edit("versions")
      .edit(0)
      .edit_path({"schema", "openAPIV3Schema", "properties", "spec", "properties", "name"})
      .set("default", "abc");
  b.define(definition);
  b.ok(b.request(Verb::kCreate, kWidgetsBeta, "", b.widget("{size: small}")));
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsV1, "x"))["spec"]["name"].as_string(), "abc");
  EXPECT_FALSE(b.ok(b.request(Verb::kGet, kWidgetsBeta, "x"))["spec"].has("name"));
}

TEST(Custom, a_new_default_is_there_when_old_objects_are_read) {
  Bench b;
  b.define_widgets();
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small}")));
  Json versions = yaml(kWidgets)["spec"]["versions"];
  for (std::size_t i = 0; i < 2; ++i)
    versions.edit(i)
        .edit_path({"schema", "openAPIV3Schema", "properties", "spec", "properties", "name"})
        .set("default", "abc");
  b.ok(b.request(Verb::kPatch, kDefinitions, "widgets.example.com",
                 Json::object({{"spec", Json::object({{"versions", versions}})}})));
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsV1, "x"))["spec"]["name"].as_string(), "abc");
  EXPECT_EQ(b.ok(b.request(Verb::kList, kWidgetsV1, ""))["items"][std::size_t{0}]["spec"]["name"].as_string(), "abc");
}

TEST(Custom, status_and_scale_are_beside_the_object) {
  Bench b;
  b.define_widgets();
  Json body = b.widget("{size: small, replicas: 2}");
  body.set("status", yaml("{replicas: 9}"));
  EXPECT_FALSE(b.ok(b.request(Verb::kCreate, kWidgetsV1, "", body)).has("status"));
  Request status = b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{status: {replicas: 2}, spec: {size: large}}"));
  status.subresource = "status";
  const Json changed = b.ok(std::move(status));
  EXPECT_EQ(changed["spec"]["size"].as_string(), "small");
  EXPECT_EQ(changed["metadata"]["generation"].as_int(), 1);
  Request scale = b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{spec: {replicas: 4}}"));
  scale.subresource = "scale";
  EXPECT_EQ(b.ok(std::move(scale))["spec"]["replicas"].as_int(), 4);
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsV1, "x"))["metadata"]["generation"].as_int(), 2);
}

TEST(Custom, lists_merge_by_the_schema_in_an_apply) {
  Bench b;
  b.define_widgets();
  const auto apply = [&](const char* manager, std::string_view spec) {
    Json body = b.widget(spec);
    body.set("apiVersion", "example.com/v1");
    body.set("kind", "Widget");
    Request request = b.request(Verb::kPatch, kWidgetsV1, "x", std::move(body));
    request.patch_type = PatchType::kApply;
    request.field_manager = manager;
    return b.call(std::move(request));
  };
  ASSERT_TRUE(apply("a", "{size: small, ports: [{name: a, port: 1}]}").ok());
  ASSERT_TRUE(apply("b", "{ports: [{name: b, port: 2}]}").ok());
  EXPECT_EQ(b.ok(b.request(Verb::kGet, kWidgetsV1, "x"))["spec"]["ports"].size(), 2u);
  const auto conflict = apply("b", "{size: large}");
  ASSERT_FALSE(conflict.ok());
  EXPECT_EQ(conflict.error().code, Code::kConflict);
  Request strategic = b.request(Verb::kPatch, kWidgetsV1, "x", Json::object());
  strategic.patch_type = PatchType::kStrategic;
  EXPECT_EQ(b.call(std::move(strategic)).error().code, Code::kUnsupportedMediaType);
}

TEST(Custom, lists_are_selected_by_the_fields_of_the_definition) {
  Bench b;
  b.define_widgets();
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small}", "a")));
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: large}", "b")));
  Request list = b.request(Verb::kList, kWidgetsV1, "");
  list.field_selector = "spec.size=large";
  EXPECT_EQ(b.ok(list)["items"].size(), 1u);
  list.field_selector = "spec.name=x";
  EXPECT_EQ(b.refused(list), "field label not supported: spec.name");
}

TEST(Custom, columns_show_what_their_paths_lead_to) {
  Bench b;
  b.define_widgets();
  const ServedKind kind = b.api.kinds()->find(kWidgetsV1);
  const Json object = yaml(
      R"({metadata: {name: x}, spec: {size: small}, status: {conditions: [{type: A, status: "1"}, {type: Ready, status: "True"}]}})");
  const Json table = make_table(*kind.kind, object, base::Time(), IncludeObject::kNone);
  EXPECT_EQ(table["rows"][std::size_t{0}]["cells"], yaml("[x, small, 'True']"));
  EXPECT_EQ(table["columnDefinitions"][std::size_t{1}]["description"].as_string(),
            "Custom resource definition column (in JSONPath format): .spec.size");
}

TEST(Custom, watches_end_when_the_definition_changes) {
  Bench b;
  b.define_widgets();
  int ended = 0;
  WatchSink sink;
  sink.on_events = [](const WatchSlicePtr&) { return true; };
  sink.on_bookmark = [](std::int64_t, bool) {};
  sink.on_end = [&] { ++ended; };
  auto watch = b.api.watch(b.request(Verb::kWatch, kWidgetsV1, ""), sink);
  ASSERT_TRUE(watch.ok());
  ASSERT_TRUE((*watch)->resume().ok());
  b.ok(b.request(Verb::kPatch, kDefinitions, "widgets.example.com", yaml("{metadata: {labels: {a: b}}}")));
  EXPECT_EQ(ended, 0);
  b.ok(b.request(Verb::kPatch, kDefinitions, "widgets.example.com", yaml("{spec: {names: {shortNames: [ww]}}}")));
  EXPECT_EQ(ended, 1);
}

TEST(Custom, objects_go_with_their_definition_whatever_they_hold) {
  CustomBench bench;
  bench.define_widgets();
  bench.ok(
      bench.request(Verb::kCreate, kWidgetsV1, "", bench.widget("{size: small, free: {deletionTimestamp: never}}")));
  bench.ok(bench.request(Verb::kDelete, kDefinitions, "widgets.example.com"));
  EXPECT_FALSE(bench.api.kinds()->find(kWidgetsV1));
}

TEST(Custom, a_definition_waits_for_objects_that_are_held) {
  CustomBench bench;
  bench.define_widgets();
  for (const char* name : {"one", "two"}) {
    Json held = bench.widget("{size: small}", name);
    held.edit("metadata").set("finalizers", Json::array({"example.com/hold"}));
    bench.ok(bench.request(Verb::kCreate, kWidgetsV1, "", held));
  }
  bench.ok(bench.request(Verb::kDelete, kDefinitions, "widgets.example.com"));
  for (const char* name : {"one", "two"}) {
    EXPECT_TRUE(bench.api.kinds()->find(kWidgetsV1)) << name;
    Request let_go = bench.request(Verb::kPatch, kWidgetsV1, name, yaml("{metadata: {finalizers: null}}"));
    let_go.patch_type = PatchType::kMerge;
    bench.ok(std::move(let_go));
  }
  EXPECT_FALSE(bench.api.kinds()->find(kWidgetsV1));
}

TEST(Custom, a_restart_finds_definitions_and_objects) {
  client::testing::FakeEnv env;
  const auto kv = rt::make_memory_kv();
  for (int start = 0; start < 2; ++start) {
    auto store = *store::Store::open(env, *kv);
    Api api(env, *store, ApiOptions{});
    api.bootstrap([](base::Status) {});
    env.settle();
    const auto call = [&](const api::ResourceId& id, Verb verb, Json body) {
      const ServedKind served = api.kinds()->find(id);
      ASSERT_TRUE(served);
      Request request;
      request.verb = verb;
      request.kind = served.kind;
      request.resource = served.resource;
      request.holds_kind = served.custom;
      if (served.kind->namespaced) request.ns = "default";
      if (verb == Verb::kGet) request.name = "x";
      request.body = std::move(body);
      bool answered = false;
      api.call(std::move(request), [&](base::Result<Answer> answer) {
        answered = true;
        EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
      });
      env.settle();
      EXPECT_TRUE(answered);
    };
    if (start == 0) {
      call(kDefinitions, Verb::kCreate, yaml(kWidgets));
      call(kWidgetsV1, Verb::kCreate, yaml("{metadata: {name: x}, spec: {size: small}}"));
    }
    call(kWidgetsV1, Verb::kGet, {});
  }
}

}  // namespace
}  // namespace apiserver
