// vsub: what its flags, words and scripts make of a job, and in which folder it works.
#include "cli/submit.h"

#include "cli/fake_api_for_tests.h"
#include "cli/text/job_names.h"
#include "cli/text/people_table.h"

namespace cli {
namespace {

class SubmitTest : public VcctlTest {
 protected:
  SubmitTest() {
    world.person = [this] { return person; };
    world.own_folder = [](const std::string& path, bool writes) -> base::Result<std::string> {
      if (path.starts_with("/root") || (writes && path.starts_with("/etc")))
        return base::make_error(base::Code::kForbidden, path + ": Permission denied");
      return path;
    };
    world.environment_variable = [this](const std::string& name) { return variables[name]; };
  }
  void put_machine(std::string_view boot, std::string_view host_rootfs, std::string_view runtime = "runc://1") {
    put(resources::kNodes,
        base::format(R"({{"metadata": {{"name": "n", "annotations": {{"volcano.sh/host-rootfs": "{}"}}}},
          "status": {{"nodeInfo": {{"bootID": "{}", "containerRuntimeVersion": "{}"}}}}}})",
                     host_rootfs, boot, runtime));
  }
  const Json& job() { return server.writes.back().body; }
  Json pod() { return job()["spec"]["tasks"][std::size_t{0}]["template"]["spec"]; }
  Json container() { return pod()["containers"][std::size_t{0}]; }

  Person person{.user = "jane",
                .home = "/home/jane",
                .folder = "/home/jane/w",
                .boot_id = "B",
                .uid = 1000,
                .gid = 100,
                .groups = {100, 7}};
};

TEST_F(SubmitTest, WordsBehindTheFlagsAreTheCommand) {
  EXPECT_EQ(run_program("vsub", {"-n", "a", "python3", "train.py", "--epochs", "3", "$(X) $HOME"}), 0);
  EXPECT_EQ(container()["command"].dump(), R"(["python3","train.py","--epochs","3","$$(X) $HOME"])");
  EXPECT_EQ(run_program("vsub", {"-n", "a", "--", "-odd"}), 0);
  EXPECT_EQ(container()["command"].dump(), R"(["-odd"])");
  EXPECT_FALSE(container()["resources"].has("limits")) << "no limit of memory that nobody asked for";
  EXPECT_EQ(run_program("vsub", {"-n", "a", "-c", "x", "y"}), 255);
}

TEST_F(SubmitTest, FlagsOfSlurm) {
  variables["TOKEN"] = "t";
  EXPECT_EQ(run_program("vsub", {"-n",     "Früh_Test", "-q",           "ml",
                                 "--time", "1:30:00",   "--array",      "1-50%4",
                                 "-e",     "A=b=c",     "-e",           "TOKEN",
                                 "--gpu",  "2",         "--depends",    "a",
                                 "-d",     "b,c",       "--no-requeue", "--kill-on-invalid-dep",
                                 "run"}),
            0)
      << world.err;
  EXPECT_EQ(api::name_of(job()), "fr-h-test");
  EXPECT_NE(world.out.find("the job is named fr-h-test"), std::string::npos) << world.out;
  const Json& marks = job()["metadata"]["annotations"];
  EXPECT_EQ(marks["volcano.sh/array"].as_string(), "1-50%4");
  EXPECT_EQ(marks["volcano.sh/depends-on-jobs"].as_string(), "a,b,c");
  EXPECT_EQ(marks["volcano.sh/kill-on-invalid-dependency"].as_string(), "true");
  EXPECT_EQ(marks["volcano.sh/requeue"].as_string(), "false");
  EXPECT_EQ(marks["volcano.sh/user"].as_string(), "jane");
  EXPECT_EQ(job()["spec"]["queue"].as_string(), "ml");
  EXPECT_EQ(job()["spec"]["minSuccess"].as_int(), 50);
  EXPECT_EQ(job()["spec"]["tasks"][std::size_t{0}]["replicas"].as_int(), 50);
  EXPECT_EQ(pod()["activeDeadlineSeconds"].as_int(), 5400);
  EXPECT_EQ(container()["env"].dump(), R"([{"name":"A","value":"b=c"},{"name":"TOKEN","value":"t"}])");
  EXPECT_EQ(container()["resources"]["limits"]["nvidia.com/gpu"].as_string(), "2");
}

