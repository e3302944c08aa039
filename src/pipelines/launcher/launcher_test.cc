// The launcher as a program: folders, exit codes, signals, reports, and what it says where it fails.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "pipelines/launcher/program.h"

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

TEST_F(LauncherTest, SignalsReachTheCommandAndOrphansAreBuried) {
  EXPECT_EQ(run("trap \"exit 7\" TERM; (sleep 0.01 &); kill -TERM $PPID; while :; do sleep 0.01; done"), 7);
}

}  // namespace
}  // namespace pipelines
