// vcctl's output, byte for byte, against a fake API server.
#include <limits>

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/fake_api_for_tests.h"
#include "cli/table.h"

namespace cli {
namespace {

TEST_F(VcctlTest, root_help) {
  EXPECT_EQ(run({"-h"}), 0);
  EXPECT_EQ(world.out, R"(Usage:
  vcctl [command]

Available Commands:
  help        Help about any command
  job         vcctl command line operation job
  jobflow     vcctl command line operation jobflow
  jobtemplate vcctl command line operation jobtemplate
  pod         vcctl command line operation pod
  queue       Queue Operations
  version     Print the version information

Flags:
  -h, --help                           help for vcctl
      --log-flush-frequency duration   Maximum number of seconds between log flushes (default 5s)
  -v, --v Level                        number for the log level verbosity
      --vmodule moduleSpec             comma-separated list of pattern=N settings for file-filtered logging (only works for the default text log format)

Use "vcctl [command] --help" for more information about a command.
)");
}

TEST_F(VcctlTest, help_lists_what_is_ours_too) {
  const auto asked = [this](std::vector<std::string> arguments) {
    EXPECT_EQ(run(std::move(arguments)), 0);
    return world.out;
  };
  for (const std::vector<std::string>& row : std::vector<std::vector<std::string>>{{"--help"}, {}, {"job", "--help"}})
    EXPECT_EQ(asked(row).find("\nMore "), std::string::npos) << row.size();
  EXPECT_NE(asked({"help"}).find("\nMore Commands:\n  completion "), std::string::npos);
  EXPECT_NE(asked({"help", "job"}).find("\nMore Commands:\n  logs "), std::string::npos);
}

TEST_F(VcctlTest, leaf_help) {
  EXPECT_EQ(run({"help", "queue", "create"}), 0);
  EXPECT_EQ(world.out.substr(0, world.out.find("\nGlobal Flags:")), R"(creates queue

Usage:
  vcctl queue create [flags]

Flags:
  -h, --help                help for create
  -k, --kubeconfig string   (optional) absolute path to the kubeconfig file
  -s, --master string       the address of apiserver
  -n, --name string         the name of queue (default "test")
  -S, --state string        the state of queue (default "Open")
  -w, --weight int32        the weight of the queue (default 1)
)");
}

TEST_F(VcctlTest, flag_errors_show_the_usage_and_end_with_1) {
  struct Row {
    std::vector<std::string> arguments;
    std::string_view last_line;
  };
  const Row rows[] = {
      {{"job", "list", "--bogus"}, "Error: unknown flag: --bogus\n"},
      {{"job", "list", "-x"}, "Error: unknown shorthand flag: 'x' in -x\n"},
      {{"job", "run", "-N"}, "Error: flag needs an argument: 'N' in -N\n"},
      {{"job", "run", "--name"}, "Error: flag needs an argument: --name\n"},
      {{"job", "run", "--min=x"},
       "Error: invalid argument \"x\" for \"-m, --min\" flag: strconv.ParseInt: parsing \"x\": invalid "
       "syntax\n"},
      {{"job", "list", "-v", "x"},
       "Error: invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseInt: parsing \"x\": invalid "
       "syntax\n"},
      {{"job", "list", "--vmodule", "a"},
       "Error: invalid argument \"a\" for \"--vmodule\" flag: syntax error: expect comma-separated list "
       "of filename=N\n"},
      {{"job", "list", "--vmodule", "a=1,b=-1"},
       "Error: invalid argument \"a=1,b=-1\" for \"--vmodule\" flag: negative value for vmodule "
       "level\n"}};
  for (const Row& row : rows) {
    EXPECT_EQ(run(row.arguments), 1);
    EXPECT_TRUE(world.err.starts_with("Usage:\n  vcctl job "));
    EXPECT_TRUE(world.err.ends_with(row.last_line)) << world.err;
    EXPECT_EQ(world.out, "");
  }
  EXPECT_EQ(run({"magic"}), 1);
  EXPECT_TRUE(world.err.starts_with("Error: unknown command \"magic\" for \"vcctl\"\n"));
}

TEST_F(VcctlTest, errors_of_commands_go_to_standard_output_with_255) {
  struct Row {
    std::vector<std::string> arguments;
    std::string_view text;
  };
  const Row rows[] = {
      {{"job", "view"},
       "Failed to view job: job name (specified by --name or -N) is mandatory to view a particular job\n"},
      {{"job", "view", "-N", "x"}, "Failed to view job: jobs.batch.volcano.sh \"x\" not found\n"},
      {{"job", "suspend"}, "Failed to suspend job: job name is mandatory to suspend a particular job\n"},
      {{"job", "resume"}, "Failed to resume job: job name is mandatory to resume a particular job\n"},
      {{"job", "delete"}, "Failed to delete job: job name is mandatory to delete a particular job\n"},
      {{"job", "run"}, "Failed to run job: job name cannot be left blank\n"},
      {{"job", "run", "-N", "j", "-R", "cpu"},
       "Failed to run job: invalid argument syntax cpu, expected <resource>=<value>\n"},
      {{"job", "run", "-f", "job.txt"}, "Failed to run job: only support yaml file\n"},
      {{"job", "run", "-f", "job.yaml"}, "Failed to run job: failed to read file, err: cannot open job.yaml\n"},
      {{"queue", "delete"}, "Failed to delete queue: queue name must be specified\n"},
      {{"job", "delete", "-N", "/"},
       "Failed to delete job: jobs.batch.volcano.sh: \"/\" cannot be the name of an object\n"},
      {{"queue", "delete", "-n", "/"},
       "Failed to delete queue: queues.scheduling.volcano.sh: \"/\" cannot be the name of an object\n"},
      {{"queue", "operate", "-n", "a/b", "-a", "update", "-w", "2"},
       "Failed to operate queue: queues.scheduling.volcano.sh: \"a/b\" cannot be the name of an object\n"},
      {{"queue", "get", "-n", "default/status"},
       "Failed to get queue: queues.scheduling.volcano.sh: \"default/status\" cannot be the name of an object\n"},
      {{"queue", "get"}, "Failed to get queue: name is mandatory to get the particular queue details\n"},
      {{"queue", "operate"}, "Failed to operate queue: queue name must be specified\n"},
      {{"queue", "operate", "-n", "q"}, "Failed to operate queue: action can not be null\n"},
      {{"queue", "operate", "-n", "q", "-a", "x"},
       "Failed to operate queue: action x invalid, valid actions are open, close and update\n"},
      {{"queue", "operate", "-n", "q", "-a", "update"},
       "Failed to operate queue: when update queue q, weight must be specified, the value must be greater than 0\n"}};
  for (const Row& row : rows) {
    EXPECT_EQ(run(row.arguments), 255);
    EXPECT_EQ(world.out, row.text);
  }
}

TEST_F(VcctlTest, a_command_behind_a_word_that_is_none_is_not_run) {
  put(resources::kQueues, R"({"metadata": {"name": "q"}})");
  EXPECT_EQ(run({"queue", "typo", "delete"}), 1);
  EXPECT_NE(world.err.find("unknown command \"typo\" for \"queue\""), std::string::npos) << world.err;
  EXPECT_EQ(run({"queue", "typo", "delete", "-n", "q"}), 1) << "a group has no such flag";
  EXPECT_EQ(server.writes.size(), 0u);
}

TEST_F(VcctlTest, job_list) {
  EXPECT_EQ(run({"job", "list"}), 0);
  EXPECT_EQ(world.out, "No resources found\n");
  put_job();
  EXPECT_EQ(run({"job", "list", "--queue=test", "--selector", "ob-"}), 0);
  EXPECT_EQ(
      world.out,
      "Name    Creation       Phase       JobType     Replicas    Min   Pending   Running   Succeeded   Failed    "
      "Unknown     RetryCount\n"
      "job-1   <2026-08-2     Running     Batch       5           1     0         2         0           0         "
      "0           0         \n");
  EXPECT_EQ(run({"job", "list", "--all-namespaces"}), 0);
  EXPECT_TRUE(world.out.starts_with("Namespace   Name    Creation"));
  for (const char* filter : {"--queue=other", "--scheduler=other", "--selector=zzz", "--namespace=other"}) {
    EXPECT_EQ(run({"job", "list", filter}), 0);
    EXPECT_EQ(world.out, "No resources found\n") << filter;
  }
}

struct PodRow {
  std::string_view more;  // of the pod, after its metadata
  std::string_view ready, words, restarts;
};

TEST_F(VcctlTest, pod_list_says_what_kubectl_says) {
  const PodRow rows[] = {
      {R"("status": {"phase": "Pending"})", "0/2", "Pending", "0"},
      {R"("status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]})",
       "0/2", "SchedulingGated", "0"},
      {R"("status": {"phase": "Failed", "reason": "Evicted"})", "0/2", "Evicted", "0"},
      {R"("status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 1, "state": {"running": {}},
          "lastState": {"terminated": {"finishedAt": "2026-08-20T02:55:00Z"}}},
          {"restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]})",
       "1/2", "CrashLoopBackOff", "3 (5m ago)"},
      {R"("status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [
          {"state": {"terminated": {"reason": "Completed"}}}, {"ready": true, "state": {"running": {}}}]})",
       "1/2", "Running", "0"},
      {R"("status": {"phase": "Running", "containerStatuses": [
          {"state": {"terminated": {"reason": "Completed"}}}, {"ready": true, "state": {"running": {}}}]})",
       "1/2", "NotReady", "0"},
      {R"("status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]})", "0/2",
       "ExitCode:3", "0"},
      {R"("status": {"phase": "Pending", "initContainerStatuses": [{"name": "i", "restartCount": 4,
          "state": {"terminated": {"exitCode": 1, "signal": 9}}}]})",
       "0/2", "Init:Signal:9", "4"},
      {R"("status": {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]})", "0/2",
       "Init:0/1", "0"},
      {R"("status": {"phase": "Running", "reason": "NodeLost"})", "0/2", "NodeLost", "0"},
  };
  for (const PodRow& row : rows) {
    put(resources::kPods, base::format(R"({{"kind": "Pod", "metadata": {{"name": "p", "namespace": "default",
      "creationTimestamp": "2026-08-20T02:00:00Z", "labels": {{"volcano.sh/job-name": "j", "volcano.sh/queue-name": "q"}}}},
      "spec": {{"initContainers": [{{"name": "i"}}], "containers": [{{}}, {{}}]}}, {}}})",
                                       row.more));
    EXPECT_EQ(run({"pod", "list"}), 0);
    const std::string line = world.out.substr(world.out.find('\n') + 1);
    const std::size_t wide = std::max<std::size_t>(row.words.size() + 8, 8);
    const std::size_t wide_restarts = std::max<std::size_t>(row.restarts.size() + 8, 9);
    EXPECT_EQ(line, base::format("p        {}        {:<{}}{:<{}}60m        \n", row.ready, row.words, wide,
                                 row.restarts, wide_restarts));
  }
  EXPECT_EQ(run({"pod", "list", "--all-namespaces", "-j", "j", "-q", "q"}), 0);
  EXPECT_TRUE(world.out.starts_with("Namespace      Name     Ready      Status")) << world.out;
  EXPECT_EQ(run({"pod", "list", "-q", "other"}), 0);
  EXPECT_EQ(world.out, "No resources found\n");
  EXPECT_EQ(run({"pod", "list", "-j", "j", "-q", "other"}), 255);
  EXPECT_EQ(world.out, "Failed to list pod: the input vcjob j does not match the queue other\n");
}

