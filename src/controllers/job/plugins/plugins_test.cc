// The additions of each job plugin to pods and to the cluster (controllers.md 4).
#include <gtest/gtest.h>

#include "base/format.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"
#include "controllers/job/pods.h"

namespace controllers::job {
namespace {

using api::Json;

Json parse(std::string_view text) {
  auto parsed = api::parse_json(text);
  EXPECT_TRUE(parsed.ok()) << text;
  return parsed.ok() ? *parsed : Json();
}

// Two tasks, one and two pods, with these plugins.
Job job_with(std::string_view plugins, std::string_view first = "master", std::string_view second = "worker") {
  return read_job(parse(base::format(
      R"({{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job",
           "metadata": {{"name": "j", "namespace": "ns", "uid": "U"}}, "spec": {{"plugins": {0}, "tasks": [
          {{"name": "{1}", "replicas": 1, "template": {{"spec": {{"containers": [{{"name": "{1}"}}]}}}}}},
          {{"name": "{2}", "replicas": 2, "template": {{"spec": {{"containers": [{{"name": "{2}"}}],
             "initContainers": [{{"name": "first"}}]}}}}}}]}}}})",
      plugins, first, second)));
}

Json pod_of(const Job& job, std::size_t task, std::int64_t index) {
  auto pod = pod_for(job, job.tasks[task], index, false);
  EXPECT_TRUE(pod.ok()) << (pod.ok() ? "" : pod.error().message);
  return pod.ok() ? pod->object : Json();
}

std::string env_of(const Json& container) {
  std::string text;
  for (const Json& env : container["env"].items())
    text += base::format(
        "{}={} ", env["name"].as_string(),
        env["valueFrom"].is_object() ? "@" + env["valueFrom"]["configMapKeyRef"]["key"].str() : env["value"].str());
  return text;
}

const Json& container(const Json& pod) { return pod["spec"]["containers"][std::size_t{0}]; }
const Json& init_container(const Json& pod) { return pod["spec"]["initContainers"][std::size_t{0}]; }

TEST(Flags, are_read_as_command_lines_are) {
  constexpr Flag kKnown[] = {
      {"port", Flag::Type::kNumber, "1"}, {"on", Flag::Type::kBool, "false"}, {"name", Flag::Type::kText, "x"}};
  struct Row {
    std::vector<std::string> args;
    std::string_view expected;
  };
  const Row rows[] = {{{"--port=5", "-name", "y", "--on"}, "5 true y"},
                      {{"-port", "7"}, "7 false x"},
                      {{"--port=x", "--name=z"}, "1 false x"},
                      {{"--name=z", "stop", "--on"}, "1 false z"},
                      {{"--on=false", "--", "--name=z"}, "1 false x"},
                      {{"--name=z", "--bogus", "--on"}, "1 false z"},
                      {{"--on=T", "--name"}, "1 true x"}};
  for (const Row& row : rows) {
    const Flags flags(kKnown, row.args);
    EXPECT_EQ(base::format("{} {} {}", flags.number("port"), flags.on("on"), flags.text("name")), row.expected);
  }
}

TEST(Flags, say_what_is_wrong) {
  constexpr Flag kKnown[] = {{"port", Flag::Type::kNumber, "1"}};
  const std::pair<const char*, std::string_view> rows[] = {{"--port=2", ""},
                                                           {"stop", ""},
                                                           {"--bogus", "flag provided but not defined: -bogus"},
                                                           {"--port", "flag needs an argument: -port"},
                                                           {"-port=x", "invalid value \"x\" for flag -port"}};
  for (const auto& [arg, problem] : rows) EXPECT_EQ(Flags(kKnown, {}).read(kKnown, {arg}), problem);
}

