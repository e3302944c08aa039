// Registration of the simulated nodes, and the life of the pods on them.
#include "sim/world/nodes.h"

#include <charconv>
#include <optional>
#include <vector>

#include "api/meta/resource.h"
#include "base/format.h"
#include "client/client.h"
#include "client/watch/informer.h"
#include "client/watch/work_queue.h"

namespace sim {

using api::Json;

namespace {

Json node_for(const NodeSettings& settings, int index, base::Time now) {
  const std::string name = base::format("node-{}", index);
  const std::string time = base::format_rfc3339(now);
  const Json room = Json::object({{"cpu", settings.cpu},
                                  {"ephemeral-storage", "100Gi"},
                                  {"memory", settings.memory},
                                  {"pods", std::to_string(settings.pods)}});
  const Json ready = Json::object({{"type", "Ready"},
                                   {"status", "True"},
                                   {"reason", "KubeletReady"},
                                   {"message", "the machine is up"},
                                   {"lastHeartbeatTime", time},
                                   {"lastTransitionTime", time}});
  return Json::object(
      {{"apiVersion", "v1"},
       {"kind", "Node"},
       {"metadata", Json::object({{"name", name}, {"labels", Json::object({{"kubernetes.io/hostname", name}})}})},
       {"status", Json::object({{"capacity", room}, {"allocatable", room}, {"conditions", Json::array({ready})}})}});
}

std::string_view phase_of(const Json& pod) { return pod["status"]["phase"].as_string(); }

bool is_over(const Json& pod) { return phase_of(pod) == "Succeeded" || phase_of(pod) == "Failed"; }

// Pod status while the containers are in `state`, one of running or terminated.
Json status_for(const Json& pod, std::string_view phase, const Run& run, const Json& state) {
  const bool ready = phase == "Running";
  Json statuses = Json::array();
  for (const Json& container : pod["spec"]["containers"].items())
    statuses.push_back(Json::object({{"name", container["name"]},
                                     {"image", container["image"]},
                                     {"imageID", ""},
                                     {"ready", ready},
                                     {"started", ready},
                                     {"restartCount", run.restarts},
                                     {"lastState", Json::object()},
                                     {"state", state}}));
  Json conditions = Json::array();
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == "PodScheduled") conditions.push_back(condition);
  for (const char* type : {"Initialized", "ContainersReady", "Ready"})
    conditions.push_back(Json::object(
        {{"type", type}, {"status", ready || type == std::string_view("Initialized") ? "True" : "False"}}));
  return Json::object({{"phase", phase},
                       {"startTime", base::format_rfc3339(run.started)},
                       {"hostIP", "10.0.0.1"},
                       {"podIP", "10.1.0.1"},
                       {"conditions", std::move(conditions)},
                       {"containerStatuses", std::move(statuses)}});
}

Json ended_state(const Run& run, base::Time at, int exit_code, std::string_view last_words = {}) {
  Json ended = Json::object({{"exitCode", exit_code},
                             {"reason", exit_code == 0 ? "Completed" : "Error"},
                             {"startedAt", base::format_rfc3339(run.started)},
                             {"finishedAt", base::format_rfc3339(at)}});
  if (exit_code == 0 && !last_words.empty()) ended.set("message", last_words);
  return Json::object({{"terminated", std::move(ended)}});
}

int number_of(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

struct Nodes::State {
  rt::Env& env;
  client::Client& client;
  Machines& machines;
  NodeSettings settings;
  client::Informer pods;
  client::WorkQueue queue;
  client::WorkQueue registrations;

  State(rt::Env& env, client::Client& client, Machines& machines, NodeSettings settings)
      : env(env),
        client(client),
        machines(machines),
        settings(std::move(settings)),
        pods(client, env, api::resources::kPods),
        queue(env, [this](const std::string& key) { look_at(key); }, 64, {base::milliseconds(50), base::seconds(5)}),
        registrations(env, [this](const std::string& name) { register_node(name); }, 16,
                      {base::milliseconds(50), base::seconds(5)}) {}

  bool is_ours(const Json& pod) const { return pod["spec"]["nodeName"].as_string().starts_with("node-"); }

  void start() {
    for (int i = 0; i < settings.nodes; ++i) registrations.add(std::to_string(i));
    pods.on_change([this](const Json* before, const Json* after, bool) {
      if (!after)
        machines.runs.erase(std::string(api::uid_of(*before)));
      else if (is_ours(*after))
        queue.add(api::key_of(*after));
    });
    pods.start();
  }

  void register_node(const std::string& index) {
    client::Request request{.verb = client::Verb::kCreate, .resource = api::resources::kNodes};
    request.body = node_for(settings, number_of(index), env.now());
    client.call(std::move(request), [this, index](base::Result<Json> result) {
      if (!result.ok() && result.error().code != base::Code::kAlreadyExists) return registrations.retry(index);
      // A server that drops status on create gets it here.
      client::Request status{.verb = client::Verb::kPatch,
                             .resource = api::resources::kNodes,
                             .name = "node-" + index,
                             .subresource = "status"};
      status.body = Json::object({{"status", node_for(settings, number_of(index), env.now())["status"]}});
      client.call(std::move(status), [this, index](base::Result<Json> patched) {
        if (patched.ok())
          registrations.done(index);
        else
          registrations.retry(index);
      });
    });
  }

  // One look at one pod: what runs, what should, and what the server is to know.
  void look_at(const std::string& key) {
    const Json* found = pods.find(key);
    if (!found || !is_ours(*found)) return queue.done(key);
    const Json pod = *found;
    if (api::is_deleting(pod)) return stop(key, pod);
    if (is_over(pod)) return queue.done(key);
    Run* run = find_run(pod);
    if (!run) run = &begin(pod);
    if (env.now() < run->started) return again_at(key, run->started);
    if (run->ends.is_set() && env.now() >= run->ends) {
      const bool failed = run->exit_code != 0;
      return report(key, pod,
                    status_for(pod, failed ? "Failed" : "Succeeded", *run,
                               ended_state(*run, run->ends, run->exit_code, api::annotation_of(pod, kLastWords))));
    }
    if (phase_of(pod) != "Running") {
      const Json state = Json::object({{"running", Json::object({{"startedAt", base::format_rfc3339(run->started)}})}});
      return report(key, pod, status_for(pod, "Running", *run, state));
    }
    if (run->ends.is_set()) return again_at(key, run->ends);
    queue.done(key);
  }

  Run* find_run(const Json& pod) {
    const auto found = machines.runs.find(std::string(api::uid_of(pod)));
    return found == machines.runs.end() ? nullptr : &found->second;
  }

  Run& begin(const Json& pod) {
    Run run;
    run.started = env.now() + base::Duration{settings.start_delay_ns.draw(env.random())};
    const auto lasts = base::parse_go_duration(api::annotation_of(pod, kRunsFor));
    if (pod["spec"]["restartPolicy"].as_string() == "Never") run.ends = run.started + lasts.value_or(base::seconds(1));
    run.exit_code = number_of(api::annotation_of(pod, kExitCode));
    return machines.runs.emplace(api::uid_of(pod), run).first->second;
  }

  void again_at(const std::string& key, base::Time at) {
    queue.done(key);
    queue.add_after(key, at - env.now());
  }

  void stop(const std::string& key, const Json& pod) {
    Run* run = find_run(pod);
    if (run && !run->stopped.is_set() && !is_over(pod)) {
      const std::int64_t grace = pod["metadata"]["deletionGracePeriodSeconds"].as_int(30) * 1'000'000'000;
      run->stopped = env.now() + base::Duration{std::min(grace, settings.stop_delay_ns.draw(env.random()))};
    }
    if (run && run->stopped > env.now()) return again_at(key, run->stopped);
    client::Request request{.verb = client::Verb::kDelete,
                            .resource = api::resources::kPods,
                            .ns = std::string(api::namespace_of(pod)),
                            .name = std::string(api::name_of(pod))};
    request.body =
        Json::object({{"gracePeriodSeconds", 0}, {"preconditions", Json::object({{"uid", api::uid_of(pod)}})}});
    client.call(std::move(request), [this, key](base::Result<Json> result) {
      // A conflict is looked at again: either a new pod has the name by then, or it was not a real one.
      if (result.ok() || result.error().code == base::Code::kNotFound)
        queue.done(key);
      else
        queue.retry(key);
    });
  }

  void report(const std::string& key, const Json& pod, Json status) {
    client::Request request{.verb = client::Verb::kPatch,
                            .resource = api::resources::kPods,
                            .ns = std::string(api::namespace_of(pod)),
                            .name = std::string(api::name_of(pod)),
                            .subresource = "status"};
    // The uid keeps a report from reaching a later pod of the same name.
    request.body =
        Json::object({{"metadata", Json::object({{"uid", api::uid_of(pod)}})}, {"status", std::move(status)}});
    client.call(std::move(request), [this, key](base::Result<Json> result) {
      if (result.ok() || result.error().code == base::Code::kNotFound) {
        queue.done(key);
        // The end may come before the watch shows the beginning.
        if (result.ok()) queue.add_after(key, base::milliseconds(200));
        return;
      }
      queue.retry(key);
    });
  }
};

Nodes::Nodes(rt::Env& env, client::Client& client, Machines& machines, const NodeSettings& settings)
    : state_(std::make_unique<State>(env, client, machines, settings)) {}
Nodes::~Nodes() = default;

void Nodes::start() { state_->start(); }

}  // namespace sim
