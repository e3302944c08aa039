// Definitions of strangers' kinds: what is refused of them, their names, and their end.
#include <functional>

#include "apiserver/custom/custom_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using base::Code;
using Bench = CustomBench;

Json patched(Json definition, std::string_view schema) {
  Json version = definition["spec"]["versions"][std::size_t{0}];
  version.set("schema", Json::object({{"openAPIV3Schema", yaml(schema)}}));
  for (const char* name : {"subresources", "additionalPrinterColumns", "selectableFields"}) version.erase(name);
  definition.edit("spec").set("versions", Json::array({version}));
  return definition;
}

TEST(Definition, definitions_that_make_no_sense_are_refused) {
  struct Row {
    const char* schema;
    const char* message;
  };
  const Row rows[] = {
      {"{}", "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root"},
      {"{type: string}", ".type: Invalid value: \"string\": must be object at the root"},
      {"{type: object, properties: {a: {description: x}}}",
       "properties[a].type: Required value: must not be empty for specified object fields"},
      {"{type: object, properties: {a: {type: array}}}", "properties[a].items: Required value: must be specified"},
      {"{type: object, properties: {a: {type: foo}}}", "properties[a].type: Unsupported value: \"foo\""},
      {"{type: object, properties: {a: {type: string, pattern: '('}}}",
       "must be a valid regular expression, but isn't: error parsing regexp: missing closing ): `(`"},
      {"{type: object, properties: {a: {type: string, pattern: '(?=a)'}}}", "must be a valid regular expression"},
      {"{type: object, properties: {a: {type: string, default: 1}}}", "properties[a].default: Invalid value"},
      {"{type: object, properties: {a: {type: object, properties: {b: {type: string}}, default: {c: 1}}}}",
       "properties[a].default: Invalid value: {\"c\":1}: must not have unknown fields"},
      {"{type: object, properties: {a: {type: object, properties: {x: {type: string}}, additionalProperties: {type: "
       "string}}}}",
       "additionalProperties and properties are mutual exclusive"},
      {"{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}}}",
       "uniqueItems cannot be set to true"},
      {"{type: object, properties: {a: {type: object, anyOf: [{type: object}]}}}",
       "properties[a].anyOf[0].type: Forbidden: must be empty to be structural"},
      {"{type: object, properties: {a: {type: object}}, anyOf: [{properties: {a: {properties: {b: {minLength: 1}}}}}]}",
       "properties[a].properties[b]: Required value: because it is defined in"},
      {"{type: object, properties: {a: {type: string}}, not: {allOf: [{properties: {b: {minLength: 1}}}]}}",
       "properties[b]: Required value: because it is defined in"},
      {"{type: object, properties: {a: {type: array, items: {type: object, properties: {k: {type: string}}}, "
       "x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}}}",
       "it must have a default or be a required property"},
      {"{type: object, properties: {metadata: {type: object, properties: {labels: {type: object}}}}}",
       "must not specify anything other than name and generateName"},
      {"{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: 'self.all('}]}}}",
       "x-kubernetes-validations[0].rule: Invalid value"},
      {"{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: size(self)}]}}}",
       "cel expression must evaluate to a bool"},
      {"{type: object, properties: {a: {type: integer, default: 1, x-kubernetes-validations: [{rule: self > 1}]}}}",
       "spec.validation.openAPIV3Schema.properties[a].default: Invalid value: 1: failed rule: self > 1"},
      {"{type: object, properties: {a: {type: object, default: {}, properties: {b: {type: array, default: [1], items: "
       "{type: integer, x-kubernetes-validations: [{rule: self > 1, message: too small}]}}}}}}",
       "[spec.validation.openAPIV3Schema.properties[a].default.b[0]: Invalid value: 1: too small, "
       "spec.validation.openAPIV3Schema.properties[a].properties[b].default[0]: Invalid value: 1: too small]"},
      {"{type: object, properties: {a: {type: string, $ref: x}}}", "$ref: Forbidden: $ref is not supported"},
      {"{type: object, properties: {a: {type: string, x-kubernetes-list-type: set}}}",
       "must be array if x-kubernetes-list-type is specified"},
  };
  Bench b;
  for (const Row& row : rows) {
    const std::string message =
        b.refused(b.request(Verb::kCreate, kDefinitions, "", patched(yaml(kWidgets), row.schema)));
    EXPECT_NE(message.find(row.message), std::string::npos) << row.schema << "\n" << message;
  }
}