TEST_F(VcctlTest, job_run_builds_the_job_from_flags) {
  EXPECT_EQ(
      run({"job", "run", "-N", "j", "--namespace", "ml", "-r", "3", "--min=2", "-i=img", "-R", "cpu=500m", "-L", ""}),
      0);
  EXPECT_EQ(world.out, "run job j successfully\n");
  ASSERT_EQ(server.writes.size(), 1u);
  EXPECT_EQ(server.writes[0].ns, "ml");
  EXPECT_EQ(
      server.writes[0].body["spec"].sorted().dump(),
      R"({"minAvailable":2,"schedulerName":"volcano","tasks":[{"replicas":3,"template":{"metadata":{"labels":)"
      R"({"job.volcano.sh":"j"},"name":"j"},"spec":{"containers":[{"image":"img","imagePullPolicy":"IfNotPresent",)"
      R"("name":"j","resources":{"limits":{},"requests":{"cpu":"500m"}}}],"restartPolicy":"Never"}}}]})");
}

TEST_F(VcctlTest, job_run_sends_a_file) {
  files["job.yaml"] = "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: from-file}\n";
  EXPECT_EQ(run({"job", "run", "-f", "job.yaml"}), 0);
  EXPECT_EQ(world.out, "run job from-file successfully\n");
}

