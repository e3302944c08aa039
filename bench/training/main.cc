// The cost of training jobs to their operator: CPU time and writes a pod, over the whole life of the pod?
//
//   training_bench [JOBS [PODS_A_JOB]]
//
// The operator runs as it does in production, on virtual time, beside a server of one screen, a scheduler that admits
// each group and nodes that run each pod for a minute. Counted is the CPU time of the operator alone, with reading
// every event and answer from text and writing every request as text; the server's own time is left out.
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/kubeflow/v1/run_policy.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "client/watch/initial_events.h"
#include "controllers/all.h"
#include "sim/world/env.h"

namespace {

using api::Json;
namespace r = api::resources;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Objects and watches that begin empty, nothing else. Counts what is written.
class Server final : public client::Client {
 public:
  explicit Server(rt::Env& env) : env_(env) {}

  void call(client::Request request, OnResult on_result) override {
    const std::string sent = request.body.dump();  // the operator's work
    env_.loop().post([this, request = std::move(request), on_result = std::move(on_result)] {
      const double begin = cpu_seconds();
      base::Result<Json> answer = carry_out(request);
      const std::string text = answer.ok() ? answer->dump() : "";
      aside_ += cpu_seconds() - begin;
      if (!answer.ok()) return on_result(answer.take_error());
      on_result(api::parse_json(text));
    });
  }

  std::unique_ptr<client::Watch> watch(client::WatchRequest request, OnEvent on_event, OnEnd) override {
    auto open = std::make_shared<OnEvent>(std::move(on_event));
    watches_[request.resource.plural].push_back(open);
    if (request.resource_version.empty())
      env_.loop().post([open] {
        if (*open) (*open)({client::EventType::kBookmark, client::make_bookmark("", "", 1, true)});
      });
    struct Held final : client::Watch {
      explicit Held(std::shared_ptr<OnEvent> o) : open(std::move(o)) {}
      ~Held() override { *open = nullptr; }
      std::shared_ptr<OnEvent> open;
    };
    return std::make_unique<Held>(open);
  }

  void put(const api::ResourceId& id, Json object, client::EventType type) {
    object.edit("metadata").set("resourceVersion", std::to_string(++version_));
    const std::string key = api::key_of(object);
    if (type == client::EventType::kDeleted)
      tables_[id.plural].erase(key);
    else
      tables_[id.plural][key] = object;
    const std::string text = object.dump();
    for (const auto& open : watches_[id.plural])
      env_.loop().post([open, type, text] {
        if (*open) (*open)({type, *api::parse_json(text)});
      });
    if (on_change) on_change(id, object, type);
  }
  const Json* find(const api::ResourceId& id, const std::string& key) const {
    const auto table = tables_.find(id.plural);
    const auto found = table == tables_.end() ? Table::const_iterator() : table->second.find(key);
    return table == tables_.end() || found == table->second.end() ? nullptr : &found->second;
  }

  std::function<void(const api::ResourceId&, const Json&, client::EventType)> on_change;
  std::map<std::string, int> writes;  // by verb and resource
  double aside() const { return aside_; }
  void leave_out(double seconds) { aside_ += seconds; }

 private:
  using Table = std::map<std::string, Json>;

  base::Result<Json> carry_out(const client::Request& request) {
    using client::Verb;
    Table& table = tables_[request.resource.plural];
    if (request.verb == Verb::kList) {
      Json items = Json::array();
      for (const auto& [key, object] : table) items.push_back(object);
      return Json::object(
          {{"metadata", Json::object({{"resourceVersion", std::to_string(version_)}})}, {"items", items}});
    }
    const std::string name = request.name.empty() ? std::string(api::name_of(request.body)) : request.name;
    const std::string key = request.ns.empty() ? name : request.ns + "/" + name;
    const char* const verb = request.verb == Verb::kCreate   ? "create"
                             : request.verb == Verb::kUpdate ? "update"
                             : request.verb == Verb::kPatch  ? "patch"
                                                             : "delete";
    if (request.verb != Verb::kGet)
      ++writes[base::format("{} {}{}{}", verb, request.resource.plural, request.subresource.empty() ? "" : "/",
                            request.subresource)];
    if (request.verb == Verb::kCreate) {
      Json object = request.body;
      object.edit("metadata").set("uid", base::format("uid-{}", version_));
      if (!request.ns.empty()) object.edit("metadata").set("namespace", request.ns);
      put(request.resource, object, client::EventType::kAdded);
      return table[key];
    }
    if (!table.contains(key)) return base::make_error(base::Code::kNotFound, key + " not found");
    if (request.verb == Verb::kUpdate) put(request.resource, request.body, client::EventType::kModified);
    if (request.verb == Verb::kDelete) {
      const Json last = table[key];
      put(request.resource, last, client::EventType::kDeleted);
      return last;
    }
    return table[key];
  }

