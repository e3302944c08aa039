// Objects as protobuf: what is written is read as it was, whatever the kind.
#include "api/protobuf/protobuf.h"

#include <gtest/gtest.h>

#include <set>

#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/base64.h"
#include "base/format.h"
#include "base/protobuf_wire.h"
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
    if (depth <= 0 && field.schema->element != nullptr) continue;
    Json value = value_of(*field.schema, random, depth - 1);
    // A field that JSON would leave out does not come back.
    object.set(field.name, field.omits_zero && value.is_bool() ? Json(true) : std::move(value));
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
      EXPECT_EQ(read->sorted().dump(), object.sorted().dump()) << kind.kind;
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

// A pod that differs from others of its gang in its names only, as a server has it.
Json pod(int number) {
  return *parse_json(base::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"pod-{}","namespace":"ns","uid":"0123-{}",
      "labels":{{"app":"a","step":""}},"ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"j","uid":"u",
      "controller":true,"blockOwnerDeletion":false}}],"managedFields":[{{"manager":"m","operation":"Update"}}]}},
      "spec":{{"containers":[{{"name":"main","image":"nginx","resources":{{"requests":{{"cpu":"1","memory":"1Gi"}}}}}},
      {{"name":"side","resources":{{}}}}],"tolerations":[{{"key":"a","operator":"Exists"}},{{"operator":"Exists"}}],
      "priority":0,"terminationGracePeriodSeconds":0,"nodeSelector":{{"zone":"z"}},
      "volumes":[{{"name":"v","emptyDir":{{}}}}]}},
      "status":{{"phase":"Pending","containerStatuses":[{{"name":"main","image":"","imageID":"","ready":false,
      "restartCount":0,"state":{{}},"lastState":{{}}}}]}}}})",
      number, number));
}

Json list_of_pods(int many) {
  Json items = Json::array();
  for (int i = 0; i < many; ++i) {
    Json item = pod(i);
    item.erase("kind");
    item.erase("apiVersion");
    items.push_back(item);
  }
  return Json::object({{"kind", "PodList"},
                       {"apiVersion", "v1"},
                       {"metadata", Json::object({{"resourceVersion", "7"}, {"continue", "more"}})},
                       {"items", items}});
}

TEST(Protobuf, lists_read_as_their_json_does) {
  static const Projection kParts{
      "metadata.*",       "-metadata.managedFields", "spec.containers.name", "spec.containers.resources",
      "spec.tolerations", "spec.nodeSelector.zone",  "status.phase"};
  static const Projection kMost{"*", "metadata.*", "-metadata.managedFields"};
  const Json list = list_of_pods(5);
  const std::string bytes = to_protobuf(list);
  for (const Projection* only : {static_cast<const Projection*>(nullptr), &kParts, &kMost}) {
    const auto read = parse_protobuf_answer(bytes, only);
    ASSERT_TRUE(read.ok()) << read.error().message;
    const auto expected = only ? parse_json(list.dump(), Projection::around("items", *only)) : parse_json(list.dump());
    EXPECT_EQ(read->sorted().dump(), expected->sorted().dump());
  }
}

TEST(Protobuf, equal_parts_of_objects_are_one_value) {
  static const Projection kParts{"metadata.name", "spec.tolerations", "spec.containers.resources"};
  const auto read = parse_protobuf_answer(to_protobuf(list_of_pods(2)), &kParts);
  ASSERT_TRUE(read.ok());
  const auto items = (*read)["items"].items();
  const Json& first = items[0]["spec"];
  const Json& second = items[1]["spec"];
  EXPECT_TRUE(first["tolerations"].same_as(second["tolerations"]));
  EXPECT_TRUE(first["containers"].items()[0]["resources"].same_as(second["containers"].items()[0]["resources"]));
}

// Go writes what is zero, too, where it has no pointer.
TEST(Protobuf, has_zeros_that_json_leaves_out) {
  base::WireWriter spec, object, type, unknown, claim;
  spec.add_entry(10, "");   // nodeName
  spec.add_integer(11, 0);  // hostNetwork
  spec.add_integer(25, 0);  // priority, a pointer
  spec.add_integer(4, 0);   // terminationGracePeriodSeconds, a pointer
  spec.add_entry(31, "");   // preemptionPolicy, a pointer
  object.add_entry(2, spec.take());
  type.add(1, std::string_view("v1"));
  type.add(2, std::string_view("Pod"));
  unknown.add_entry(1, type.take());
  unknown.add_entry(2, object.take());
  const auto read = parse_protobuf(std::string(kProtobufMagic) + unknown.take());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->sorted().dump(), R"({"apiVersion":"v1","kind":"Pod","spec":{"preemptionPolicy":"","priority":0,)"
                                   R"("terminationGracePeriodSeconds":0}})");
  const auto volume = parse_json(
      R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"c"},"spec":{"storageClassName":""}})");
  EXPECT_EQ((*parse_protobuf(to_protobuf(*volume)))["spec"].dump(), R"({"storageClassName":""})");
}