TEST_F(VcctlTest, job_run_takes_one_document) {
  files["two.yaml"] = "kind: Job\nmetadata: {name: one}\n---\nkind: Job\nmetadata: {name: other}\n";
  EXPECT_EQ(run({"job", "run", "-f", "two.yaml"}), 255);
  EXPECT_EQ(world.out, "Failed to run job: two.yaml holds 2 documents, of which one job can be run\n");
  EXPECT_TRUE(server.writes.empty());
  files["one.yaml"] = "---\nkind: Job\nmetadata: {name: one}\n---\n";
  EXPECT_EQ(run({"job", "run", "-f", "one.yaml"}), 0);
}

TEST_F(VcctlTest, flags_may_come_before_the_name_of_a_command) {
  put_job();
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"-n", "default", "job", "list"},
                                                    {"job", "-n", "default", "list"},
                                                    {"job", "--namespace", "default", "list"},
                                                    {"--namespace=default", "job", "-v", "4", "list"},
                                                    {"--vmodule", "a=1,b=2", "job", "list"}}) {
    EXPECT_EQ(run(arguments), 0) << world.err;
    EXPECT_NE(world.out.find("job-1"), std::string::npos) << arguments[0];
  }
  EXPECT_EQ(run({"job", "-n", "list"}), 1);
  EXPECT_EQ(run({"job", "--", "list"}), 1);
  EXPECT_EQ(world.out.find("job-1"), std::string::npos) << "what comes behind is not a command";
}