  rt::Env& env_;
  std::map<std::string, Table> tables_;
  std::map<std::string, std::vector<std::shared_ptr<OnEvent>>> watches_;
  std::int64_t version_ = 0;
  double aside_ = 0;
};

Json parsed(const std::string& text) { return *api::parse_json(text); }

Json job(int number, int pods) {
  const char* const pod =
      R"({"spec": {"containers": [{"name": "pytorch", "image": "train", "resources": {"requests": {"cpu": "4", "memory": "16Gi"}}}]}})";
  return parsed(base::format(
      R"({{"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {{"name": "job-{0}", "namespace": "ml", "uid": "j-{0}"}},
"spec": {{"pytorchReplicaSpecs": {{"Master": {{"replicas": 1, "template": {2}}}, "Worker": {{"replicas": {1}, "template": {2}}}}}}}}})",
      number, pods - 1, pod));
}

// Groups are admitted, pods start within seconds of each other, run for a minute and succeed.
class Cluster {
 public:
  Cluster(rt::Env& env, Server& server) : env_(env), server_(server) {
    server.on_change = [this](const api::ResourceId& id, const Json& object, client::EventType type) {
      if (type != client::EventType::kAdded) return;
      const std::string key = api::key_of(object);
      if (id == r::kPodGroups) later(base::milliseconds(50), id, key, R"({"phase": "Inqueue"})");
      if (id != r::kPods) return;
      const base::Duration start = base::milliseconds(200 + static_cast<std::int64_t>(env_.random().below(3000)));
      later(start, id, key, R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}]})");
      later(start + base::seconds(1), id, key,
            R"({"phase": "Running", "containerStatuses": [{"name": "pytorch", "state": {"running": {}}}]})");
      later(
          start + base::seconds(61), id, key,
          R"({"phase": "Succeeded", "containerStatuses": [{"name": "pytorch", "state": {"terminated": {"exitCode": 0}}}]})");
    };
  }

 private:
  void later(base::Duration delay, const api::ResourceId& id, const std::string& key, const char* status) {
    env_.loop().after(delay, [this, id, key, status] {
      const double begin = cpu_seconds();
      if (const Json* found = server_.find(id, key)) {
        Json object = *found;
        object.set("status", parsed(status));
        server_.put(id, std::move(object), client::EventType::kModified);
      }
      server_.leave_out(cpu_seconds() - begin);
    });
  }

  rt::Env& env_;
  Server& server_;
};

void run(int jobs, int pods) {
  sim::Clock clock(base::Time{1'800'000'000'000'000'000});
  sim::SimEnv env(clock, 1);
  Server server(env);
  const Cluster cluster(env, server);
  controllers::Options options;
  options.training = controllers::training::Options();
  options.counts_interval = controllers::training::kCountsInterval;
  options.enabled = controllers::training::controller_names();
  controllers::Manager manager(env, server, options);
  manager.start();
  for (int i = 0; i < jobs; ++i)
    env.loop().after(base::milliseconds(1000 + 20 * i), [&server, i, pods] {
      const double begin = cpu_seconds();
      server.put(r::kPyTorchJobs, job(i, pods), client::EventType::kAdded);
      server.leave_out(cpu_seconds() - begin);
    });
  const double begin = cpu_seconds();
  const base::Time end = clock.now() + base::seconds(200) + base::milliseconds(20 * jobs);
  while (clock.step(end)) continue;
  const double took = cpu_seconds() - begin - server.aside();
  int succeeded = 0, writes = 0;
  for (int i = 0; i < jobs; ++i) {
    const Json* one = server.find(r::kPyTorchJobs, base::format("ml/job-{}", i));
    const Json& conditions = (*one)["status"]["conditions"];
    succeeded += conditions.size() > 0 && conditions.items().back()["type"].as_string() == "Succeeded";
  }
  const double all_pods = static_cast<double>(jobs) * pods;
  for (const auto& [what, count] : server.writes) writes += count;
  std::printf("training: %d of %d jobs of %d pods succeeded, %.2f writes a pod, %.3f ms of CPU a pod\n", succeeded,
              jobs, pods, writes / all_pods, took * 1e3 / all_pods);
  for (const auto& [what, count] : server.writes)
    std::printf("training: %s: %.3f a pod\n", what.c_str(), count / all_pods);
}

}  // namespace

int main(int argc, char** argv) {
  const int jobs = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int pods = argc > 2 ? std::atoi(argv[2]) : 8;
  if (jobs < 1 || pods < 2) return std::fprintf(stderr, "usage: training_bench [JOBS [PODS_A_JOB]]\n"), 2;
  run(jobs, pods);
  return 0;
}