// A writer of protobuf may mix the entries of lists and maps with others.
TEST(Protobuf, chooses_items_of_lists_by_a_text) {
  static const Projection kOnly{"apiVersion", "kind", "status.conditions[type=Ready|PodScheduled]",
                                "spec.containers.name"};
  const Json object = *parse_json(
      R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a","image":"i"}]},"status":{"conditions":[)"
      R"({"type":"Initialized","status":"True"},{"status":"False","type":"Ready"},{"type":"PodScheduled","status":"True"}]}})");
  const auto read = parse_protobuf_answer(to_protobuf(object), &kOnly);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ((*read)["status"].dump(),
            R"({"conditions":[{"status":"False","type":"Ready"},{"type":"PodScheduled","status":"True"}]})");
  EXPECT_EQ(*read, *parse_json(object.dump(), kOnly));
}

// A value that was read lately stands for equal bytes of the same message by the same projection only, however many
// there are.
TEST(Protobuf, projections_that_take_turns_keep_their_own) {
  base::Random random(7);
  const std::vector<Projection> projections = {
      Projection{"*", "metadata.*", "-metadata.managedFields"},
      Projection{"kind", "metadata.labels", "spec.containers.name", "spec.volumes.name", "spec.template.spec"},
      Projection{"metadata.name", "spec.containers.image", "spec.volumes.persistentVolumeClaim", "status"},
      Projection{"-metadata", "*"},
  };
  std::vector<Json> objects;
  for (const std::string_view kind : {"Pod", "Node", "Service", "PersistentVolumeClaim", "ConfigMap"}) {
    Json object = value_of(*protobuf_schema("v1", kind), random, 5);
    object.set("apiVersion", "v1");
    object.set("kind", kind);
    objects.push_back(std::move(object));
  }
  for (int turn = 0; turn < 3; ++turn)
    for (const Json& object : objects)
      for (const Projection& only : projections) {
        const auto read = parse_protobuf_answer(to_protobuf(object), &only);
        ASSERT_TRUE(read.ok()) << read.error().message;
        Json expected = *parse_json(object.dump(), only);
        expected.set("apiVersion", "v1");  // of the envelope
        expected.set("kind", object["kind"]);
        EXPECT_EQ(read->sorted().dump(), expected.sorted().dump());
      }
}

TEST(Protobuf, entries_may_come_apart) {
  const auto pair = [](std::string_view key, std::string_view value) {
    base::WireWriter out;
    out.add(1, key);
    out.add(2, value);
    return out.take();
  };
  base::WireWriter metadata, object, type, unknown;
  metadata.add_entry(11, pair("a", "1"));
  metadata.add_entry(14, "first");
  metadata.add_entry(11, pair("b", "2"));
  metadata.add_entry(14, "second");
  metadata.add_entry(11, pair("a", "3"));
  object.add_entry(1, metadata.take());
  type.add(1, std::string_view("v1"));
  type.add(2, std::string_view("ConfigMap"));
  unknown.add_entry(1, type.take());
  unknown.add_entry(2, object.take());
  const auto read = parse_protobuf(std::string(kProtobufMagic) + unknown.take());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ((*read)["metadata"].dump(), R"({"labels":{"a":"3","b":"2"},"finalizers":["first","second"]})");
}

TEST(Protobuf, events_hold_an_object_or_an_error) {
  static const Projection kName{"metadata.name"};
  const std::string frame = event_to_protobuf("ADDED", pod(3));
  const auto event = parse_protobuf_event(std::string_view(frame).substr(4), &kName);
  ASSERT_TRUE(event.ok()) << event.error().message;
  EXPECT_EQ(event->type, "ADDED");
  EXPECT_EQ(event->object.dump(), R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"pod-3"}})");
  const std::string expired = event_to_protobuf(
      "ERROR", *parse_json(R"({"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Expired","code":410})"));
  const auto error = parse_protobuf_event(std::string_view(expired).substr(4), &kName);
  ASSERT_TRUE(error.ok());
  EXPECT_EQ(error->object["reason"].as_string(), "Expired");
  EXPECT_EQ(error->object["code"].as_int(), 410);
  for (std::size_t size = 0; size + 4 < frame.size(); ++size)
    EXPECT_FALSE(parse_protobuf_event(std::string_view(frame).substr(4, size), &kName).ok()) << size;
  EXPECT_FALSE(parse_protobuf_event("\x0a\x05"
                                    "ADDED",
                                    &kName)
                   .ok());
}

}  // namespace
}  // namespace api
