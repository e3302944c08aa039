// CBOR in requests and answers, by HTTP: the same objects as in JSON, and refusals that say why.
#include <gtest/gtest.h>

#include "api/json/cbor.h"
#include "apiserver/http/served_for_tests.h"
#include "base/await_for_tests.h"

namespace apiserver {
namespace {

using api::Json;

constexpr const char* kMaps = "/api/v1/namespaces/default/configmaps";
constexpr const char* kCbor = "application/cbor";

struct CborServed : Served {
  Json get(const std::string& path, const std::string& accept = kCbor) {
    return value(ask("GET", path, {{"Accept", accept}}));
  }
  // The value of an answer in CBOR.
  static Json value(const rt::HttpResponse& answer) {
    EXPECT_TRUE(rt::header(answer.headers, "Content-Type").starts_with(kCbor)) << answer.body;
    const auto parsed = api::parse_cbor(answer.body);
    EXPECT_TRUE(parsed.ok()) << answer.body;
    return parsed.ok() ? *parsed : Json();
  }
  rt::HttpResponse create(const Json& object) {
    return ask("POST", kMaps, {{"Content-Type", kCbor}, {"Accept", kCbor}}, api::to_cbor(object));
  }
};

Json map_named(const std::string& name, const Json& data = Json::object()) {
  return Json::object(
      {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", Json::object({{"name", name}})}, {"data", data}});
}

TEST(CborServing, takes_and_shows_objects_as_in_json) {
  CborServed served;
  const rt::HttpResponse made = served.create(map_named("a", Json::object({{"k", "v"}})));
  EXPECT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(CborServed::value(made)["data"]["k"].as_string(), "v");
  const Json json = *api::parse_json(served.ask("GET", std::string(kMaps) + "/a", {}).body);
  EXPECT_EQ(served.get(std::string(kMaps) + "/a"), json);

  Json changed = json;
  changed.edit("data").set("k", "w");
  const std::string path = std::string(kMaps) + "/a";
  EXPECT_EQ(served.ask("PUT", path, {{"Content-Type", kCbor}}, api::to_cbor(changed)).status, 200);
  EXPECT_EQ(served.get(path)["data"]["k"].as_string(), "w");
  const Json gone_if = Json::object({{"preconditions", Json::object({{"uid", "another"}})}});
  EXPECT_EQ(served.ask("DELETE", path, {{"Content-Type", kCbor}}, api::to_cbor(gone_if)).status, 409);
  EXPECT_EQ(served.ask("DELETE", path, {{"Content-Type", kCbor}}, api::to_cbor(Json::object())).status, 200);
}

TEST(CborServing, shows_lists_tables_metadata_and_documents) {
  CborServed served;
  for (const char* name : {"a", "b", "c"}) served.create(map_named(name));
  const Json list = served.get(kMaps);
  EXPECT_EQ(list, *api::parse_json(served.ask("GET", kMaps, {}).body));
  EXPECT_EQ(list["items"].size(), 3U);
  const Json none = served.get(std::string(kMaps) + "?labelSelector=x%3Dy");
  EXPECT_EQ(none["items"].size(), 0U);
  EXPECT_TRUE(none["items"].is_array());
  EXPECT_EQ(served.get(kMaps, "application/json;q=0.9,application/cbor;q=1")["kind"].as_string(), "ConfigMapList");
  const Json table = served.get(kMaps, "application/cbor;as=Table;v=v1;g=meta.k8s.io");
  EXPECT_EQ(table["kind"].as_string(), "Table");
  EXPECT_EQ(table["rows"].size(), 3U);
  const Json names = served.get(kMaps, "application/cbor;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io");
  EXPECT_EQ(names["kind"].as_string(), "PartialObjectMetadataList");
  EXPECT_FALSE(names["items"][std::size_t{0}].has("data"));
  EXPECT_EQ(served.get("/api/v1")["kind"].as_string(), "APIResourceList");
  const auto groups =
      served.ask("GET", "/apis", {{"Accept", "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
  EXPECT_EQ(rt::header(groups.headers, "Content-Type"),
            "application/cbor;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  EXPECT_EQ(CborServed::value(groups)["kind"].as_string(), "APIGroupDiscoveryList");
}

TEST(CborServing, says_errors_in_it) {
  CborServed served;
  EXPECT_EQ(served.get(std::string(kMaps) + "/none")["message"].as_string(), "configmaps \"none\" not found");
  EXPECT_EQ(served.get("/api/v1/nothing")["code"].as_int(), 404);
  rt::HttpRequest stranger;
  stranger.method = "GET";
  stranger.target = kMaps;
  stranger.headers = {{"Accept", kCbor}};
  std::promise<rt::HttpResponse> answered;
  served.http->send(std::move(stranger), [&](base::Result<rt::HttpResponse> answer) { answered.set_value(*answer); });
  EXPECT_EQ(CborServed::value(base::await(answered))["reason"].as_string(), "Unauthorized");
  const Json watch = served.get(std::string(kMaps) + "?watch=1&resourceVersion=x", "application/cbor-seq");
  EXPECT_EQ(watch["kind"].as_string(), "Status");
}

TEST(CborServing, applies_configurations) {
  CborServed served;
  const std::string path = std::string(kMaps) + "/a?fieldManager=f";
  const auto apply = [&](std::string_view type, const Json& what) {
    return served.ask("PATCH", path, {{"Content-Type", std::string(type)}}, api::to_cbor(what)).status;
  };
  EXPECT_EQ(apply("application/apply-patch+cbor", map_named("a", Json::object({{"k", "v"}}))), 201);
  EXPECT_EQ(apply("application/apply-patch+cbor", map_named("a", Json::object({{"l", "v"}}))), 200);
  const Json object = served.get(std::string(kMaps) + "/a");
  EXPECT_EQ(object["data"].dump(), R"({"l":"v"})");
  EXPECT_EQ(object["metadata"]["managedFields"][std::size_t{0}]["operation"].as_string(), "Apply");
  // As in a stock server, no other patch has a form in CBOR.
  for (const char* type :
       {"application/cbor", "application/merge-patch+cbor", "application/strategic-merge-patch+cbor"})
    EXPECT_EQ(apply(type, Json::object()), 415) << type;
}

std::string event(std::string_view type, const Json& object) {
  std::string bytes = api::to_cbor(Json::object({{"type", type}, {"object", Json()}}));
  bytes.pop_back();
  return bytes + api::to_cbor(object);
}

TEST(CborServing, watches_are_sequences_of_events) {
  CborServed served;
  const Json first = CborServed::value(served.create(map_named("a")));
  Received received;
  const auto stream = served.watch(std::string(kMaps) + "?watch=1", kCbor, received);
  std::string expected = event("ADDED", first);
  EXPECT_TRUE(received.becomes(expected));  // from history
  EXPECT_EQ(received.type, "application/cbor-seq");
  expected += event("ADDED", CborServed::value(served.create(map_named("b"))));
  EXPECT_TRUE(received.becomes(expected));  // as it is written
  EXPECT_TRUE(api::parse_cbor(std::string_view(expected).substr(0, event("ADDED", first).size())).ok());
}

// For answers that are a stream, or text, while they go well.
TEST(CborServing, errors_of_streams_have_the_form_that_is_accepted) {
  CborServed served;
  const std::string pod = "/api/v1/namespaces/default/pods/none";
  const auto asked = [&](const char* method, const std::string& path, const char* accept) {
    return served.ask(method, path, {{"Accept", accept}});
  };
  for (const auto& [method, path, code] : {std::tuple{"GET", pod + "/log", 404},
                                           {"GET", pod + "/log?tailLines=x", 400},
                                           {"GET", pod + "/log?tailLines=-1", 422},
                                           {"GET", pod + "/log?limitBytes=0", 422},
                                           {"GET", pod + "/log?sinceSeconds=0", 422},
                                           {"POST", pod + "/exec?command=ls&stdout=1", 400},
                                           {"POST", pod + "/attach?stdout=1", 400},
                                           {"POST", pod + "/portforward", 400},
                                           {"GET", "/api/v1/nodes/none/proxy/healthz", 404}}) {
    const Json status = CborServed::value(asked(method, path, kCbor));
    if (path.ends_with("limitBytes=0")) {
      EXPECT_EQ(status["message"].as_string(),
                R"(PodLogOptions "" is invalid: limitBytes: Invalid value: 0: must be greater than 0)");
    }
    EXPECT_EQ(status["kind"].as_string(), "Status") << path;
    EXPECT_EQ(status["code"].as_int(), code) << path;
    const rt::HttpResponse packed = asked(method, path, "application/vnd.kubernetes.protobuf");
    EXPECT_EQ(packed.status, code) << path;
    EXPECT_TRUE(packed.body.starts_with(std::string_view("k8s\0", 4))) << path;
  }
}

TEST(CborServing, refuses_bodies_that_are_none) {
  CborServed served;
  const auto create = [&](std::string body) {
    const auto answer = served.ask("POST", kMaps, {{"Content-Type", kCbor}}, std::move(body));
    return std::to_string(answer.status) + " " + (*api::parse_json(answer.body))["message"].str();
  };
  EXPECT_EQ(create("{}"), "400 invalid CBOR: it ends too early (byte 1)");
  EXPECT_EQ(create("\xa1\x48metadata\xa2\x44name\x41"
                   "a\x44name\x41"
                   "b"),
            "400 invalid CBOR: metadata: the name \"name\" occurs twice (byte 25)");
  EXPECT_EQ(create("\xa1\x44"
                   "data\xa1\x41k\x41\xff"),
            "400 invalid CBOR: data.k: the text is not valid UTF-8 (byte 11)");
  std::string strict = api::to_cbor(Json::object({{"metadata", Json::object({{"name", "a"}})}, {"foo", 1}}));
  const auto unknown =
      served.ask("POST", std::string(kMaps) + "?fieldValidation=Strict", {{"Content-Type", kCbor}}, strict);
  EXPECT_EQ(unknown.status, 400);
  EXPECT_NE(unknown.body.find("unknown field"), std::string::npos) << unknown.body;
  EXPECT_EQ(served.get(kMaps)["items"].size(), 0U);
}

}  // namespace
}  // namespace apiserver
