// A server with a stranger's kind, for tests.
#pragma once

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "apiserver/pipeline/api_for_tests.h"

namespace apiserver {

using api::Json;

inline const api::ResourceId& kDefinitions = api::resources::kCustomResourceDefinitions;

inline Json yaml(std::string_view text) {
  auto parsed = api::parse_yaml(text);
  EXPECT_TRUE(parsed.ok()) << (parsed.ok() ? "" : parsed.error().message);
  return parsed.ok() ? *std::move(parsed) : Json();
}

inline constexpr std::string_view kWidgets = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns:
    - {name: Size, type: string, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    selectableFields: [{jsonPath: .spec.size}]
    schema: &schema
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations:
            - {rule: self.replicas <= self.limit, message: too many, reason: FieldValueForbidden, fieldPath: .replicas}
            properties:
              size: {type: string, enum: [small, large]}
              replicas: {type: integer, minimum: 0, maximum: 10, default: 1}
              limit: {type: integer, default: 5}
              name: {type: string, minLength: 2, maxLength: 5, pattern: '^[a-z]+$'}
              fixed: {type: string, x-kubernetes-validations: [{rule: self == oldSelf, message: is fixed}]}
              tags: {type: array, items: {type: string}, maxItems: 2, x-kubernetes-list-type: set}
              ratio: {type: number, exclusiveMaximum: true, maximum: 3, multipleOf: 0.5}
              share: {type: number, multipleOf: 0.05}
              port: {x-kubernetes-int-or-string: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              map: {type: object, additionalProperties: {type: integer}}
              nul: {type: string, nullable: true}
              template: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
              choice:
                type: object
                properties: {a: {type: string}, b: {type: string}}
                oneOf: [{required: [a]}, {required: [b]}]
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v2beta1
    served: true
    storage: false
    deprecated: true
    schema: *schema
)";

struct CustomBench : ApiForTests {
  Request request(Verb verb, const api::ResourceId& id, const std::string& name, Json body = {}) {
    Request made;
    const ServedKind served = api.kinds()->find(id);
    EXPECT_TRUE(served) << id.plural;
    if (!served) return made;
    made.verb = verb;
    made.kind = served.kind;
    made.resource = served.resource;
    made.holds_kind = served.custom;
    if (served.kind->namespaced) made.ns = "default";
    made.name = name;
    made.body = std::move(body);
    made.default_manager = "test";
    return made;
  }
  base::Result<Answer> call(Request request) {
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(request), [&](base::Result<Answer> one) { answer.emplace(std::move(one)); });
    env.settle();
    EXPECT_TRUE(answer.has_value());
    return *std::move(answer);
  }
  Json ok(Request request) {
    auto answer = call(std::move(request));
    EXPECT_TRUE(answer.ok()) << (answer.ok() ? "" : answer.error().message);
    return answer.ok() ? object_of(*std::move(answer)) : Json();
  }
  std::string refused(Request request) {
    auto answer = call(std::move(request));
    EXPECT_FALSE(answer.ok());
    return answer.ok() ? "" : answer.error().message;
  }
  Json define(const Json& definition) { return ok(request(Verb::kCreate, kDefinitions, "", definition)); }
  Json define_widgets() { return define(yaml(kWidgets)); }
  Json widget(std::string_view spec, const std::string& name = "x") {
    return Json::object({{"metadata", Json::object({{"name", name}})}, {"spec", yaml(spec)}});
  }
};

inline const api::ResourceId kWidgetsV1{"example.com", "v1", "widgets"};
inline const api::ResourceId kWidgetsBeta{"example.com", "v2beta1", "widgets"};

}  // namespace apiserver