TEST_F(VcctlTest, suspend_and_close_send_commands) {
  put_job();
  put(resources::kQueues, R"({"metadata": {"name": "test", "uid": "Q"}, "spec": {"weight": 2, "parent": "root"},
                              "status": {"state": "Open"}})");
  EXPECT_EQ(run({"job", "suspend", "-N", "job-1"}), 0);
  EXPECT_EQ(run({"queue", "operate", "-n", "test", "-a", "close"}), 0);
  EXPECT_EQ(world.out, "");
  ASSERT_EQ(server.writes.size(), 2u);
  EXPECT_EQ(
      server.writes[0].body.sorted().dump(),
      R"({"action":"AbortJob","apiVersion":"bus.volcano.sh/v1alpha1","kind":"Command","metadata":{"generateName":)"
      R"("job-1-abortjob-","namespace":"default","ownerReferences":[{"apiVersion":"batch.volcano.sh/v1alpha1",)"
      R"("blockOwnerDeletion":true,"controller":true,"kind":"Job","name":"job-1","uid":"U"}]},"target":)"
      R"({"apiVersion":"batch.volcano.sh/v1alpha1","blockOwnerDeletion":true,"controller":true,"kind":"Job",)"
      R"("name":"job-1","uid":"U"}})");
  EXPECT_EQ(server.writes[1].ns, "default");
  EXPECT_EQ(server.writes[1].body["action"].as_string(), "CloseQueue");
}