// The list of pods that every pod is told, of more pods than there is memory for, or in more containers.
TEST(Plugins, what_would_be_larger_than_an_object_is_not_made) {
  for (const char* plugins :
       {R"({"ssh": []})", R"({"svc": []})", R"({"tensorflow": ["--ps=master"]})", R"({"mpi": []})"}) {
    Job job = job_with(plugins);
    job.tasks[1].replicas = 2'147'483'647;
    const auto objects = plugin_objects(job);
    ASSERT_TRUE(objects.ok()) << plugins;
    for (const PluginObject& one : *objects) EXPECT_LE(one.body.dump().size(), 20'000'000u) << plugins;
    const auto pod = pod_for(job, job.tasks[0], 0, false);
    EXPECT_TRUE(!pod.ok() || pod->bytes <= 2'000'000u) << plugins;
  }
  Job job = job_with(R"({"svc": [], "env": []})");
  for (int i = 0; i < 5'000; ++i) job.tasks.push_back({.name = base::format("t{}", i)});
  for (int i = 0; i < 5'000; ++i) job.volumes.push_back({base::format("/v{}", i), base::format("v{}", i), {}});
  Json containers = Json::array();
  for (int i = 0; i < 5'000; ++i) containers.push_back(Json::object({{"name", base::format("c{}", i)}}));
  job.tasks[0].pod_template.edit("spec").set("containers", std::move(containers));
  const auto pod = pod_for(job, job.tasks[0], 0, false);
  ASSERT_FALSE(pod.ok());
  EXPECT_EQ(pod.error().message, "pod j-master-0, with volumes and what plugins add, is larger than 1572864 bytes");
}

TEST(Plugins, env) {
  const Json pod = pod_of(job_with(R"({"env": []})"), 1, 1);
  EXPECT_EQ(env_of(container(pod)), "VK_TASK_INDEX=1 VC_TASK_INDEX=1 ");
  EXPECT_EQ(env_of(init_container(pod)), "VK_TASK_INDEX=1 VC_TASK_INDEX=1 ");
}

TEST(Plugins, svc) {
  const Job job = job_with(R"({"svc": []})", "big-ps");
  const Json pod = pod_of(job, 1, 0);
  EXPECT_EQ(pod["spec"]["hostname"].as_string(), "j-worker-0");
  EXPECT_EQ(pod["spec"]["subdomain"].as_string(), "j");
  EXPECT_EQ(env_of(container(pod)),
            "VC_BIG_PS_HOSTS=@VC_BIG_PS_HOSTS VC_BIG_PS_NUM=@VC_BIG_PS_NUM VC_WORKER_HOSTS=@VC_WORKER_HOSTS "
            "VC_WORKER_NUM=@VC_WORKER_NUM ");
  EXPECT_EQ(container(pod)["volumeMounts"].dump(), R"([{"name":"j-svc","mountPath":"/etc/volcano"}])");
  EXPECT_EQ(init_container(pod)["volumeMounts"].size(), 1u);
  const auto objects = plugin_objects(job);
  ASSERT_TRUE(objects.ok());
  ASSERT_EQ(objects->size(), 3u);
  EXPECT_EQ((*objects)[0].body["data"].sorted().dump(),
            R"({"VC_BIG_PS_HOSTS":"j-big-ps-0.j","VC_BIG_PS_NUM":"1","VC_WORKER_HOSTS":"j-worker-0.j,j-worker-1.j",)"
            R"("VC_WORKER_NUM":"2","big_ps.host":"j-big-ps-0.j","worker.host":"j-worker-0.j\nj-worker-1.j"})");
  EXPECT_EQ((*objects)[1].body["spec"].sorted().dump(),
            R"({"clusterIP":"None","selector":{"volcano.sh/job-name":"j","volcano.sh/job-namespace":"ns"}})");
  EXPECT_EQ((*objects)[2].body["kind"].as_string(), "NetworkPolicy");
  const Job quiet =
      job_with(R"({"svc": ["--disable-network-policy", "--inject-hosts-env=false", "-publish-not-ready-addresses"]})");
  EXPECT_EQ(plugin_objects(quiet)->size(), 2u);
  EXPECT_TRUE((*plugin_objects(quiet))[1].body["spec"]["publishNotReadyAddresses"].as_bool());
  EXPECT_EQ(env_of(container(pod_of(quiet, 0, 0))), "");
}

TEST(Plugins, ssh) {
  const Job job = job_with(R"({"ssh": ["--ssh-private-key=P", "--ssh-public-key=Q", "--ssh-port=99999"]})");
  const Json pod = pod_of(job, 0, 0);
  EXPECT_EQ(container(pod)["volumeMounts"].dump(), R"([{"name":"j-ssh","mountPath":"/root/.ssh","subPath":".ssh"}])");
  EXPECT_EQ(pod["spec"]["volumes"][std::size_t{0}]["secret"]["defaultMode"].as_int(), 0600);
  EXPECT_EQ(pod["spec"]["volumes"][std::size_t{0}]["secret"]["items"].size(), 4u);
  const auto objects = plugin_objects(job);
  const Json& data = (*objects)[0].body["data"];
  EXPECT_EQ(data["id_rsa"].as_string(), "UA==");
  EXPECT_EQ(data["authorized_keys"].as_string(), "UQ==");
  // "StrictHostKeyChecking no", "UserKnownHostsFile /dev/null", then a block per pod.
  EXPECT_TRUE(data["config"].as_string().starts_with(
      "U3RyaWN0SG9zdEtleUNoZWNraW5nIG5vClVzZXJLbm93bkhvc3RzRmlsZSAvZGV2L251bGwK"));
  const Job elsewhere = job_with(R"({"ssh": ["--ssh-key-file-path=/home/u/.ssh"]})");
  EXPECT_EQ(pod_of(elsewhere, 0, 0)["spec"]["volumes"][std::size_t{0}]["secret"]["defaultMode"].as_int(), 0644);
  EXPECT_EQ((*plugin_objects(elsewhere))[0].addition, Addition::kSshKeyPair);
}

TEST(Plugins, tensorflow) {
  const Json pod = pod_of(job_with(R"({"tensorflow": ["--port=5000"]})", "ps"), 1, 1);
  EXPECT_EQ(env_of(container(pod)),
            R"(TF_CONFIG={"cluster":{"ps":["j-ps-0.j:5000"],"worker":["j-worker-0.j:5000","j-worker-1.j:5000"]},)"
            R"("task":{"type":"worker","index":1}} )");
  EXPECT_EQ(env_of(init_container(pod)), "");
}

TEST(Plugins, pytorch) {
  const Job job = job_with(R"({"pytorch": ["--wait-master-enabled"]})");
  EXPECT_EQ(env_of(container(pod_of(job, 0, 0))), "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=3 RANK=0 ");
  const Json worker = pod_of(job, 1, 1);
  EXPECT_EQ(env_of(container(worker)), "MASTER_ADDR=j-master-0.j MASTER_PORT=23456 WORLD_SIZE=3 RANK=2 ");
  EXPECT_EQ(container(worker)["ports"].dump(), R"([{"containerPort":23456,"name":"pytorchjob-port"}])");
  EXPECT_EQ(worker["spec"]["initContainers"][std::size_t{1}]["name"].as_string(), "wait-for-master");
  Json again = worker;
  EXPECT_TRUE(edit_with_plugins(job, job.tasks[1], 1, again).ok());
  EXPECT_EQ(again["spec"]["initContainers"].size(), 2u);  // it waits once
  EXPECT_EQ(env_of(container(pod_of(job_with(R"({"pytorch": []})", "other"), 0, 0))), "");
}

TEST(Plugins, mpi) {
  const Job job = job_with(R"({"mpi": []})");
  EXPECT_EQ(env_of(container(pod_of(job, 0, 0))), "MPI_HOST=j-worker-0.j,j-worker-1.j ");
  EXPECT_EQ(env_of(container(pod_of(job, 1, 0))), "");
  EXPECT_EQ(init_container(pod_of(job, 1, 0))["ports"].dump(), R"([{"containerPort":22,"name":"mpijob-port"}])");
  EXPECT_FALSE(container(pod_of(job_with(R"({"mpi": []})", "master", "other"), 0, 0)).has("ports"));
}

TEST(Plugins, ray) {
  const Job job = job_with(R"({"ray": []})", "head");
  EXPECT_EQ(container(pod_of(job, 0, 0))["command"].dump(),
            R"(["sh","-c","ray start --head --block --dashboard-host=0.0.0.0 --port=6379 --dashboard-port=8265 )"
            R"(--ray-client-server-port=10001"])");
  EXPECT_EQ(container(pod_of(job, 1, 0))["command"].dump(),
            R"(["sh","-c","ray start --block --address=j-head-0.j:6379"])");
  EXPECT_EQ((*plugin_objects(job))[0].body["metadata"]["name"].as_string(), "j-head-svc");
  EXPECT_FALSE(plugin_objects(job_with(R"({"ray": []})", "nobody")).ok());
}

TEST(Plugins, hcclrank) {
  const Job plain = job_with(R"({"hcclrank": []})");
  EXPECT_EQ(pod_of(plain, 0, 0)["metadata"]["annotations"]["hccl/rankIndex"].as_string(), "0");
  EXPECT_EQ(pod_of(plain, 1, 1)["metadata"]["annotations"]["hccl/rankIndex"].as_string(), "2");
  const Job after_pytorch = job_with(R"({"hcclrank": ["--worker=nobody"], "pytorch": []})");
  EXPECT_EQ(pod_of(after_pytorch, 1, 0)["metadata"]["annotations"]["hccl/rankIndex"].as_string(), "1");
  EXPECT_FALSE(
      pod_of(job_with(R"({"hcclrank": []})", "a", "b"), 0, 0)["metadata"]["annotations"].has("hccl/rankIndex"));
}

TEST(Plugins, unknown_ones_are_an_error) {
  EXPECT_EQ(plugin_objects(job_with(R"({"magic": []})")).error().message, "failed to get plugin magic");
}

}  // namespace
}  // namespace controllers::job
