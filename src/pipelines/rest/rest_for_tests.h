// Requests of the REST API over an API server of one screen, for tests: from their text to the answer.
#pragma once

#include <gtest/gtest.h>

#include "api/pipelines/v2beta1/pipeline.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "pipelines/rest/body.h"
#include "pipelines/rest/routes.h"

namespace pipelines::rest::testing {

using api::Json;
using Lines = std::vector<std::string>;

inline constexpr std::string_view kIr =
    R"({"pipelineInfo": {"name": "greeting"}, "schemaVersion": "2.1.0", "sdkVersion": "kfp-2.17.3",
  "root": {"dag": {"tasks": {"say": {"taskInfo": {"name": "say"}, "componentRef": {"name": "comp-say"},
    "inputs": {"parameters": {"words": {"componentInputParameter": "words"}}}}}},
    "inputDefinitions": {"parameters": {"words": {"parameterType": "STRING"}, "times": {"parameterType": "NUMBER_INTEGER", "defaultValue": 1.0}}}},
  "components": {"comp-say": {"executorLabel": "exec-say", "inputDefinitions": {"parameters": {"words": {"parameterType": "STRING"}}}}},
  "deploymentSpec": {"executors": {"exec-say": {"container": {"image": "busybox", "command": ["echo"]}}}}})";

class Rest {
 public:
  base::Result<Reply> call(std::string method, std::string path, std::string body = "", std::string type = "") {
    auto routed = route(method, "/apis/" + version + "/" + path, tables);
    if (!routed.ok()) return routed.take_error();
    routed->call.own_namespace = "ns";
    rt::HttpRequest http{.method = method, .target = path, .headers = {{"Content-Type", type}}, .body = body};
    if (base::Status read = read_body(http, routed->call); !read.ok()) return read.take_error();
    Facts::Known known;
    for (;;) {
      Facts facts(ids, known, env.now());
      auto reply = routed->handler(routed->call, facts);
      if (!facts.next()) return reply;
      if (known.answers.size() >= steps_max) return base::make_error(base::Code::kUnavailable, "the server stopped");
      known.answers.push_back(answer(*facts.next()));
    }
  }
  Json body(std::string method, std::string path, std::string body = "") {
    auto reply = call(std::move(method), path, std::move(body));
    EXPECT_TRUE(reply.ok()) << path << ": " << reply.error().message;
    return reply.ok() ? reply->body : Json();
  }
  std::string refusal(std::string method, std::string path, std::string body = "") {
    auto reply = call(std::move(method), path, std::move(body));
    return reply.ok() ? "accepted: " + reply->body.dump() : reply.error().message;
  }
  Json upload(const std::string& query, std::string_view file = kIr) {
    auto reply = call("POST", "pipelines/upload?" + query, form(file), "multipart/form-data; boundary=xyz");
    EXPECT_TRUE(reply.ok()) << reply.error().message;
    return reply.ok() ? reply->body : Json();
  }
  static std::string form(std::string_view file) {
    return base::format(
        "--xyz\r\nContent-Disposition: form-data; name=\"uploadfile\"; filename=\"a.yaml\"\r\n"
        "Content-Type: text/plain\r\n\r\n{}\r\n--xyz--\r\n",
        file);
  }
  // A run of the document, by its name.
  Json run(const std::string& name, const std::string& more = "") {
    return body("POST", "runs",
                base::format(R"({{"display_name": "{}", "pipeline_spec": {}, "runtime_config":
      {{"parameters": {{"words": "hi"}}}}{}}})",
                             name, kIr, more));
  }
  Lines names(const std::string& query) {
    Lines names;
    const Json answer = body("GET", "runs?" + query);
    for (const Json& row : answer["runs"].items()) names.push_back(row["display_name"].str());
    return names;
  }

  std::size_t steps_max = SIZE_MAX;  // of one request; then the server stops
  std::string version = "v2beta1";
  std::vector<RouteTable> tables = {};  // beside that of v2beta1
  client::testing::FakeEnv env;
  client::testing::FakeClient api{env};
  Facts::Ids ids{[this](const api::ResourceId& resource, std::string_view id) -> std::optional<ObjectKey> {
                   for (const auto& [key, object] : api.table(resource))
                     if (api::uid_of(object) == id)
                       return ObjectKey{std::string(api::namespace_of(object)), std::string(api::name_of(object))};
                   return std::nullopt;
                 },
                 [this](const api::ResourceId& resource, const ObjectKey& key) {
                   const Json* found = api.find(resource, key.ns + "/" + key.name);
                   return found == nullptr ? std::string() : std::string(api::uid_of(*found));
                 },
                 [this](const api::ResourceId& resource, const std::string& ns) {
                   std::vector<Json> rows;
                   for (const auto& [key, object] : api.table(resource))
                     if (api::namespace_of(object) == ns) rows.push_back(object);
                   return std::optional(rows);
                 }};

 private:
  base::Result<Json> answer(client::Request request) {
    if (request.verb == client::Verb::kCreate) {
      Json& metadata = request.body.edit("metadata");
      if (metadata.has("generateName")) metadata.set("name", metadata["generateName"].str() + std::to_string(++made_));
      metadata.set("creationTimestamp", base::format_rfc3339(env.now() + base::seconds(made_)));
      if (request.dry_run) return request.body;
    }
    base::Result<Json> result = Json();
    api.call(std::move(request), [&result](base::Result<Json> got) { result = std::move(got); });
    env.settle();
    return result;
  }

  int made_ = 0;
};

}  // namespace pipelines::rest::testing