TEST_F(VcctlTest, queue_list_counts_groups_itself) {
  put(resources::kQueues, R"({"metadata": {"name": "test"}, "spec": {"weight": 2, "parent": "root"},
                              "status": {"state": "Open"}})");
  put(resources::kPodGroups, R"({"metadata": {"name": "g", "namespace": "a"}, "spec": {"queue": "test"},
                                 "status": {"phase": "Running"}})");
  put(resources::kPodGroups, R"({"metadata": {"name": "g", "namespace": "b"}, "spec": {"queue": "test"},
                                 "status": {"phase": "Inqueue"}})");
  EXPECT_EQ(run({"queue", "list"}), 0);
  EXPECT_EQ(world.out,
            "Name                     Weight  State   Parent  Inqueue Pending Running Unknown Completed\n"
            "test                     2       Open    root    1       0       1       0       0       \n");
  EXPECT_EQ(run({"queue", "get", "-n", "test"}), 0);
  EXPECT_TRUE(world.out.ends_with("1       0       1       0       0       \n"));
}

TEST_F(VcctlTest, job_view_shows_status_and_events) {
  put_job();
  put(resources::kEvents, R"({"metadata": {"name": "job-1.1", "namespace": "default"}, "type": "Warning",
    "reason": "PodGroupPending", "message": " waits \n", "source": {"component": "vc-controller-manager"}, "count": 10,
    "firstTimestamp": "2026-08-20T02:40:00Z", "lastTimestamp": "2026-08-20T02:50:00Z"})");
  EXPECT_EQ(run({"job", "view", "-N", "job-1"}), 0);
  const std::string& out = world.out;
  EXPECT_TRUE(
      out.starts_with("Name:       \tjob-1\nNamespace:  \tdefault\nLabels:     \t<none>\nAnnotations:\t<none>\n"));
  EXPECT_NE(out.find("\nStatus:\n  Running:      \t2\n  Min Available:\t1\n  State:\n    Phase:\tRunning\n"),
            std::string::npos);
  EXPECT_NE(out.find("Warning        \tPodGroupPending                         \t10m (x10 over 20m)            \t"
                     "vc-controller-manager                   \twaits\n"),
            std::string::npos)
      << out;
}

// Go's flags take more forms than one.
TEST_F(VcctlTest, booleans_and_numbers_are_read_as_go_reads_them) {
  put(resources::kJobs, R"({"metadata": {"name": "far", "namespace": "ml"}, "spec": {}, "status": {}})");
  for (const char* on : {"--all-namespaces", "--all-namespaces=1", "--all-namespaces=t", "--all-namespaces=TRUE"}) {
    EXPECT_EQ(run({"job", "list", on}), 0) << on;
    EXPECT_NE(world.out.find("far"), std::string::npos) << on;
  }
  EXPECT_EQ(run({"job", "list", "--all-namespaces=F"}), 0);
  EXPECT_EQ(world.out, "No resources found\n");
  const std::pair<std::string, std::int64_t> rows[] = {
      {"+3", 3},
      {"-3", -3},
      {"0x10", 16},
      {"-0X1f", -31},
      {"0o17", 15},
      {"017", 15},
      {"0b101", 5},
      {"1_000", 1000},
      {"0x_f", 15},
      {"0", 0},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()}};
  for (const auto& [text, value] : rows) {
    server.writes.clear();
    EXPECT_EQ(run({"job", "run", "-N", "j", "--min=" + text}), 0) << text << world.err;
    ASSERT_EQ(server.writes.size(), 1u);
    EXPECT_EQ(server.writes[0].body["spec"]["minAvailable"].as_int(), value) << text;
  }
}

TEST_F(VcctlTest, numbers_are_refused_in_go_words) {
  for (const char* text : {"", "+", "-", "+-3", "0x", "0b2", "08", "1__0", "_1", "1_", "0xg", "1.5", " 3", "0x-1"}) {
    EXPECT_EQ(run({"job", "run", "-N", "j", base::format("--min={}", text)}), 1) << text;
    EXPECT_NE(world.err.find(base::format("strconv.ParseInt: parsing \"{}\": invalid syntax", text)), std::string::npos)
        << text;
  }
  // The level of logs is decimal.
  EXPECT_EQ(run({"job", "list", "-v", "0x4"}), 1);
  EXPECT_EQ(run({"job", "list", "-v", "+4"}), 0);
  EXPECT_EQ(run({"job", "list", "--all-namespaces=yes"}), 1);
  EXPECT_NE(world.err.find("strconv.ParseBool: parsing \"yes\": invalid syntax"), std::string::npos);
  EXPECT_EQ(run({"job", "run", "-m", "x"}), 1);
  EXPECT_NE(world.err.find("invalid argument \"x\" for \"-m, --min\" flag: strconv.ParseInt: parsing \"x\": invalid "
                           "syntax"),
            std::string::npos);
  EXPECT_EQ(run({"queue", "create", "-n", "q", "-w", "3000000000"}), 1);
  EXPECT_NE(world.err.find("parsing \"3000000000\": value out of range"), std::string::npos);
}