TEST_F(SubmitTest, OfflineRunsAskForIdleAmounts) {
  EXPECT_EQ(run_program("vsub", {"-n", "a", "--offline", "--no-requeue", "-R", "cpu=1500m,memory=1Gi,nvidia.com/gpu=1",
                                 "-L", "memory=2Gi", "run"}),
            0)
      << world.err;
  EXPECT_EQ(container()["resources"]["requests"].sorted().dump(),
            R"({"kubernetes.io/batch-cpu":"1500","kubernetes.io/batch-memory":"1073741824","nvidia.com/gpu":"1"})");
  EXPECT_EQ(container()["resources"]["limits"].dump(), R"({"kubernetes.io/batch-memory":"2147483648"})");
  const Json marks = job()["spec"]["tasks"][std::size_t{0}]["template"]["metadata"]["annotations"];
  EXPECT_EQ(marks["volcano.sh/qos-level"].as_string(), "BE");
  EXPECT_EQ(marks["volcano.sh/requeue"].as_string(), "false");
}

TEST_F(SubmitTest, RunsWorkWhereTheyAreTyped) {
  put_machine("B", "true");
  EXPECT_EQ(run_program("vsub", {"-n", "a", "run"}), 0);
  EXPECT_EQ(container()["workingDir"].as_string(), "/home/jane/w");
  EXPECT_EQ(pod()["volumes"].dump(), R"([{"name":"folder-0","hostPath":{"path":"/home/jane/w","type":"Directory"}}])");
  EXPECT_EQ(container()["volumeMounts"].dump(), R"([{"name":"folder-0","mountPath":"/home/jane/w"}])");
  EXPECT_EQ(container()["securityContext"].dump(),
            R"({"runAsUser":1000,"runAsGroup":100,"allowPrivilegeEscalation":false})");
  EXPECT_EQ(pod()["securityContext"].dump(), R"({"supplementalGroups":[7]})");
  EXPECT_EQ(container()["command"][std::size_t{4}].as_string(), "a-$(VSUB_ARRAY_INDEX).out");
  EXPECT_NE(world.out.find("its output goes to /home/jane/w/a-0.out"), std::string::npos) << world.out;
  EXPECT_EQ(run_program("vsub", {"-n", "a", "--output", "/logs/%j.out", "run"}), 0);
  EXPECT_EQ(pod()["volumes"][std::size_t{1}]["hostPath"]["path"].as_string(), "/logs");
  EXPECT_EQ(run_program("vsub", {"-n", "a", "--output", "/root/%j.out", "run"}), 255);
  EXPECT_EQ(world.out, "Failed to: --output /root/%j.out: /root: Permission denied\n");
  person.folder = "/root/x";
  EXPECT_EQ(run_program("vsub", {"-n", "a", "run"}), 0);
  EXPECT_FALSE(pod().has("volumes"));
  EXPECT_NE(world.err.find("/root/x: Permission denied"), std::string::npos) << world.err;
}

TEST_F(SubmitTest, FoldersAreMountedOnlyWhereThePersonMay) {
  put_machine("B", "false");
  EXPECT_EQ(run_program("vsub", {"-n", "a", "-V", "/data:/in:ro", "-V", "out:/out", "-i", "x"}), 0) << world.out;
  EXPECT_EQ(pod()["volumes"][std::size_t{1}]["hostPath"]["path"].as_string(), "/home/jane/w/out");
  EXPECT_EQ(container()["volumeMounts"][std::size_t{0}].dump(),
            R"({"name":"folder-0","mountPath":"/in","readOnly":true})");
  EXPECT_EQ(container()["securityContext"]["runAsUser"].as_int(), 1000);
  const std::pair<std::vector<std::string>, std::string_view> rows[] = {
      {{"-n", "a", "-V", "/root/x:/x"}, "Failed to: --volume /root/x:/x: /root/x: Permission denied\n"},
      {{"-n", "a", "-V", "/etc:/x"}, "Failed to: --volume /etc:/x: /etc: Permission denied\n"},
      {{"-n", "a", "-V", "/data"},
       "Failed to: --volume /data: expected HOST:POD or HOST:POD:ro, and an absolute path for POD\n"},
      {{"-n", "a", "-D", "/root/x"}, "Failed to: --chdir /root/x: /root/x: Permission denied\n"}};
  for (const auto& [arguments, text] : rows) {
    EXPECT_EQ(run_program("vsub", arguments), 255);
    EXPECT_EQ(world.out, text);
  }
  put_machine("other", "true");
  EXPECT_EQ(run_program("vsub", {"-n", "a", "-V", "/data:/in"}), 255);
  EXPECT_EQ(run_program("vsub", {"-n", "a", "run"}), 0);
  EXPECT_FALSE(pod().has("volumes")) << "another machine has other folders";
}

