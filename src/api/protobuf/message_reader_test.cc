// Messages that no client of Kubernetes writes.
#include "api/protobuf/message_reader.h"

#include <gtest/gtest.h>

#include "api/protobuf/protobuf.h"
#include "base/protobuf_wire.h"

namespace api {
namespace {

using base::WireWriter;

std::string enveloped(std::string_view version, std::string_view kind, std::string_view message) {
  WireWriter type, unknown;
  type.add(1, version);
  type.add(2, kind);
  unknown.add_entry(1, type.take());
  unknown.add_entry(2, message);
  return std::string(kProtobufMagic) + unknown.take();
}

// A field with bytes.
std::string in(int number, std::string_view bytes) {
  WireWriter out;
  out.add_entry(number, bytes);
  return out.take();
}

std::string number(int field, std::int64_t value) {
  WireWriter out;
  out.add_integer(field, static_cast<std::uint64_t>(value));
  return out.take();
}

std::string fixed32(int field) { return {static_cast<char>(field << 3 | 5), 1, 0, 0, 0}; }

std::string pod(std::string_view spec) { return enveloped("v1", "Pod", in(2, spec)); }
std::string metadata(std::string_view fields) { return enveloped("v1", "ConfigMap", in(1, fields)); }

// As a request, what is read, or why it is not.
std::string read(const std::string& bytes) {
  auto object = parse_protobuf(bytes);
  if (!object.ok()) return object.error().message;
  object->erase("apiVersion");
  object->erase("kind");
  return object->dump();
}

TEST(MessageReader, knows_the_wire_types_of_fields) {
  struct Row {
    const char* what;
    std::string bytes;
    const char* read;
  };
  const Row rows[] = {
      {"a name as a number", pod(number(10, 7)),
       "the protobuf body has field 10 in a wire type that is not the field's"},
      {"a number as text", pod(in(25, "7")), "the protobuf body has field 25 in a wire type that is not the field's"},
      {"a number of fixed size", pod(fixed32(4)),
       "the protobuf body has field 4 in a wire type that is not the field's"},
      {"a message as a number", pod(number(14, 7)),
       "the protobuf body has field 14 in a wire type that is not the field's"},
      {"the object as a number", enveloped("v1", "Pod", number(2, 7)),
       "the protobuf body has field 2 in a wire type that is not the field's"},
      {"an entry of a map as a number", pod(number(7, 7)),
       "the protobuf body has field 7 in a wire type that is not the field's"},
      {"a key as a number", pod(in(7, number(1, 7))),
       "the protobuf body has field 1 in a wire type that is not the field's"},
      {"a value as a number", pod(in(7, in(1, "k") + number(2, 7))),
       "the protobuf body has field 2 in a wire type that is not the field's"},
      {"seconds as text", metadata(in(8, in(1, "7"))),
       "the protobuf body has field 1 in a wire type that is not the field's"},
      {"numbers one by one", pod(in(14, number(4, 1000) + number(4, 2000))),
       R"({"spec":{"securityContext":{"supplementalGroups":[1000,2000]}}})"},
      {"numbers in one", pod(in(14, in(4, "\xe8\x07\xd0\x0f"))),
       R"({"spec":{"securityContext":{"supplementalGroups":[1000,2000]}}})"},
      {"numbers in one that end too early", pod(in(14, in(4, "\xe8"))), "the protobuf body is malformed"},
  };
  for (const Row& row : rows) EXPECT_EQ(read(row.bytes), row.read) << row.what;
}

TEST(MessageReader, takes_the_last_of_several) {
  EXPECT_EQ(read(pod(in(10, "a") + in(10, "b"))), R"({"spec":{"nodeName":"b"}})");
  EXPECT_EQ(read(pod(in(10, "a") + number(25, 1) + in(10, ""))), R"({"spec":{"priority":1}})");
  EXPECT_EQ(read(pod(in(10, "") + in(10, "a"))), R"({"spec":{"nodeName":"a"}})");
  EXPECT_EQ(read(metadata(in(8, number(1, 86400)) + in(8, ""))), R"({"metadata":{}})");
  EXPECT_EQ(read(enveloped("v1", "ConfigMap", in(1, in(1, "a")) + in(1, in(3, "ns")))),
            "the protobuf body has metadata twice");
}

TEST(MessageReader, knows_all_years_that_rfc_3339_has) {
  const auto created = [](std::int64_t seconds) { return read(metadata(in(8, number(1, seconds)))); };
  EXPECT_EQ(created(16725225600), R"({"metadata":{"creationTimestamp":"2500-01-01T00:00:00Z"}})");
  EXPECT_EQ(created(253402300799), R"({"metadata":{"creationTimestamp":"9999-12-31T23:59:59Z"}})");
  EXPECT_EQ(created(253402300800), "the protobuf body has a time beyond the years 0 to 9999");
  EXPECT_EQ(created(-62135596799), R"({"metadata":{"creationTimestamp":"0001-01-01T00:00:01Z"}})");
  EXPECT_EQ(created(-62135596800), R"({"metadata":{}})") << "Go's time that is not set";
  const Json lease = *parse_json(
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","spec":{"renewTime":"2500-01-01T00:00:00.000000Z"}})");
  EXPECT_EQ(parse_protobuf(to_protobuf(lease))->dump(), lease.dump());
}

TEST(MessageReader, of_requests_refuses_what_json_cannot_hold) {
  EXPECT_EQ(read(metadata(in(1, "\xff"))), "the protobuf body has a string that is not UTF-8");
  EXPECT_EQ(read(metadata(in(11, in(1, "\xff") + in(2, "v")))), "the protobuf body has a string that is not UTF-8");
  EXPECT_NE(read(enveloped("apps/v1", "ControllerRevision", in(2, in(1, "{")))), R"({"data":null})");
  EXPECT_EQ(read(enveloped("apiextensions.k8s.io/v1", "CustomResourceDefinition", "")),
            "the body of the request was in an unknown format - apiextensions.k8s.io/v1 CustomResourceDefinition is "
            "accepted as application/json or application/yaml only");
  EXPECT_EQ(read(enveloped("v1", "\xff", "")),
            "the body of the request was in an unknown format - v1 \xEF\xBF\xBD is accepted as application/json or "
            "application/yaml only");
}

// A user who may make one object must not hide all others of the list from us.
TEST(MessageReader, of_answers_takes_what_json_cannot_hold_as_go_shows_it) {
  static const Projection kParts{"metadata.name", "metadata.annotations"};
  const std::string bad = in(1, in(1, "bad") + in(12, in(1, "a\xff") + in(2, "\xc3(")) + in(8, number(1, 1LL << 60)));
  const std::string list = enveloped("v1", "ConfigMapList", in(1, "") + in(2, in(1, in(1, "good"))) + in(2, bad));
  for (const Projection* only : {static_cast<const Projection*>(nullptr), &kParts}) {
    const auto answer = parse_protobuf_answer(list, only);
    ASSERT_TRUE(answer.ok()) << answer.error().message;
    EXPECT_EQ((*answer)["items"].dump(),
              "[{\"metadata\":{\"name\":\"good\"}},{\"metadata\":{\"name\":\"bad\",\"annotations\":{\"a\xEF\xBF\xBD\":"
              "\"\xEF\xBF\xBD(\"}}}]");
  }
  const auto revision = parse_protobuf_answer(enveloped("apps/v1", "ControllerRevision", in(2, in(1, "{"))), nullptr);
  ASSERT_TRUE(revision.ok());
  EXPECT_FALSE(revision->has("data"));
  EXPECT_EQ(parse_protobuf_answer(enveloped("v1", "List", ""), nullptr).error().message,
            "the server answers in protobuf with v1 List, which is not known here");
}

// Names of annotations are kept from one object to the next, more of them than there are places, and what was not
// UTF-8.
TEST(MessageReader, names_are_those_of_the_object) {
  static const Projection kParts{"metadata.annotations"};
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 200; ++i) {
      const std::string name = "example.com/name-" + std::to_string(i),
                        bad = "example.com/bad-\xff" + std::to_string(i);
      const std::string body = in(1, in(12, in(1, name) + in(2, "a")) + in(12, in(1, bad) + in(2, "b")));
      const auto answer = parse_protobuf_answer(enveloped("v1", "ConfigMap", body), &kParts);
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      EXPECT_EQ((*answer)["metadata"]["annotations"].dump(),
                "{\"" + name + "\":\"a\",\"example.com/bad-\xEF\xBF\xBD" + std::to_string(i) + "\":\"b\"}");
    }
  }
}

// The largest body that is read, three MiB, would take half an hour if each field looked at those before it.
TEST(MessageReader, costs_what_there_are_bytes) {
  std::string fields;
  while (fields.size() < (std::size_t{1} << 20)) fields += in(5, "") + in(14, "");
  while (fields.size() < (std::size_t{3} << 20)) fields += in(14, "") + in(11, in(1, "k"));
  const auto object = parse_protobuf(metadata(fields));
  ASSERT_TRUE(object.ok()) << object.error().message;
  EXPECT_EQ((*object)["metadata"]["labels"].dump(), R"({"k":""})");
  EXPECT_GT((*object)["metadata"]["finalizers"].size(), 300'000u);
}

}  // namespace
}  // namespace api
