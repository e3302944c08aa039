// An API server in memory, and the fixture that runs commands against it.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/slurm.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

struct Server {
  std::map<std::string, Json> objects;  // "plural ns/name"
  std::vector<client::Request> writes;
  std::deque<Happening> news;  // of streams, numbered from 1 in the order in which they are opened
  std::vector<Selection> followed;
  std::vector<client::LogRequest> logs;
  int streams = 0;
  std::function<base::Result<Json>(const client::Request&)> answers_list;  // in place of the objects
};

class FakeApi final : public Api {
 public:
  explicit FakeApi(Server& server) : server_(server) {}
  base::Result<Json> call(client::Request request) override {
    const std::string key = base::format("{} {}/{}", request.resource.plural, request.ns, request.name);
    if (request.verb == client::Verb::kList && server_.answers_list) return server_.answers_list(request);
    if (request.verb == client::Verb::kList) {
      Json items = Json::array();
      for (const auto& [name, object] : server_.objects)
        if (name.starts_with(request.resource.plural + " ") &&
            (request.ns.empty() || api::namespace_of(object) == request.ns))
          items.push_back(object);
      return Json::object({{"items", std::move(items)}});
    }
    const auto found = server_.objects.find(key);
    if (request.verb == client::Verb::kGet || request.verb == client::Verb::kDelete) {
      if (found == server_.objects.end())
        return base::make_error(base::Code::kNotFound, base::format("{}.{} \"{}\" not found", request.resource.plural,
                                                                    request.resource.group, request.name));
      if (request.verb == client::Verb::kGet) return found->second;
    }
    server_.writes.push_back(request);
    return request.body;
  }
  int follow(Selection selection) override {
    server_.followed.push_back(std::move(selection));
    return ++server_.streams;
  }
  int read_log(client::LogRequest request) override {
    server_.logs.push_back(std::move(request));
    return ++server_.streams;
  }
  void stop(int) override {}
  Happening next(base::Duration) override {
    if (server_.news.empty())  // a test that waits for more than it told would never end
      return {.kind = Happening::Kind::kEnd, .end = base::make_error(base::Code::kUnavailable, "no more news")};
    Happening first = std::move(server_.news.front());
    server_.news.pop_front();
    return first;
  }

 private:
  Server& server_;
};

class VcctlTest : public ::testing::Test {
 protected:
  VcctlTest() {
    world.connect = [this](const std::string&, const std::string&) -> base::Result<std::unique_ptr<Api>> {
      return std::unique_ptr<Api>(std::make_unique<FakeApi>(server));
    };
    world.read_file = [this](const std::string& path) -> base::Result<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return base::make_error(base::Code::kNotFound, "cannot open " + path);
      return found->second;
    };
    world.local_time = [](base::Time time) { return base::format("<{}>", base::format_rfc3339(time)); };
    world.now = [this] { return now; };
    world.show = [this](World& one) {
      shown += std::exchange(one.out, {}) + std::exchange(one.err, {});
      return true;
    };
  }
  int run(std::vector<std::string> arguments) {
    world.out.clear();
    world.err.clear();
    world.exit_status = 0;
    return run_command(vcctl_root(), arguments, world);
  }
  // One of the programs named after Slurm's.
  int run_program(std::string_view name, std::vector<std::string> arguments) {
    world.out.clear();
    world.err.clear();
    world.exit_status = 0;
    for (const Command& root : slurm_roots([this](const std::string& variable) { return variables[variable]; }))
      if (root.name == name) return run_command(root, arguments, world);
    return -1;
  }
  // News of the job job-1 in that phase, on the stream of that number.
  void notify_job(int stream, std::string_view phase, std::string_view counts = "") {
    server.news.push_back(
        {.kind = Happening::Kind::kObject,
         .stream = stream,
         .object = *api::parse_json(base::format(
             R"({{"metadata": {{"name": "job-1", "namespace": "default"}}, "status": {{{}"state": {{"phase": "{}"}}}}}})",
             counts, phase))});
  }
  void put(const api::ResourceId& resource, std::string_view text) {
    auto parsed = api::parse_json(text);
    ASSERT_TRUE(parsed.ok());
    server.objects[base::format("{} {}/{}", resource.plural, api::namespace_of(*parsed), api::name_of(*parsed))] =
        *parsed;
  }
  void put_job() {
    put(resources::kJobs, R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "job-1",
      "namespace": "default", "uid": "U", "creationTimestamp": "2026-08-20T02:00:00Z"}, "spec": {"queue": "test",
      "schedulerName": "volcano", "tasks": [{"replicas": 2}, {"replicas": 3}]},
      "status": {"minAvailable": 1, "running": 2, "state": {"phase": "Running"}}})");
  }

  Server server;
  World world;
  std::map<std::string, std::string> files;
  std::map<std::string, std::string> variables;
  base::Time now = *base::parse_rfc3339("2026-08-20T03:00:00Z");
  std::string shown;  // what the person saw before the end
};

}  // namespace cli
