// Resizing in place: what fits, what comes next, what is told, and what outlives the agent.
#include "node/pod/resize.h"

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "api/json/yaml.h"
#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "node/agent/agent.h"
#include "node/agent/clock_for_tests.h"
#include "node/agent/core/allocation_facts.h"
#include "node/agent/lasting_runtime_for_tests.h"
#include "node/os/cgroups.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) {
  const auto json = api::parse_yaml(text);
  CHECK(json.ok());
  return *json;
}

Json pod_asking(const std::string& name, const std::string& resources, const std::string& more = "") {
  return yaml(base::format(
      "{{metadata: {{name: {0}, namespace: ns, uid: u-{0}, generation: 1}}, spec: {{nodeName: n1, containers: "
      "[{{name: a, image: i, resources: {1}{2}}}]}}}}",
      name, resources, more));
}

TEST(JudgeResize, looks_at_what_rises) {
  struct Row {
    const char* present;
    const char* wanted;
    const char* others;
    ResizeVerdict::Kind kind;
    const char* message;
  };
  using Kind = ResizeVerdict::Kind;
  const Row rows[] = {
      {"{requests: {cpu: 1}}", "{requests: {cpu: 2}}", "{cpu: 2}", Kind::kFits, ""},
      {"{requests: {cpu: 1}}", "{requests: {cpu: 2}}", "{cpu: 2001m}", Kind::kDeferred,
       "Node didn't have enough resource: cpu, requested: 2000, used: 2001, capacity: 4000"},
      {"{requests: {cpu: 1}}", "{requests: {cpu: 5}}", "{}", Kind::kInfeasible,
       "Node didn't have enough capacity: cpu, requested: 5000, capacity: 4000"},
      {"{requests: {memory: 1Gi}}", "{requests: {memory: 9Gi, cpu: 9}}", "{}", Kind::kInfeasible,
       "Node didn't have enough capacity: memory, requested: 9663676416, capacity: 8589934592"},
      {"{requests: {cpu: 3}}", "{requests: {cpu: 2}}", "{cpu: 9}", Kind::kFits, ""},
      {"{requests: {cpu: 3}, limits: {cpu: 3}}", "{requests: {cpu: 3}, limits: {cpu: 9}}", "{cpu: 9}", Kind::kFits, ""},
      {"{requests: {cpu: 1}}", "{requests: {cpu: 9223372036854775807E}}", "{cpu: 9223372036854775807E}",
       Kind::kInfeasible, "Node didn't have enough capacity: cpu, requested: 9223372036854775807, capacity: 4000"},
  };
  const api::ResourceList node = api::resource_list_from(yaml("{cpu: 4, memory: 8Gi}"));
  for (const Row& row : rows) {
    const ResizeVerdict verdict = judge_resize(pod_asking("p", row.wanted), pod_asking("p", row.present), node,
                                               api::resource_list_from(yaml(row.others)));
    EXPECT_EQ(verdict.kind, row.kind) << row.wanted;
    EXPECT_EQ(verdict.message, row.message);
  }
}

TEST(Room, is_what_the_pods_that_have_begun_leave) {
  struct Row {
    const char* asks;
    const char* others;
    const char* resource;
    const char* message;
  };
  const Row rows[] = {
      {"{requests: {cpu: 2, memory: 1Gi}}", "{cpu: 2, memory: 7Gi, pods: 109}", "", ""},
      {"{requests: {cpu: 3}}", "{cpu: 1500m}", "cpu",
       "Node didn't have enough resource: cpu, requested: 3000, used: 1500, capacity: 4000"},
      {"{requests: {memory: 9Gi}}", "{}", "memory",
       "Node didn't have enough resource: memory, requested: 9663676416, used: 0, capacity: 8589934592"},
      {"{}", "{pods: 110}", "pods", "Node didn't have enough resource: pods, requested: 1, used: 110, capacity: 110"},
      {"{}", "{cpu: 5}", "", ""},  // who asks for nothing lacks nothing, however full it is
  };
  const api::ResourceList node = api::resource_list_from(yaml("{cpu: 4, memory: 8Gi, pods: 110}"));
  for (const Row& row : rows) {
    const auto shortage = lacks_room(pod_asking("p", row.asks), node, api::resource_list_from(yaml(row.others)));
    EXPECT_EQ(shortage ? shortage->resource : "", row.resource) << row.asks;
    EXPECT_EQ(shortage ? shortage->message : "", row.message) << row.asks;
  }
}