TEST_F(SubmitTest, ScriptsBringTheirFlags) {
  files["sub/Train.sh"] = "#!/bin/bash\n#VSUB --time 2h -q ml\n#VSUB -e A=1\n\necho $(date)\n#VSUB -n no\n";
  EXPECT_EQ(run_program("vsub", {"-q", "mine", "sub/Train.sh", "x"}), 0) << world.err << world.out;
  EXPECT_EQ(api::name_of(job()), "train");
  EXPECT_EQ(job()["spec"]["queue"].as_string(), "mine");
  EXPECT_EQ(pod()["activeDeadlineSeconds"].as_int(), 7200);
  EXPECT_EQ(container()["command"][std::size_t{0}].as_string(), "/bin/bash");
  EXPECT_EQ(container()["command"][std::size_t{1}].as_string(), "-c");
  EXPECT_NE(container()["command"][std::size_t{2}].as_string().find("$$(date)"), std::string_view::npos);
  EXPECT_EQ(container()["command"][std::size_t{4}].as_string(), "x");
  files["bad.sh"] = "#!/bin/sh\n#VSUB --tme 2h\n";
  EXPECT_EQ(run_program("vsub", {"bad.sh"}), 1);
  EXPECT_EQ(world.err, "Error: unknown flag: --tme\n");
}

TEST_F(SubmitTest, SpansOfTime) {
  const std::pair<const char*, std::int64_t> rows[] = {{"90m", 5400},     {"30", 1800},     {"10:30", 630},
                                                       {"1:30:00", 5400}, {"2-12", 216000}, {"1-0:30", 88200}};
  for (const auto& [text, seconds] : rows) {
    const auto read = parse_time_limit(text);
    ASSERT_TRUE(read.ok()) << text;
    EXPECT_EQ(read->ns, seconds * 1'000'000'000) << text;
  }
  for (const char* text : {"", "x", "0", "-5", "1:2:3:4", "1-", "0s", "1ms"})
    EXPECT_FALSE(parse_time_limit(text).ok()) << text;
}

TEST_F(SubmitTest, NoWordIsDropped) {
  put_job();
  struct Row {
    std::string_view program;
    std::vector<std::string> arguments;
    std::string_view text;
  };
  const Row rows[] = {{"vqueues", {"-n", "a", "-n", "b"}, "flag --name is given twice: \"a\" and \"b\""},
                      {"vjobs", {"a", "b"}, "flag --name is given twice: \"a\" and \"b\""},
                      {"vsub", {"-n", "a", "-n", "b"}, "flag --name is given twice: \"a\" and \"b\""}};
  for (const Row& row : rows) {
    EXPECT_EQ(run_program(row.program, row.arguments), 1);
    EXPECT_NE(world.err.find(row.text), std::string::npos) << world.err;
  }
  EXPECT_EQ(run({"job", "list", "extra"}), 1);
  EXPECT_NE(world.err.find("unexpected argument \"extra\""), std::string::npos) << world.err;
  EXPECT_EQ(run({"queue", "lst"}), 1);
  EXPECT_NE(world.err.find("unknown command \"lst\""), std::string::npos) << world.err;
}

TEST_F(SubmitTest, SeveralJobsAreAllDone) {
  put_job();
  EXPECT_EQ(run_program("vcancel", {"-n", "none", "-n", "job-1"}), 255);
  EXPECT_EQ(world.out, "cancel job job-1 successfully\nFailed to: none: jobs.batch.volcano.sh \"none\" not found\n");
  EXPECT_EQ(run_program("vcancel", {"job-1", "job-1"}), 0) << world.out;
}

TEST(JobNames, OfAnyLetters) {
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"lr-2", "lr-2"}, {"My_Job", "my-job"}, {"Früh Test", "fr-h-test"},
      {"--a--", "a"},   {"日本", "job"},      {"a/b", "a-b"}};
  for (const auto& [typed, name] : rows) EXPECT_EQ(job_name_of(typed), name);
  EXPECT_EQ(job_name_of(std::string(80, 'A')).size(), 45u);
  EXPECT_EQ(job_name_of_file("/x/Run.it.sh"), "run-it");
}

TEST(PeopleTable, FitsAndIsInNaturalOrder) {
  const Terminal terminal = {.columns = 40, .is_for_people = true};
  EXPECT_EQ(people_table(terminal,
                         {{"NAME", "STATE", "REASON"}, {"lr-2", "Pending", "the queue ml has no room for two pods"}}),
            "NAME  STATE    REASON\nlr-2  Pending  the queue ml has no ro...\n");
  EXPECT_EQ(people_table(terminal, {{"N"}, {"a\x1b[2J"}}), "N\na\\u001b[2J\n");
  EXPECT_TRUE(natural_less("lr-2", "lr-10"));
  EXPECT_FALSE(natural_less("lr-10", "lr-2"));
  EXPECT_TRUE(natural_less("a", "a1"));
  EXPECT_TRUE(natural_less("x-01", "x-2"));
  EXPECT_EQ(plain_reason("queue ml is full. 1/0 tasks in gang unschedulable: pod group is not ready, 1 Pending"),
            "queue ml is full");
  EXPECT_EQ(plain_reason("1/0 tasks in gang unschedulable: pod group is not ready, 1 minAvailable"),
            "not all of its pods have room");
}

}  // namespace
}  // namespace cli
