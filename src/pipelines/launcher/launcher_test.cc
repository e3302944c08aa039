// The launcher as a program: folders, exit codes, signals, reports, and what it says where it fails.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "pipelines/launcher/program.h"
#include "pipelines/launcher/sent_report.h"
#include "rt/http/server/http_server.h"

namespace pipelines {
namespace {

class LauncherTest : public ::testing::Test {
 protected:
  LauncherTest() {
    char name[] = "/tmp/volcano-launcher-XXXXXX";
    folder_ = mkdtemp(name);
    std::ofstream(folder_ + "/launch") << launcher_program();
    chmod((folder_ + "/launch").c_str(), 0755);
  }
  ~LauncherTest() override { std::system(("rm -rf " + folder_).c_str()); }

  // Runs a shell's script under the launcher, in the folder; its exit code.
  int run(const std::string& script, const std::string& more = "") { return launch("sh -c '" + script + "'", more); }
  int launch(const std::string& command, const std::string& more = "") {
    const std::string line = "cd " + folder_ +
                             " && ./launch --report report --metadata out/metadata --parameter out/a/x "
                             "--parameter out/a/y --artifact store/deep/model " +
                             more + " -- " + command + " 2> errors";
    return WEXITSTATUS(std::system(line.c_str()));
  }
  std::string text(const std::string& file) const {
    std::stringstream out;
    out << std::ifstream(folder_ + "/" + file).rdbuf();
    return out.str();
  }