TEST(ResizeSteps, update_first_then_restart_and_lower_the_pod_last) {
  const Json pod = pod_asking("p", "{requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}",
                              ", resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]");
  const auto state_with = [](const std::string& held, RunPhase phase) {
    PodState state;
    ContainerState& container = state.containers.emplace_back();
    container.name = "a";
    container.id = "id";
    container.phase = phase;
    container.held = yaml(held);
    return state;
  };
  const PodAmounts goal{1000, 1000, 1 << 30}, larger{2000, 2000, std::int64_t{2} << 30};
  const char* same = "{requests: {cpu: 1000m, memory: 1024Mi}, limits: {cpu: 1, memory: 1Gi}}";
  EXPECT_EQ(next_resize_step(pod, state_with(same, RunPhase::kRunning), goal).kind, ResizeStep::Kind::kDone);
  EXPECT_EQ(next_resize_step(pod, state_with("{}", RunPhase::kEnded), goal).kind, ResizeStep::Kind::kDone);
  EXPECT_EQ(next_resize_step(pod, state_with(same, RunPhase::kStarting), goal).kind, ResizeStep::Kind::kWait);
  EXPECT_EQ(next_resize_step(pod, state_with(same, RunPhase::kRunning), std::nullopt).kind, ResizeStep::Kind::kApply);

  const PodState cpu =
      state_with("{requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}", RunPhase::kRunning);
  ResizeStep step = next_resize_step(pod, cpu, larger);
  EXPECT_EQ(step.kind, ResizeStep::Kind::kApply);
  ASSERT_EQ(step.change.containers.size(), 1u);
  EXPECT_EQ(step.change.containers[0].amounts, goal);
  EXPECT_EQ(step.change.pod, goal);

  PodState memory = state_with("{requests: {cpu: 1, memory: 2Gi}, limits: {cpu: 1, memory: 2Gi}}", RunPhase::kRunning);
  step = next_resize_step(pod, memory, PodAmounts{1000, 1000, std::int64_t{2} << 30});
  EXPECT_EQ(step.kind, ResizeStep::Kind::kRestart);
  EXPECT_EQ(step.restarted, std::vector<std::size_t>{0});
  memory.containers[0].doom = "resize";
  EXPECT_EQ(next_resize_step(pod, memory, PodAmounts{1000, 1000, std::int64_t{2} << 30}).kind, ResizeStep::Kind::kWait);
  step = next_resize_step(pod, memory, PodAmounts{1000, 1000, 1 << 20});
  EXPECT_EQ(step.kind, ResizeStep::Kind::kApply) << "a pod is raised before its container starts anew";
  EXPECT_EQ(step.change.pod.memory_limit_bytes, 1 << 30);
  EXPECT_EQ(next_resize_step(pod, state_with(same, RunPhase::kRunning), larger).change.pod, goal) << "at the end";
}

TEST(CgroupResize, raises_before_and_lowers_after) {
  std::map<std::string, std::string> files = {
      {"/v2/p/cpu.max", "100000 100000\n"}, {"/v2/p/cpu.weight", "39\n"},  {"/v2/p/memory.max", "max\n"},
      {"/cpu/p/cpu.cfs_quota_us", "-1"},    {"/cpu/p/cpu.shares", "1024"}, {"/mem/p/memory.limit_in_bytes", "4096"}};
  const auto read = [&](const std::string& path) { return files[path]; };
  const CgroupLayout v2{{}, "/v2"}, v1{{{"cpu", "/cpu"}, {"memory", "/mem"}}, ""};
  using Writes = std::vector<FileWrite>;
  CgroupResize plan = plan_cgroup_resize(v2, "/p", {2000, 2000, 1 << 20}, read);
  EXPECT_EQ(plan.before, (Writes{{"/v2/p/cpu.max", "200000 100000"}, {"/v2/p/cpu.weight", "79"}}));
  EXPECT_EQ(plan.after, (Writes{{"/v2/p/memory.max", "1048576"}}));
  plan = plan_cgroup_resize(v2, "/p", {1000, 0, 0}, read);
  EXPECT_EQ(plan.before, (Writes{{"/v2/p/cpu.max", "max 100000"}}));
  EXPECT_EQ(plan.after, (Writes{}));
  plan = plan_cgroup_resize(v1, "/p", {500, 1000, 8192}, read);
  EXPECT_EQ(plan.before, (Writes{{"/mem/p/memory.limit_in_bytes", "8192"}}));
  EXPECT_EQ(plan.after, (Writes{{"/cpu/p/cpu.cfs_quota_us", "100000"}, {"/cpu/p/cpu.shares", "512"}}));
}