TEST_F(VcctlTest, explain_says_why) {
  put_job();
  put(resources::kQueues,
      R"({"metadata": {"name": "test"}, "spec": {"capability": {"cpu": 8}}, "status": {"state": "Open", "allocated": {"cpu": "2"}}})");
  put(resources::kPodGroups,
      R"({"metadata": {"name": "g", "namespace": "default", "ownerReferences": [{"uid": "U", "controller": true}]},
    "spec": {"minMember": 2, "queue": "test"}, "status": {"phase": "Inqueue", "conditions": [{"type": "Unschedulable",
    "status": "True", "message": "2/2 tasks in gang unschedulable"}]}})");
  put(resources::kPods,
      R"({"metadata": {"name": "p", "namespace": "default", "annotations": {"scheduling.k8s.io/group-name": "g"}},
    "spec": {}, "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/3 nodes are unavailable"}]}})");
  const std::string group =
      "group default/g: Inqueue, 2 pods start together, 0 running, 0 succeeded, 0 failed\n"
      "queue test: Open, allocated 2 cpu, at most 8 cpu\n";
  EXPECT_EQ(run({"explain", "job", "job-1"}), 0);
  EXPECT_EQ(world.out, "job default/job-1: Running\n" + group +
                           "it waits: 2/2 tasks in gang unschedulable\n  pod p: Pending, 0/3 nodes are unavailable\n");
  EXPECT_EQ(run({"explain", "queue", "test"}), 0);
  EXPECT_EQ(world.out,
            "queue test: Open, allocated 2 cpu, at most 8 cpu\n  default/g: 2/2 tasks in gang unschedulable\n");
  // The scheduler's own words go first.
  world.fetch = [](const std::string& url) -> base::Result<std::string> {
    if (url != "http://s:8080/debug/waiting")
      return base::make_error(base::Code::kUnavailable, "no such place: " + url);
    return std::string(R"({"default/g": {"reason": "Resources", "message": "too big"}})");
  };
  EXPECT_EQ(run({"explain", "pod", "p", "--scheduler=http://s:8080/"}), 0);
  EXPECT_EQ(world.out, "pod p: Pending, 0/3 nodes are unavailable\n" + group +
                           "it waits: too big\n  pod p: Pending, 0/3 nodes are unavailable\n");
  EXPECT_EQ(run({"explain", "podgroup", "g", "--scheduler", "http://t"}), 255);
  EXPECT_EQ(world.out, "cannot explain podgroup g: no such place: http://t/debug/waiting\n");
  EXPECT_EQ(run({"explain", "pod", "nowhere"}), 255);
  world.fetch = {};
  put(resources::kPods,
      R"({"metadata": {"name": "w", "namespace": "default", "annotations": {"scheduling.k8s.io/group-name": "podgroup-W"},
    "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": "W", "controller": true}]}, "spec": {},
    "status": {"phase": "Pending"}})");
  EXPECT_EQ(run({"explain", "pod", "w"}), 0);
  EXPECT_EQ(
      world.out,
      "pod w: Pending\nits group podgroup-W is not there: the controllers have not made it yet, or could not; `kubectl "
      "describe` of its owner (ReplicaSet web) and the log of vc-controller-manager say why\n");
}

