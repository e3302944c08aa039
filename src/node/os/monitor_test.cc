// Does the monitor of a plain process end with it, whatever the process leaves behind?
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "api/json/json.h"
#include "node/machine/machine.h"
#include "node/os/pod_folders.h"
#include "node/os/proc.h"
#include "rt/files/files.h"

namespace node {
namespace {

using api::Json;

// The monitor is a child of whoever ran it, as long as that lives.
bool ends_in(pid_t monitor, int milliseconds) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, monitor, 0));
  pollfd wait{fd, POLLIN, 0};
  const bool ended = ::poll(&wait, 1, milliseconds) == 1;
  ::close(fd);
  if (!ended)
    for (const pid_t pid : tree_of(monitor)) ::kill(pid, SIGKILL);
  ::waitpid(monitor, nullptr, 0);
  return ended;
}

struct MonitoredRun {
  std::string folder = ::testing::TempDir() + "monitor-XXXXXX";
  pid_t monitor = 0, process = 0;

  explicit MonitoredRun(const std::string& script) {
    if (::mkdtemp(folder.data()) == nullptr || ::mkfifo((folder + "/gate").c_str(), 0600) != 0) return;
    const Json spec = Json::object({{"argv", Json::array({"sh", "-c", script, "sh", folder + "/gate"})},
                                    {"env", Json::array({"PATH=/usr/bin:/bin"})},
                                    {"cwd", "/"},
                                    {"log", folder + "/log"},
                                    {"exit", folder + "/exit"}});
    if (!rt::write_file(folder + "/spec.json", spec.dump(), 0600).ok() || run_process_monitor(folder) != 0) return;
    // They may have ended; the monitor waits for us all the same.
    monitor = std::stoi(read_text(folder + "/monitor"));
    process = std::stoi(read_text(folder + "/pid"));
  }
  ~MonitoredRun() { remove_tree(folder); }
};

TEST(Monitor, KeepsWhatWasSaidLast) {
  const MonitoredRun run("echo last; echo words >&2; exit 3");
  ASSERT_NE(run.monitor, 0);
  EXPECT_TRUE(ends_in(run.monitor, 8'000));
  EXPECT_EQ(read_text(run.folder + "/exit"), "3");
  const std::string log = read_text(run.folder + "/log");
  EXPECT_NE(log.find(" stdout F last\n"), std::string::npos) << log;
  EXPECT_NE(log.find(" stderr F words\n"), std::string::npos) << log;
}

// So many that the pipe is hardly ever empty, and a pipe as large as the system allows.
TEST(Monitor, EndsAlthoughWhatWasLeftBehindWritesWithoutEnd) {
  const MonitoredRun run("i=0; while [ $i -lt 64 ]; do yes & i=$((i + 1)); done; cat < $1");
  ASSERT_NE(run.process, 0);
  const int out = ::open(("/proc/" + std::to_string(run.process) + "/fd/1").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(out, 0);
  (void)::fcntl(out, F_SETPIPE_SZ, 1 << 20);
  ::close(out);
  const int gate = ::open((run.folder + "/gate").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(gate, 0);
  ::close(gate);
  EXPECT_TRUE(ends_in(run.monitor, 8'000));
  EXPECT_EQ(read_text(run.folder + "/exit"), "0");
}

}  // namespace
}  // namespace node