// Containers of a pod start at once, each after it wrote what the pod has.
TEST(AllocationFacts, are_written_by_many_threads_and_the_last_decision_stays) {
  const std::string folder = testing::TempDir() + "/allocations-at-once";
  std::filesystem::remove_all(folder);
  AllocationFile file;
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  const auto asking = [](int cpu) {
    return Allocation{"u", {{"a", yaml(base::format("{{requests: {{cpu: {}}}}}", cpu))}}, {}, false};
  };
  for (int i = 1; i <= 64; ++i)
    threads.emplace_back([&, one = asking(i), decided = file.decide()] {
      if (!file.write(folder, one, decided).ok()) ++failed;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(read_allocations(folder), std::vector<Allocation>{asking(64)});
}

TEST(AllocationFacts, outlive_the_agent_and_rubbish_is_left_out) {
  const std::string folder = testing::TempDir() + "/allocations";
  std::filesystem::remove_all(folder);
  Allocation good{"u", {{"a", yaml("{requests: {cpu: 1}}")}}, {{"a", yaml("{requests: {cpu: 2}}")}}, true};
  ASSERT_TRUE(write_allocation(folder, good).ok());
  int number = 0;
  for (const char* rubbish :
       {"", "{", "7", "[]", "{}", R"({"setAside":7,"held":{}})", R"({"setAside":{"a":7},"held":{}})",
        R"({"setAside":{"a":{"requests":{"cpu":"-1"}}},"held":{}})",
        R"({"setAside":{"a":{"requests":{"cpu":"much"}}},"held":{}})", R"({"setAside":{"a":{"limits":[]}},"held":{}})",
        R"({"setAside":{},"held":null})"})
    std::ofstream(base::format("{}/r{}.json", folder, number++)) << rubbish;
  std::ofstream(folder + "/...json") << R"({"setAside":{},"held":{}})";
  EXPECT_EQ(read_allocations(folder), std::vector<Allocation>{good});
  erase_allocation(folder, "u");
  EXPECT_TRUE(read_allocations(folder).empty());
}

// A machine that outlives agents.
struct Machine : LastingMachine {
  std::vector<std::string> log;
  std::optional<std::string> unable, fails;
  Json reports;        // of what a container has; null: what it was told
  std::string scores;  // of the last resize
};

class ResizingRuntime : public LastingRuntime {
 public:
  explicit ResizingRuntime(Machine& machine) : LastingRuntime(machine), machine_(machine) {}
  base::Result<StartedContainer> start(const ContainerSpec& spec) override {
    machine_.log.push_back(base::format("start {} cpu {}", spec.name, spec.cpu_limit_milli));
    return LastingRuntime::start(spec);
  }
  std::optional<std::string> no_resize() const override { return machine_.unable; }
  base::Status resize(const PodResize& change) override {
    std::string text =
        base::format("resize pod cpu {} memory {}", change.pod.cpu_limit_milli, change.pod.memory_limit_bytes);
    for (const ContainerResize& one : change.containers)
      text +=
          base::format(", {} cpu {} memory {}", one.name, one.amounts.cpu_limit_milli, one.amounts.memory_limit_bytes);
    machine_.log.push_back(std::move(text));
    for (const ContainerResize& one : change.containers)
      machine_.scores = base::format("{} to {}", one.oom_score.before, one.oom_score.after);
    if (machine_.fails) return base::make_error(base::Code::kUnavailable, *machine_.fails);
    return {};
  }
  Json actual_resources(const std::string&, const std::string&, const Json& notified) const override {
    return machine_.reports.is_null() ? notified : machine_.reports;
  }
  void signal(const std::string& uid, const std::string& id, int) override {
    machine_.log.push_back("signal");
    for (RecoveredContainer& run : machine_.pods[uid].containers)
      if (run.id == id) run.running = false;
    machine_.on_exit({id, 143, false, machine_.env->now()});
  }

 private:
  Machine& machine_;
};

struct World {
  ClockEnv env;
  client::testing::FakeClient server{env};
  Machine machine;
  std::unique_ptr<Agent> agent;
  std::string data = testing::TempDir() + "/resize-agent";

  World() {
    machine.env = &env;
    std::filesystem::remove_all(data);
  }
  void start() {
    MachineFacts facts;
    facts.cpus = 4;
    facts.memory_bytes = std::int64_t{8} << 30;
    Options options;
    options.node_name = "n1";
    options.data_dir = data;
    agent = std::make_unique<Agent>(env, server, options, std::make_unique<ResizingRuntime>(machine), facts);
    agent->start();
    env.run_for(base::seconds(3));
  }
  void kill() {
    machine.on_exit = {};
    agent.reset();
    env.drop_tasks();
  }
  void put(const Json& pod) {
    server.put(api::resources::kPods, pod);
    env.run_for(base::seconds(3));
  }
  Json pod(const std::string& name) const { return *server.find(api::resources::kPods, "ns/" + name); }
  void resize(const std::string& name, const std::string& resources, const std::string& more = "") {
    Json changed = pod(name);
    changed.set("spec", pod_asking(name, resources, more)["spec"]);
    changed.edit("metadata").set("generation", changed["metadata"]["generation"].as_int() + 1);
    put(changed);
  }
  Json condition(const std::string& name, std::string_view type) const {
    for (const Json& one : pod(name)["status"]["conditions"].items())
      if (one["type"].as_string() == type && !one.has("$patch")) return one;  // this server does not delete in lists
    return {};
  }
  Json container(const std::string& name) const { return pod(name)["status"]["containerStatuses"][std::size_t{0}]; }
  std::string resizes() const {
    std::string all;
    for (const std::string& line : machine.log)
      if (line.starts_with("resize")) all += line + "; ";
    return all;
  }
  std::set<std::string> event_reasons() {
    env.run_for(base::seconds(3));
    std::set<std::string> all;
    for (const auto& [key, event] : server.table(api::resources::kEvents))
      if (event["reason"].as_string().starts_with("Resize")) all.insert(event["reason"].str());
    return all;
  }
};

constexpr const char* kOne = "{requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}";
constexpr const char* kTwo = "{requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}";

TEST(AgentResize, changes_what_runs_and_says_so) {
  World w;
  w.start();
  w.put(pod_asking("p", kOne));
  EXPECT_EQ(w.container("p")["allocatedResources"].dump(), R"({"cpu":1,"memory":"1Gi"})");
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 1);
  EXPECT_EQ(w.pod("p")["status"]["observedGeneration"].as_int(), 1);
  w.resize("p", kTwo);
  EXPECT_EQ(w.resizes(), "resize pod cpu 2000 memory 1073741824, a cpu 2000 memory 1073741824; ");
  EXPECT_EQ(w.container("p")["allocatedResources"]["cpu"].as_int(), 2);
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
  EXPECT_EQ(w.container("p")["restartCount"].as_int(), 0);
  EXPECT_EQ(w.pod("p")["status"]["observedGeneration"].as_int(), 2);
  EXPECT_TRUE(w.condition("p", "PodResizeInProgress").is_null());
  EXPECT_EQ(w.event_reasons(), (std::set<std::string>{"ResizeStarted", "ResizeCompleted"}));
}

TEST(AgentResize, waits_for_room_and_takes_it) {
  World w;
  w.start();
  w.put(pod_asking("p", kOne));
  w.put(pod_asking("q", "{requests: {cpu: 3}}"));
  w.resize("p", kTwo);
  const Json waits = w.condition("p", "PodResizePending");
  EXPECT_EQ(waits["reason"].as_string(), "Deferred");
  EXPECT_EQ(waits["message"].as_string(),
            "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000");
  EXPECT_EQ(waits["observedGeneration"].as_int(), 2);
  EXPECT_EQ(w.container("p")["allocatedResources"]["cpu"].as_int(), 1);
  EXPECT_EQ(w.resizes(), "");
  w.resize("q", "{requests: {cpu: 2}}");  // as much as p wants
  EXPECT_TRUE(w.condition("p", "PodResizePending").is_null()) << w.pod("p")["status"].dump();
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
  w.resize("p", "{requests: {cpu: 9, memory: 1Gi}, limits: {cpu: 9, memory: 1Gi}}");
  EXPECT_EQ(w.condition("p", "PodResizePending")["reason"].as_string(), "Infeasible");
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
  w.resize("p", kTwo);  // taken back
  EXPECT_TRUE(w.condition("p", "PodResizePending").is_null());
}

TEST(AgentResize, a_pod_that_leaves_makes_room) {
  World w;
  w.start();
  w.put(pod_asking("p", kOne));
  w.put(pod_asking("q", "{requests: {cpu: 3}}"));
  w.resize("p", kTwo);
  EXPECT_EQ(w.condition("p", "PodResizePending")["reason"].as_string(), "Deferred");
  w.server.erase(api::resources::kPods, "ns/q");
  w.env.run_for(base::seconds(3));
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
}

TEST(AgentResize, restarts_where_that_is_asked_for) {
  World w;
  w.start();
  const char* policy = ", resizePolicy: [{resourceName: cpu, restartPolicy: RestartContainer}]";
  w.put(pod_asking("p", kTwo, policy));
  w.resize("p", kOne, policy);
  w.env.run_for(base::seconds(60));
  EXPECT_EQ(w.container("p")["restartCount"].as_int(), 1);
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 1);
  const std::vector<std::string> log = {"start a cpu 2000", "signal", "start a cpu 1000",
                                        "resize pod cpu 1000 memory 1073741824"};
  EXPECT_EQ(w.machine.log, log) << "the pod's group is lowered last";
  EXPECT_TRUE(w.condition("p", "PodResizeInProgress").is_null());
}