// Every value of a definition in turn is another one.
void replace_each(const Json& value, const Json& by, const std::function<void(Json)>& use) {
  use(by);
  for (std::size_t i = 0; i < value.items().size(); ++i)
    replace_each(value[i], by, [&](Json inner) {
      Json copy = value;
      copy.edit(i) = std::move(inner);
      use(std::move(copy));
    });
  for (const Json::Member& member : value.members())
    replace_each(member.value, by, [&](Json inner) {
      Json copy = value;
      copy.set(member.name(), std::move(inner));
      use(std::move(copy));
    });
}

TEST(Definition, one_of_any_shape_is_answered) {
  Bench b;
  const Json valid = yaml(kWidgets);
  int refusals = 0;
  for (const Json& value :
       {Json("x"), Json(-7), Json(true), Json::array({Json("x")}), Json::object({{"x", 7}}), Json()})
    replace_each(valid["spec"], value, [&](Json spec) {
      Json object = valid;
      object.set("spec", std::move(spec));
      Request request = b.request(Verb::kCreate, kDefinitions, "", std::move(object));
      request.dry_run = true;
      const auto answer = b.call(std::move(request));
      refusals += !answer.ok();
      EXPECT_TRUE(answer.ok() || answer.error().code == Code::kInvalid || answer.error().code == Code::kBadRequest)
          << answer.error().message;
    });
  EXPECT_GT(refusals, 100);
}

TEST(Definition, expressions_are_bounded_together) {
  Bench b;
  std::string members;
  for (int i = 0; i < 500; ++i)
    members += base::format("p{}: {{type: string, pattern: '(a{{1,500}}){{1,2}}{}'}}, ", i, i);
  const std::string message = b.refused(b.request(
      Verb::kCreate, kDefinitions, "", patched(yaml(kWidgets), "{type: object, properties: {" + members + "}}")));
  EXPECT_NE(message.find("the expressions of the schema are too large together"), std::string::npos) << message;
}

TEST(Definition, patterns_of_rules_are_bounded_over_all_versions) {
  Bench b;
  Json definition = yaml(kWidgets);
  Json versions = Json::array();
  for (int v = 0; v < 4; ++v) {
    std::string members;
    for (int i = 0; i < 2; ++i)
      members += base::format(
          "p{}: {{type: string, x-kubernetes-validations: [{{rule: \"self.matches('\\\\\\\\pL{{29}}{}{}')\"}}]}}, ", i,
          v, i);
    Json version =
        patched(definition, "{type: object, properties: {" + members + "}}")["spec"]["versions"][std::size_t{0}];
    version.set("name", base::format("v{}", v + 1));
    version.set("storage", v == 0);
    versions.push_back(std::move(version));
  }
  definition.edit("spec").set("versions", std::move(versions));
  const std::string message = b.refused(b.request(Verb::kCreate, kDefinitions, "", definition));
  EXPECT_NE(message.find("the regular expressions are too large together"), std::string::npos) << message;
  EXPECT_EQ(message.find("spec.versions[0]"), std::string::npos) << message;
}

TEST(Definition, versions_that_share_a_schema_are_checked_for_what_they_do_not_share) {
  Bench b;
  Json definition = yaml(kWidgets);
  Json& second = definition.edit("spec").edit("versions").edit(std::size_t{1});
  second.set("additionalPrinterColumns", yaml("[{name: Size, type: text, jsonPath: .spec.size}]"));
  second.set("selectableFields", yaml("[{jsonPath: .spec.nothing}]"));
  second.set("subresources", yaml("{scale: {specReplicasPath: .replicas, statusReplicasPath: .status.replicas}}"));
  const std::string message = b.refused(b.request(Verb::kCreate, kDefinitions, "", definition));
  for (const char* part : {"spec.versions[1].additionalPrinterColumns[0].type",
                           "spec.versions[1].selectableFields[0].jsonPath: Invalid value: \".spec.nothing\"",
                           "spec.versions[1].subresources.scale.specReplicasPath"})
    EXPECT_NE(message.find(part), std::string::npos) << part << "\n" << message;
}

TEST(Definition, versions_with_one_schema_have_it_compiled_once) {
  Bench b;
  b.define_widgets();
  const ServedKind v1 = b.api.kinds()->find(kWidgetsV1), beta = b.api.kinds()->find(kWidgetsBeta);
  ASSERT_TRUE(v1 && beta);
  EXPECT_EQ(custom_kind(*v1.kind)->rules, custom_kind(*beta.kind)->rules);
}

