// Protobuf in answers, by HTTP: what it says is what JSON says, and what has no such form is JSON.
#include <gtest/gtest.h>

#include "api/protobuf/protobuf.h"
#include "apiserver/http/served_for_tests.h"
#include "base/protobuf_wire.h"

namespace apiserver {
namespace {

using api::Json;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kAccept = "application/vnd.kubernetes.protobuf,application/json";
constexpr const char* kType = "application/vnd.kubernetes.protobuf";

Json parsed(const std::string& bytes) {
  const auto out = api::parse_protobuf(bytes);
  EXPECT_TRUE(out.ok()) << bytes;
  return out.ok() ? *out : Json();
}

struct ProtobufServed : Served {
  rt::HttpResponse get(const std::string& path, const std::string& accept = kAccept) {
    return ask("GET", path, {{"Accept", accept}});
  }
  Json json(const std::string& path) { return *api::parse_json(ask("GET", path, {}).body); }
  Json create(const std::string& name) {
    const std::string body = R"({"metadata":{"name":")" + name + R"("},"data":{"k":"v"},"binaryData":{"b":"AAH/"}})";
    return *api::parse_json(ask("POST", kMaps, {{"Content-Type", "application/json"}}, body).body);
  }
};

std::string type_of(const rt::HttpResponse& answer) { return std::string(rt::header(answer.headers, "Content-Type")); }

// The fields of this number in a message.
std::vector<std::string> fields(std::string_view message, int number) {
  std::vector<std::string> out;
  base::WireReader reader(message);
  for (base::WireField field; reader.next(field);) {
    if (field.number == number) out.emplace_back(field.bytes);
  }
  EXPECT_FALSE(reader.malformed());
  return out;
}

TEST(ProtobufServing, shows_objects_and_errors_as_json_does) {
  ProtobufServed served;
  served.create("a");
  const rt::HttpResponse one = served.get(std::string(kMaps) + "/a");
  EXPECT_EQ(type_of(one), kType);
  EXPECT_EQ(parsed(one.body), served.json(std::string(kMaps) + "/a"));
  const rt::HttpResponse none = served.get(std::string(kMaps) + "/none");
  EXPECT_EQ(none.status, 404);
  EXPECT_EQ(type_of(none), kType);
  const Json status = parsed(none.body);
  EXPECT_EQ(status["message"].as_string(), "configmaps \"none\" not found");
  EXPECT_EQ(status["code"].as_int(), 404);
  EXPECT_EQ(status["details"]["name"].as_string(), "none");
}

TEST(ProtobufServing, lists_hold_items_in_messages_of_their_own) {
  ProtobufServed served;
  for (const char* name : {"a", "b", "c"}) served.create(name);
  const rt::HttpResponse list = served.get(kMaps);
  EXPECT_EQ(type_of(list), kType);
  ASSERT_TRUE(list.body.starts_with(std::string_view("k8s\0", 4)));
  const std::string unknown = list.body.substr(4);
  EXPECT_EQ(fields(fields(unknown, 1)[0], 2), std::vector<std::string>{"ConfigMapList"});
  const std::string raw = fields(unknown, 2)[0];
  EXPECT_EQ(fields(fields(raw, 1)[0], 2)[0], served.json(kMaps)["metadata"]["resourceVersion"].as_string());
  EXPECT_EQ(fields(raw, 2).size(), 3U);
  const rt::HttpResponse empty = served.get(std::string(kMaps) + "?labelSelector=x%3Dy");
  EXPECT_EQ(type_of(empty), kType);
  EXPECT_TRUE(fields(fields(empty.body.substr(4), 2)[0], 2).empty());
}

TEST(ProtobufServing, what_has_no_such_form_is_json) {
  ProtobufServed served;
  served.create("a");
  for (const char* path : {"/apis/scheduling.volcano.sh/v1beta1/queues",
                           "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/api/v1", "/version"}) {
    const rt::HttpResponse answer = served.get(path);
    EXPECT_EQ(answer.status, 200) << path;
    EXPECT_EQ(type_of(answer), "application/json") << path;
    EXPECT_TRUE(api::parse_json(answer.body).ok()) << path;
  }
}

// Collectors of garbage watch all kinds so, custom ones too.
TEST(ProtobufServing, metadata_alone_has_this_form_for_every_kind) {
  ProtobufServed served;
  served.create("a");
  constexpr const char* kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";
  const std::string queue = R"({"metadata":{"name":"q"},"spec":{"weight":1}})";
  EXPECT_EQ(served.ask("POST", kQueues, {{"Content-Type", "application/json"}}, queue).status, 201);
  const std::string as = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  const std::string accept = kType + as + ",application/json" + as;
  for (const std::string& path :
       {std::string(kMaps) + "/a", std::string(kMaps), std::string(kQueues) + "/q", std::string(kQueues)}) {
    const rt::HttpResponse answer = served.get(path, accept);
    EXPECT_EQ(type_of(answer), kType) << path;
    const auto read = api::parse_protobuf_answer(answer.body, nullptr);
    ASSERT_TRUE(read.ok()) << path;
    Json expected = *api::parse_json(served.get(path, "application/json" + as).body);
    if (expected.has("items")) {
      for (std::size_t i = 0; i < expected["items"].size(); ++i) {  // their kind is that of the list
        expected.edit("items").edit(i).erase("kind");
        expected.edit("items").edit(i).erase("apiVersion");
      }
    }
    EXPECT_EQ(read->sorted().dump(), expected.sorted().dump()) << path;
  }
  const rt::HttpResponse patched =
      served.ask("PATCH", std::string(kMaps) + "/a",
                 {{"Accept", accept}, {"Content-Type", "application/merge-patch+json"}}, R"({"data":{"c":"d"}})");
  EXPECT_EQ(type_of(patched), kType);
  const Json after = *api::parse_json(served.get(std::string(kMaps) + "/a", "application/json" + as).body);
  EXPECT_EQ(api::parse_protobuf_answer(patched.body, nullptr)->sorted().dump(), after.sorted().dump());
  Received received;
  const auto stream = served.watch(std::string(kQueues) + "?watch=1&fieldSelector=metadata.name%3Dq", accept, received);
  const Json shown = *api::parse_json(served.get(std::string(kQueues) + "/q", "application/json" + as).body);
  EXPECT_TRUE(received.becomes(api::event_to_protobuf("ADDED", shown)));
  EXPECT_EQ(received.type, "application/vnd.kubernetes.protobuf;stream=watch");
}

TEST(ProtobufServing, watches_are_frames_of_events) {
  ProtobufServed served;
  const Json first = served.create("a");
  Received received, queues;
  const auto stream = served.watch(std::string(kMaps) + "?watch=1", kAccept, received);
  std::string expected = api::event_to_protobuf("ADDED", first);
  EXPECT_TRUE(received.becomes(expected));  // from history
  EXPECT_EQ(received.type, "application/vnd.kubernetes.protobuf;stream=watch");
  const std::size_t begun = expected.size();
  const Json second = served.create("b");
  expected += api::event_to_protobuf("ADDED", second);
  EXPECT_TRUE(received.becomes(expected));  // as it is written

  const std::string frame = expected.substr(begun);
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(frame[i])); };
  EXPECT_EQ(byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3), frame.size() - 4);
  EXPECT_EQ(fields(frame.substr(4), 1), std::vector<std::string>{"ADDED"});
  EXPECT_EQ(parsed(fields(fields(frame.substr(4), 2)[0], 1)[0]), second);

  constexpr const char* kQueues = "/apis/scheduling.volcano.sh/v1beta1/queues";
  const std::string queue = R"({"metadata":{"name":"q"},"spec":{"weight":1}})";
  EXPECT_EQ(served.ask("POST", kQueues, {{"Content-Type", "application/json"}}, queue).status, 201);
  const auto json = served.watch(std::string(kQueues) + "?watch=1", kAccept, queues);
  std::unique_lock lock(queues.mutex);
  EXPECT_TRUE(queues.changed.wait_for(lock, std::chrono::seconds(30), [&] { return !queues.bytes.empty(); }));
  EXPECT_EQ(queues.type, "application/json");
}

}  // namespace
}  // namespace apiserver
