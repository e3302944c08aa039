// Objects as protobuf: what is written is read as it was, whatever the kind.
#include "api/protobuf.h"

#include <gtest/gtest.h>

#include <set>

#include "api/kinds.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/random.h"

namespace api {
namespace {

using Kind = Schema::Kind;

// A value of the schema with something in it. `depth`: how many levels may still come.
Json value_of(const Schema& schema, base::Random& random, int depth) {
  switch (schema.kind) {
    case Kind::kString:
      if (schema.format == "date-time") return Json("2026-11-23T10:20:30Z");
      if (schema.format == "micro-time") return Json("1969-12-31T23:59:58.750000Z");
      if (schema.format == "byte") return Json(base::base64_encode(std::string("\0\xff\x80", 3)));
      return Json(base::format("t{}", random.below(1000)));
    case Kind::kInteger: {
      const std::int64_t number = 1 + static_cast<std::int64_t>(random.below(1'000'000'000));
      return Json(random.chance(0.5) ? number : -number);
    }
    case Kind::kNumber: return Json(0.5);
    case Kind::kBoolean: return Json(random.chance(0.5));
    case Kind::kIntOrString: return random.chance(0.5) ? Json(-7) : Json("25%");
    case Kind::kQuantity: return Json(base::format("{}m", random.below(5000)));
    case Kind::kAny: return Json::object({{"f:a", Json::object()}, {"n", 1}});
    case Kind::kList: {
      Json list = Json::array();
      for (int i = 0; i < 2; ++i) list.push_back(value_of(*schema.element, random, depth - 1));
      return list;
    }
    case Kind::kMap: {
      Json map = Json::object();
      for (int i = 0; i < 2; ++i) map.set(base::format("k{}", i), value_of(*schema.element, random, depth - 1));
      return map;
    }
    case Kind::kObject: break;
  }
  Json object = Json::object();
  for (const SchemaField& field : schema.fields) {
    if (field.number == 0 || (depth <= 0 && field.schema->kind == Kind::kObject) || random.chance(0.4)) continue;
    if (depth > 0 || field.schema->element == nullptr)
      object.set(field.name, value_of(*field.schema, random, depth - 1));
  }
  return object;
}

TEST(Protobuf, what_is_written_is_read_as_it_was) {
  base::Random random(11);
  int kinds = 0;
  for (const KindInfo& kind : all_kinds()) {
    const Schema* schema = protobuf_schema(kind.resource.api_version(), kind.kind);
    if (!has_protobuf(kind.resource.api_version(), kind.kind)) continue;
    ++kinds;
    for (int round = 0; round < 20; ++round) {
      Json object = value_of(*schema, random, 7);
      object.set("apiVersion", kind.resource.api_version());
      object.set("kind", kind.kind);
      const auto read = parse_protobuf(to_protobuf(object));
      ASSERT_TRUE(read.ok()) << kind.kind << ": " << read.error().message;
      Json expected = object;
      if (!expected.has("metadata")) expected.set("metadata", Json());
      Json found = *read;
      if (!found.has("metadata")) found.set("metadata", Json());
      EXPECT_EQ(found.sorted().dump(), expected.sorted().dump()) << kind.kind;
    }
  }
  EXPECT_GT(kinds, 50);
}

TEST(Protobuf, knows_which_kinds_have_no_such_form) {
  EXPECT_FALSE(has_protobuf("batch.volcano.sh/v1alpha1", "Job"));
  EXPECT_FALSE(has_protobuf("apiextensions.k8s.io/v1", "CustomResourceDefinition"));
  EXPECT_TRUE(has_protobuf("v1", "Binding"));
  // Kinds of strangers may have names of ours.
  for (const char* kind : {"Binding", "Eviction", "TokenRequest", "Status", "Scale", "DeleteOptions", "Pod"})
    EXPECT_FALSE(has_protobuf("example.com/v1", kind)) << kind;
  EXPECT_EQ(to_protobuf(*parse_json(R"({"apiVersion":"example.com/v1","kind":"Binding","spec":{"a":1}})")), "");
  EXPECT_EQ(to_protobuf(*parse_json(R"({"apiVersion":"batch.volcano.sh/v1alpha1","kind":"Job"})")), "");
  EXPECT_EQ(to_protobuf(*parse_json(R"({"items":[]})")), "");
  EXPECT_EQ(to_protobuf(Json()), "");
}

TEST(Protobuf, leaves_out_what_is_of_no_use) {
  const auto object = parse_json(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":"none",
      "creationTimestamp":null,"generation":"many"},"data":{"k":"v","n":7},"immutable":"yes","more":{"x":1}})");
  const auto read = parse_protobuf(to_protobuf(*object));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->sorted().dump(),
            R"({"apiVersion":"v1","data":{"k":"v","n":""},"kind":"ConfigMap","metadata":{"name":"a"}})");
}

}  // namespace
}  // namespace api