TEST(Definition, a_type_that_is_named_counts_more_than_int_or_string) {
  Bench b;
  b.define(
      patched(yaml(kWidgets), "{type: object, properties: {size: {type: string, x-kubernetes-int-or-string: true}}}"));
  Json object = b.widget("{}");
  object.erase("spec");
  object.set("size", 1);
  EXPECT_NE(b.refused(b.request(Verb::kCreate, kWidgetsV1, "", object)).find("must be of type string"),
            std::string::npos);
}

TEST(Definition, a_schema_of_any_depth_is_bounded) {
  Bench b;
  std::string schema = "{type: string}";
  for (int i = 0; i < 200; ++i) schema = "{type: object, anyOf: [{required: [a]}], properties: {a: " + schema + "}}";
  auto answer = b.call(b.request(Verb::kCreate, kDefinitions, "", patched(yaml(kWidgets), schema)));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  Json object = b.widget("{}");
  for (int i = 0; i < 190; ++i) object = Json::object({{"a", object}});
  object.set("metadata", Json::object({{"name", "deep"}}));
  EXPECT_FALSE(b.call(b.request(Verb::kCreate, kWidgetsV1, "", object)).ok());
}

TEST(Definition, names_are_had_by_one) {
  Bench b;
  b.define_widgets();
  Json other = yaml(kWidgets);
  other.edit("metadata").set("name", "others.example.com");
  other.edit_path({"spec", "names"}).set("plural", "others");
  Json made = b.define(other);
  EXPECT_EQ(made["status"]["conditions"][std::size_t{0}]["reason"].as_string(), "ListKindConflict");
  EXPECT_EQ(made["status"]["conditions"][std::size_t{1}]["message"].as_string(), "not all names are accepted");
  EXPECT_FALSE(b.api.kinds()->find({"example.com", "v1", "others"}));
  b.ok(b.request(Verb::kDelete, kDefinitions, "widgets.example.com"));
  EXPECT_TRUE(b.api.kinds()->find({"example.com", "v1", "others"}));
  EXPECT_FALSE(b.api.kinds()->find(kWidgetsV1));
}

TEST(Definition, a_definition_goes_after_its_objects) {
  Bench b;
  b.define_widgets();
  Json held = b.widget("{size: small}");
  held.edit("metadata").set("finalizers", yaml("[example.com/held]"));
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", held));
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small}", "y")));
  const Json going = b.ok(b.request(Verb::kDelete, kDefinitions, "widgets.example.com"));
  EXPECT_EQ(going["metadata"]["finalizers"], yaml("[customresourcecleanup.apiextensions.k8s.io]"));
  EXPECT_EQ(going["status"]["conditions"][std::size_t{2}]["type"].as_string(), "Terminating");
  EXPECT_EQ(b.refused(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small}", "z"))),
            "create not allowed while custom resource definition is terminating");
  EXPECT_EQ(b.ok(b.request(Verb::kList, kWidgetsV1, ""))["items"].size(), 1u);
  b.ok(b.request(Verb::kPatch, kWidgetsV1, "x", yaml("{metadata: {finalizers: null}}")));
  EXPECT_EQ(b.call(b.request(Verb::kGet, kDefinitions, "widgets.example.com")).error().code, Code::kNotFound);
  EXPECT_FALSE(b.api.kinds()->find(kWidgetsV1));
}

TEST(Definition, what_a_change_may_not_touch) {
  Bench b;
  b.define_widgets();
  const auto change = [&](std::string_view spec) {
    return b.refused(
        b.request(Verb::kPatch, kDefinitions, "widgets.example.com", Json::object({{"spec", yaml(spec)}})));
  };
  EXPECT_NE(change("{scope: Cluster}").find("spec.scope: Invalid value: \"Cluster\": field is immutable"),
            std::string::npos);
  EXPECT_NE(change("{names: {kind: Other}}").find("spec.names.kind: Invalid value: \"Other\": field is immutable"),
            std::string::npos);
  Json beta = yaml(kWidgets)["spec"]["versions"][std::size_t{1}];
  beta.set("storage", true);
  EXPECT_NE(b.refused(b.request(Verb::kPatch, kDefinitions, "widgets.example.com",
                                Json::object({{"spec", Json::object({{"versions", Json::array({beta})}})}})))
                .find("missing from spec.versions; v1 was previously a storage version"),
            std::string::npos);
}

}  // namespace
}  // namespace apiserver