TEST(AgentResize, what_the_runtime_refuses_is_said_and_tried_again) {
  World w;
  w.start();
  w.put(pod_asking("p", kOne));
  w.machine.fails = "cannot decrease memory limits";
  w.resize("p", kTwo);
  const Json reports = w.condition("p", "PodResizeInProgress");
  EXPECT_EQ(reports["reason"].as_string(), "Error");
  EXPECT_EQ(reports["message"].as_string(), "cannot decrease memory limits");
  EXPECT_EQ(w.container("p")["allocatedResources"]["cpu"].as_int(), 2);
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 1) << "the truth";
  w.machine.fails.reset();
  w.env.run_for(base::minutes(1));
  EXPECT_TRUE(w.condition("p", "PodResizeInProgress").is_null());
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
}

// A pod with 2 processors as a whole, and a container that says nothing.
Json whole_pod(const std::string& resources) {
  Json pod = pod_asking("p", "{}");
  pod.edit("spec").set("resources", yaml(resources));
  return pod;
}

TEST(AgentResize, is_tried_again_in_its_time_when_the_clock_is_set) {
  for (const base::Duration ahead : {base::hours(-8), base::hours(8)}) {
    World w;
    w.start();
    w.put(pod_asking("p", kOne));
    w.machine.fails = "busy";
    w.resize("p", kTwo);
    w.env.ahead = ahead;
    w.machine.fails.reset();
    w.put(w.pod("p"));
    EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 1) << ahead.seconds();
    w.env.run_for(base::seconds(5));
    EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2) << ahead.seconds();
  }
}