TEST_F(VcctlTest, explain_says_that_a_job_is_at_rest) {
  put(resources::kJobs,
      R"({"metadata": {"name": "done", "namespace": "default"}, "status": {"succeeded": 2, "failed": 1,
                            "state": {"phase": "Completed"}}})");
  put(resources::kJobs,
      R"({"metadata": {"name": "off", "namespace": "default"}, "status": {"state": {"phase": "Aborted"}}})");
  EXPECT_EQ(run({"explain", "job", "done"}), 0);
  EXPECT_EQ(world.out, "job default/done: Completed\nit has finished: 2 pods succeeded, 1 failed\n");
  put(resources::kPodGroups,
      R"({"metadata": {"name": "alone", "namespace": "default"}, "spec": {"minMember": 1}, "status": {"phase": "Running"}})");
  EXPECT_EQ(run({"explain", "podgroup", "alone"}), 0);
  EXPECT_EQ(world.out.substr(0, world.out.find(", 0 running")), "group default/alone: Running, 1 pod starts by itself");
  EXPECT_EQ(run({"explain", "job", "off"}), 0);
  EXPECT_EQ(world.out, "job default/off: Aborted\nit is suspended: `vcctl job resume` continues it\n");
}

TEST_F(VcctlTest, explain_knows_training_jobs_and_their_refusals) {
  put({"kubeflow.org", "v1", "pytorchjobs"},
      R"({"metadata": {"name": "tj", "namespace": "default", "uid": "T"}, "status": {"conditions": [
    {"type": "Created", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"},
    {"type": "Running", "status": "False", "lastTransitionTime": "2026-01-01T00:00:05Z"}]}})");
  const auto put_event = [this](const char* name, const char* reason, const char* time) {
    put(resources::kEvents, base::format(R"({{"metadata": {{"name": "{}", "namespace": "default"}}, "reason": "{}",
      "involvedObject": {{"name": "tj", "uid": "T"}}, "message": "Error creating: exceeded quota: q",
      "lastTimestamp": "2026-01-01T00:00:0{}Z"}})",
                                         name, reason, time));
  };
  const std::string end = "it has no PodGroup: either none was made yet, or its pods are scheduled one by one\n";
  EXPECT_EQ(run({"explain", "job", "tj"}), 0);
  EXPECT_EQ(world.out, "PyTorchJob default/tj: Created\n" + end);
  put_event("a", "FailedCreatePod", "2");
  EXPECT_EQ(run({"explain", "job", "tj"}), 0);
  EXPECT_EQ(world.out,
            "PyTorchJob default/tj: Created\nit waits, and is tried again: Error creating: exceeded quota: q\n" + end);
  put_event("b", "SuccessfulCreatePod", "3");
  EXPECT_EQ(run({"explain", "job", "tj"}), 0);
  EXPECT_EQ(world.out, "PyTorchJob default/tj: Created\n" + end);
  EXPECT_EQ(run({"explain", "job", "nowhere"}), 255);
  put_event("c", "PyTorchJobFailedValidation", "4");
  EXPECT_EQ(run({"explain", "job", "pytorchjob.kubeflow.org/tj"}), 0);
  EXPECT_EQ(world.out,
            "PyTorchJob default/tj: Created\nit waits until it is changed: Error creating: exceeded quota: q\n");
}

TEST_F(VcctlTest, explain_knows_training_jobs_at_rest) {
  put({"kubeflow.org", "v1", "pytorchjobs"},
      R"({"metadata": {"name": "tj", "namespace": "default"}, "status": {"conditions": [
    {"type": "Suspended", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]}})");
  EXPECT_EQ(run({"explain", "job", "tj"}), 0);
  EXPECT_EQ(world.out,
            "PyTorchJob default/tj: Suspended\nit is suspended: `suspend` of its spec, set to false, continues it\n");
}

TEST(Spans, long_form) {
  const std::pair<std::int64_t, std::string_view> rows[] = {
      {-5, "<invalid>"}, {119, "119s"},  {120, "2m"},        {150, "2m30s"},   {600, "10m"},
      {10799, "179m"},   {10800, "3h"},  {11400, "3h10m"},   {28800, "8h"},    {172800, "2d"},
      {180000, "2d2h"},  {691200, "8d"}, {63072000, "2y0d"}, {252288000, "8y"}};
  for (const auto& [seconds, text] : rows) EXPECT_EQ(long_span(base::seconds(seconds)), text) << seconds;
}

}  // namespace
}  // namespace cli