  std::string folder_;
};

TEST_F(LauncherTest, OutputsOfACommandAreReported) {
  EXPECT_EQ(run("printf one > out/a/x; printf \"{}\" > out/metadata; echo w > store/deep/model"), 0);
  EXPECT_EQ(text("report"), "kfp 1\nP 0 3\none\nM 2\n{}\n");
}

TEST_F(LauncherTest, ACommandThatFailsReportsNothing) {
  EXPECT_EQ(run("printf one > out/a/x; exit 3"), 3);
  EXPECT_EQ(text("report"), "");
  EXPECT_EQ(run("kill -9 $$"), 137);
}

TEST_F(LauncherTest, ErrorsOfItsOwnStandInTheReport) {
  EXPECT_EQ(launch("no-such-command"), 127);
  EXPECT_EQ(text("report"), "launch: cannot run no-such-command: error 2\n");
  EXPECT_EQ(launch("./errors"), 126);
  EXPECT_EQ(run("head -c 5000 /dev/zero > out/a/y"), 125);
  EXPECT_EQ(text("report"),
            "launch: the parameters and metadata of the step are larger than the node keeps, in bytes: 5016 > 4096\n");
  EXPECT_EQ(run("head -c 5000 /dev/zero > out/a/y", "--limit 6000"), 0);
  EXPECT_EQ(text("report").size(), 5016U);
}

TEST_F(LauncherTest, OutputsAreCopiedBehindTheCommand) {
  const std::string keeps = "--keep model --as kept/model/model --keep-if-there ui.json --as kept/ui/ui.json";
  ASSERT_EQ(run("mkdir -p model/deep && printf one > model/deep/a && chmod 750 model/deep/a && ln -s deep/a model/link "
                "&& mkfifo model/pipe && for i in $(seq 100); do printf $i > model/file-with-a-long-name-$i; done",
                keeps),
            0);
  EXPECT_EQ(text("report"), "kfp 1\n");
  EXPECT_EQ(text("kept/model/model/deep/a"), "one");
  EXPECT_EQ(text("kept/model/model/link"), "one");
  EXPECT_EQ(text("kept/model/model/file-with-a-long-name-100"), "100");
  struct stat about {};
  ASSERT_EQ(stat((folder_ + "/kept/model/model/deep/a").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777U, 0750U);
  ASSERT_EQ(lstat((folder_ + "/kept/model/model/link").c_str(), &about), 0);
  EXPECT_TRUE(S_ISLNK(about.st_mode));
  EXPECT_NE(lstat((folder_ + "/kept/model/model/pipe").c_str(), &about), 0);
  EXPECT_NE(lstat((folder_ + "/kept/ui").c_str(), &about), 0);
}

TEST_F(LauncherTest, AnOutputThatIsNotThereIsAnError) {
  EXPECT_EQ(run("true", "--keep model --as kept/model"), 125);
  EXPECT_EQ(text("report"), "launch: the step has not made its output model\n");
  EXPECT_EQ(run("printf one > file && ln -s file other", "--keep other --as kept/other"), 0);
  EXPECT_EQ(text("kept/other"), "one");
  EXPECT_EQ(run("printf one > file; exit 4", "--keep file --as kept/file"), 4);
  EXPECT_EQ(text("kept/file"), "");
}

TEST_F(LauncherTest, ALargerReportIsSent) {
  std::string request, token;
  int status = 200;
  const auto server = rt::listen_http({}, [&](rt::HttpRequest http, std::shared_ptr<rt::HttpExchange> exchange) {
    request = http.method + " " + http.target + " " + std::to_string(http.body.size()) + " " + http.body.substr(0, 17);
    token = rt::header(http.headers, "Authorization");
    exchange->respond({.status = status});
  });
  ASSERT_TRUE(server.ok());
  std::ofstream(folder_ + "/token") << "secret\n";
  const std::string to = "--send 127.0.0.1:" + std::to_string((*server)->port()) + "/tasks/n/p --token token";
  EXPECT_EQ(run("head -c 100000 /dev/zero | tr \"\\0\" x > out/a/y", to), 0);
  EXPECT_EQ(text("report"), "kfp sent\n");
  EXPECT_EQ(request, "POST /tasks/n/p 100018 kfp 1\nP 1 100000\n");
  EXPECT_EQ(token, "Bearer secret");
  status = 403;
  EXPECT_EQ(run("head -c 100000 /dev/zero > out/a/y", to), 125);
  EXPECT_EQ(
      text("report"),
      "launch: the server of pipelines does not take the outputs of the step; its code (0: it cannot be reached): "
      "403\n");
  EXPECT_EQ(run("head -c 5000 /dev/zero > out/a/y", "--send 127.0.0.256:1/x"), 125);
  EXPECT_EQ(text("report"), "launch: this is not the address of a server: 127.0.0.256:1/x\n");
  EXPECT_EQ(run("head -c 200000 /dev/zero > out/a/y", to), 125);
  EXPECT_NE(text("report").find("200018 > 196608"), std::string::npos);
}

TEST_F(LauncherTest, TheOutputIsKeptWhereItIsAskedFor) {
  EXPECT_EQ(launch("sh -c 'echo one; echo two; echo three >&2' > printed", "--result 1000"), 0);
  EXPECT_EQ(text("report"), "kfp 1\nR 8\none\ntwo\n\n");
  EXPECT_EQ(text("printed"), "one\ntwo\n");
  EXPECT_EQ(text("errors"), "three\n");
  // The last bytes, from the begin of a character on; bytes that are not text become question marks.
  EXPECT_EQ(run(R"(printf "\\303\\274\\303\\274\\377")", "--result 4"), 0);
  EXPECT_EQ(text("report"), "kfp 1\nR 3\n\303\274?\n");
  EXPECT_EQ(run("printf 7 > out/a/x; yes | head -c 1000000", "--result 131072"), 0);
  EXPECT_LE(text("report").size(), 4096U);
  EXPECT_GE(text("report").size(), 4060U);
  EXPECT_EQ(run("exit 4", "--result 10"), 4);
  EXPECT_EQ(run("sleep 60 > /dev/null & echo done", "--result 10"), 0);
  EXPECT_EQ(text("report"), "kfp 1\nP 0 1\n7\nR 5\ndone\n\n");
}

TEST_F(LauncherTest, AReportIsReadWhereItIs) {
  const auto pod = api::parse_json(R"({"metadata": {"annotations": {"pipelines.kubeflow.org/report": "kfp 1\n"}}})");
  EXPECT_EQ(report_text(*pod, "kfp sent\n"), "kfp 1\n");
  EXPECT_EQ(report_text(*pod, "kfp sent"), "kfp 1\n");
  EXPECT_EQ(report_text(*pod, "kfp 1\nM 0\n"), "kfp 1\nM 0\n");
  EXPECT_EQ(report_text(api::Json::object(), "kfp sent"), "");
}

TEST_F(LauncherTest, SignalsReachTheCommandAndOrphansAreBuried) {
  EXPECT_EQ(run("trap \"exit 7\" TERM; (sleep 0.01 &); kill -TERM $PPID; while :; do sleep 0.01; done"), 7);
}

}  // namespace
}  // namespace pipelines