TEST(AgentResize, a_pod_is_resized_as_a_whole) {
  World w;
  w.start();
  w.put(whole_pod("{requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}"));
  EXPECT_EQ(w.machine.log, (std::vector<std::string>{"start a cpu 1000"})) << "what it sees is what its pod has";
  EXPECT_EQ(w.pod("p")["status"]["qosClass"].as_string(), "Guaranteed");
  EXPECT_EQ(w.pod("p")["status"]["allocatedResources"].dump(), R"({"cpu":1,"memory":"1Gi"})");
  EXPECT_EQ(w.pod("p")["status"]["resources"]["limits"].dump(), R"({"cpu":1,"memory":"1Gi"})");
  EXPECT_TRUE(w.container("p")["resources"]["limits"].is_null()) << w.container("p").dump();
  const auto request = [&](const std::string& resources) {
    Json changed = w.pod("p");
    changed.set("spec", whole_pod(resources)["spec"]);
    changed.edit("metadata").set("generation", changed["metadata"]["generation"].as_int() + 1);
    w.put(changed);
  };
  request("{requests: {cpu: 2, memory: 1Gi}, limits: {cpu: 2, memory: 1Gi}}");
  EXPECT_EQ(w.resizes(), "resize pod cpu 2000 memory 1073741824, a cpu 2000 memory 1073741824; ");
  EXPECT_EQ(w.pod("p")["status"]["resources"]["limits"]["cpu"].as_int(), 2);
  EXPECT_EQ(w.event_reasons(), (std::set<std::string>{"ResizeStarted", "ResizeCompleted"}));
  w.kill();
  w.machine.log.clear();
  w.start();
  EXPECT_EQ(w.resizes(), "");
  EXPECT_EQ(w.pod("p")["status"]["resources"]["limits"]["cpu"].as_int(), 2);
  request("{requests: {cpu: 9, memory: 1Gi}, limits: {cpu: 9, memory: 1Gi}}");
  EXPECT_EQ(w.condition("p", "PodResizePending")["message"].as_string(),
            "Node didn't have enough capacity: cpu, requested: 9000, capacity: 4000");
}

