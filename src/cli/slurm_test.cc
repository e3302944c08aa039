// The programs named after Slurm's, byte for byte.
#include "cli/fake_api_for_tests.h"
#include "cli/text/shell_words.h"

namespace cli {
namespace {

TEST_F(VcctlTest, vsub_takes_defaults_from_the_environment) {
  variables = {{"VOLCANO_DEFAULT_IMAGE", "ours"}, {"VOLCANO_DEFAULT_JOB_NAMESPACE", "ml"}};
  EXPECT_EQ(run_program("vsub", {"-n", "j", "-c", "sh -c 'echo  hi'", "-S="}), 0);
  EXPECT_EQ(world.out, "run job j successfully\n");
  ASSERT_EQ(server.writes.size(), 1u);
  EXPECT_EQ(server.writes[0].ns, "ml");
  EXPECT_EQ(server.writes[0].body["spec"].sorted().dump(),
            R"({"minAvailable":1,"schedulerName":"","tasks":[{"replicas":1,"template":{"metadata":{"labels":)"
            R"({"job.volcano.sh":"j"},"name":"j"},"spec":{"containers":[{"command":["sh","-c","echo  hi"],)"
            R"("image":"ours","imagePullPolicy":"IfNotPresent","name":"j","resources":{"requests":{"cpu":"1",)"
            R"("memory":"100Mi"}}}],"restartPolicy":"Never"}}}]})");
}

TEST_F(VcctlTest, vsub_waits_and_ends_with_the_code_of_the_job) {
  put(resources::kPods,
      R"({"metadata": {"name": "p", "namespace": "default", "labels": {"volcano.sh/job-name": "job-1"}},
    "status": {"containerStatuses": [{"state": {"terminated": {"exitCode": 7}}}]}})");
  notify_job(1, "Pending");
  server.news.push_back({.kind = Happening::Kind::kObject, .stream = 2, .object = *api::parse_json(R"({"status": {
    "phase": "Inqueue", "conditions": [{"type": "Unschedulable", "status": "True", "message": "too big"}]}})")});
  notify_job(1, "Running", R"("running": 1, )");
  notify_job(1, "Running", R"("running": 1, )");
  notify_job(1, "Failed");
  EXPECT_EQ(run_program("vsub", {"-n", "job-1", "--wait"}), 7);
  EXPECT_EQ(shown,
            "run job job-1 successfully\njob default/job-1: Pending\njob default/job-1: it waits: too big\n"
            "job default/job-1: Running, 1 running\n"
            "job default/job-1: Failed\n");
}

TEST_F(VcctlTest, slurm_programs_fail_without_words) {
  struct Row {
    std::string_view program;
    std::vector<std::string> arguments;
    std::string_view text;
  };
  const Row rows[] = {
      {"vsub", {}, "Failed to: job name cannot be left blank\n"},
      {"vsub", {"-n", "j", "-c", "echo 'a"}, "Failed to: EOF found when expecting closing quote\n"},
      {"vsub", {"-n", "j", "-R", "cpu"}, "Failed to: invalid argument syntax cpu, expected <resource>=<value>\n"},
      {"vcancel", {}, "Failed to: job name is mandatory to cancel a particular job\n"},
      {"vsuspend", {}, "Failed to: job name is mandatory to suspend a particular job\n"},
      {"vresume", {}, "Failed to: job name is mandatory to resume a particular job\n"},
      {"vcancel", {"-n", "x"}, "Failed to: jobs.batch.volcano.sh \"x\" not found\n"},
      {"vqueues", {"-n", "x"}, "Failed to: queues.scheduling.volcano.sh \"x\" not found\n"}};
  for (const Row& row : rows) {
    EXPECT_EQ(run_program(row.program, row.arguments), 255) << row.text;
    EXPECT_EQ(world.out, row.text);
  }
}

TEST_F(VcctlTest, vjobs_prints_the_header_even_if_nothing_matches) {
  EXPECT_EQ(run_program("vjobs", {}), 0);
  EXPECT_EQ(world.out, "No resources found\n");
  put_job();
  EXPECT_EQ(run_program("vjobs", {"--selector", "zzz"}), 0);
  EXPECT_EQ(
      world.out,
      "Name    Creation       Phase       JobType     Replicas    Min   Pending   Running   Succeeded   Failed    "
      "Unknown     RetryCount\n");
  EXPECT_EQ(run_program("vjobs", {"-n", "job-1", "-N", "default"}), 0);
  EXPECT_TRUE(world.out.starts_with("Name:       \tjob-1\n"));
}

TEST_F(VcctlTest, vqueues_counts_groups_as_vcctl_does) {
  put(resources::kQueues,
      R"({"metadata": {"name": "test"}, "spec": {"weight": 2}, "status": {"state": "Open", "pending": 3}})");
  put(resources::kPodGroups, R"({"metadata": {"name": "g", "namespace": "ns"}, "spec": {"queue": "test"}})");
  EXPECT_EQ(run_program("vqueues", {}), 0);
  EXPECT_EQ(world.out,
            "Name                     Weight  State   Inqueue Pending Running Unknown \n"
            "test                     2       Open    0       1       0       0       \n");
}

TEST_F(VcctlTest, vcancel_and_vsuspend) {
  put_job();
  EXPECT_EQ(run_program("vsuspend", {"-n", "job-1"}), 0);
  EXPECT_EQ(world.out, "");
  EXPECT_EQ(server.writes.at(0).body["action"].as_string(), "AbortJob");
  EXPECT_EQ(run_program("vcancel", {"-n", "job-1"}), 0);
  EXPECT_EQ(world.out, "cancel job job-1 successfully\n");
}

TEST(ShellWords, quotes_and_comments) {
  const std::pair<std::string_view, std::vector<std::string>> rows[] = {{"", {}},
                                                                        {"  a\tb\n c ", {"a", "b", "c"}},
                                                                        {"'a b' \"c d\" e\\ f", {"a b", "c d", "e f"}},
                                                                        {"a'b'\"c\"d", {"abcd"}},
                                                                        {"''", {""}},
                                                                        {R"("a\"b" '\"')", {"a\"b", "\\\""}},
                                                                        {"a # b c\nd", {"a", "d"}},
                                                                        {"a#b", {"a#b"}}};
  for (const auto& [text, words] : rows) {
    const auto split = split_words(text);
    ASSERT_TRUE(split.ok()) << text;
    EXPECT_EQ(*split, words) << text;
  }
  EXPECT_EQ(split_words("a\\").error().message, "EOF found after escape character");
  EXPECT_EQ(split_words("\"a\\").error().message, "EOF found after escape character");
  EXPECT_EQ(split_words("\"a").error().message, "EOF found when expecting closing quote");
}

}  // namespace
}  // namespace cli