TEST(AgentResize, shows_what_the_machine_says) {
  World w;
  w.machine.reports = yaml("{limits: {cpu: 700m}}");
  w.start();
  w.put(pod_asking("p", kOne));
  EXPECT_EQ(w.container("p")["resources"].dump(), R"({"limits":{"cpu":"700m"}})");
  EXPECT_EQ(w.container("p")["allocatedResources"]["cpu"].as_int(), 1);
  w.machine.reports = yaml("{limits: {cpu: 1900m}}");
  w.resize("p", kTwo);
  EXPECT_EQ(w.container("p")["resources"].dump(), R"({"limits":{"cpu":"1900m"}})");
  EXPECT_TRUE(w.condition("p", "PodResizeInProgress").is_null()) << "it was told once";
  w.machine.reports = yaml("{limits: {cpu: 3}}");
  w.kill();
  w.start();
  EXPECT_EQ(w.container("p")["resources"].dump(), R"({"limits":{"cpu":3}})");
}

TEST(AgentResize, changes_who_goes_first_when_memory_runs_out) {
  World w;
  w.start();
  w.put(pod_asking("p", "{requests: {memory: 2Gi}}"));  // of 8
  w.resize("p", "{requests: {memory: 4Gi}}");
  EXPECT_EQ(w.machine.scores, "750 to 500");
}

TEST(AgentResize, is_not_possible_where_nothing_is_held_to_limits) {
  World w;
  w.machine.unable = "pods are plain processes";
  w.start();
  w.put(pod_asking("p", kOne));
  EXPECT_FALSE(w.container("p")["resources"].has("limits")) << "nobody keeps them";
  w.resize("p", kTwo);
  const Json reports = w.condition("p", "PodResizePending");
  EXPECT_EQ(reports["reason"].as_string(), "Infeasible");
  EXPECT_EQ(reports["message"].as_string(), "In-place resize is not possible on this node: pods are plain processes");
  EXPECT_EQ(w.resizes(), "");
}

TEST(AgentResize, what_was_set_aside_outlives_the_agent) {
  World w;
  w.start();
  w.put(pod_asking("p", kOne));
  w.put(pod_asking("q", "{requests: {cpu: 3}}"));
  w.kill();
  w.resize("p", kTwo);  // while nobody looks
  w.start();
  EXPECT_EQ(w.condition("p", "PodResizePending")["reason"].as_string(), "Deferred") << w.pod("p")["status"].dump();
  EXPECT_EQ(w.container("p")["allocatedResources"]["cpu"].as_int(), 1);
  w.kill();
  w.resize("q", "{requests: {cpu: 1}}");
  w.start();
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
  w.machine.log.clear();
  w.kill();
  w.start();
  EXPECT_EQ(w.resizes(), "") << "what is done is not done again";
  EXPECT_EQ(w.container("p")["resources"]["limits"]["cpu"].as_int(), 2);
}

}  // namespace
}  // namespace node
