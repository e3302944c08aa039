// One small program beside each plain process: it keeps the output, ends what the process leaves behind, and
// writes the exit code, whatever happens to the agent meanwhile.
//
//   agent -- runs --> monitor FOLDER -- fork --> the monitor proper -- fork --> the container's process
//           reads the report and returns      (session of its own, reaper of orphans)
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "api/json/json.h"
#include "base/format.h"
#include "node/machine/machine.h"
#include "node/os/proc.h"
#include "node/os/streams/cri_log.h"
#include "rt/files/files.h"

namespace node {

using api::Json;

namespace {

struct Words {
  std::vector<std::string> texts;
  std::vector<char*> pointers;
  explicit Words(const Json& list) {
    for (const Json& item : list.items()) texts.push_back(item.str());
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
  }
};

void write_report(int fd, const std::string& text) {
  if (::write(fd, text.data(), text.size()) < 0) return;  // nobody listens any more
}

// In the child: never returns. An error goes to `report` as text; a successful exec closes it.
[[noreturn]] void become(const Json& spec, int out, int err, int report) {
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const int null = ::open("/dev/null", O_RDONLY);
  ::dup2(null, 0);
  ::dup2(out, 1);
  ::dup2(err, 2);
  const auto fail = [&](const std::string& what, int error) {
    write_report(report, base::format("{}: {}", what, std::strerror(error)));
    ::_exit(127);
  };
  if (spec["gid"].is_int() || spec["uid"].is_int()) {
    const gid_t group = static_cast<gid_t>(spec["gid"].as_int(0));
    if (::geteuid() == 0 && ::setgroups(0, nullptr) != 0) fail("setgroups", errno);
    if (::setgid(group) != 0) fail(base::format("setgid {}", group), errno);
    if (spec["uid"].is_int() && ::setuid(static_cast<uid_t>(spec["uid"].as_int())) != 0)
      fail(base::format("setuid {}", spec["uid"].as_int()), errno);
  }
  if (spec["noNewPrivileges"].as_bool() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail("no_new_privs", errno);
  const std::string folder = spec["cwd"].str();
  if (!folder.empty() && ::chdir(folder.c_str()) != 0)
    fail(base::format("chdir to cwd ({:?}) set in config.json failed", folder), errno);
  Words argv(spec["argv"]);
  Words env(spec["env"]);
  for (const std::string& entry : env.texts)
    if (entry.starts_with("PATH=")) ::setenv("PATH", entry.c_str() + 5, 1);
  ::execvpe(argv.pointers[0], argv.pointers.data(), env.pointers.data());
  const int error = errno;
  write_report(report, error == ENOENT && argv.texts[0].find('/') == std::string::npos
                           ? base::format("exec: {:?}: executable file not found in $PATH", argv.texts[0])
                           : base::format("exec: {:?}: {}", argv.texts[0], std::strerror(error)));
  ::_exit(127);
}

// Kills everything that was left to us as the reaper, generation by generation.
void end_orphans() {
  for (int round = 0; round < 1000; ++round) {
    const std::vector<pid_t> left = children_of(::getpid());
    if (left.empty()) return;
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    for (const pid_t pid : left) {
      while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
  }
}

struct Streams {
  int fds[2];
  CriLog log;
  // How many bytes there were. Closes the stream once nothing more can come.
  long read_some(int which) {
    char buffer[16384];
    const ssize_t got = ::read(fds[which], buffer, sizeof buffer);
    if (got > 0) log.write(which == 0 ? "stdout" : "stderr", {buffer, static_cast<std::size_t>(got)});
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return got;
    ::close(fds[which]);
    fds[which] = -1;
    return 0;
  }
  // Reads the rest of the output of processes that have ended: no more than a pipe holds, because somebody who was
  // given one may write to it for ever.
  void drain() {
    for (int which = 0; which < 2; ++which) {
      if (fds[which] < 0) continue;
      const int held = ::fcntl(fds[which], F_GETPIPE_SZ);
      for (long left = std::max(held, 1 << 16); left > 0;) {
        pollfd wait{fds[which], POLLIN, 0};
        if (::poll(&wait, 1, 0) <= 0) break;
        const long got = read_some(which);
        if (got <= 0) break;
        left -= got;
      }
    }
  }
};

// Serves the streams until the main process has ended; its wait status.
int watch_until_end(pid_t main_pid, Streams& streams, int signals) {
  for (;;) {
    pollfd waits[3] = {{streams.fds[0], POLLIN, 0}, {streams.fds[1], POLLIN, 0}, {signals, POLLIN, 0}};
    if (::poll(waits, 3, -1) < 0 && errno != EINTR) return 0;
    for (int which = 0; which < 2; ++which)
      if (streams.fds[which] >= 0 && waits[which].revents != 0) streams.read_some(which);
    if (waits[2].revents == 0) continue;
    signalfd_siginfo info;
    while (::read(signals, &info, sizeof info) > 0) {
    }
    int status = 0;
    pid_t pid = 0;
    int main_status = -1;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0)
      if (pid == main_pid) main_status = status;
    if (main_status != -1) return main_status;
  }
}

void monitor(const std::string& folder, const Json& spec, int report) {
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, "volcano-monitor");
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  for (const int ignored : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(ignored, SIG_IGN);
  const int signals = ::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  int out[2], err[2], exec_report[2];
  if (signals < 0 || ::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0 ||
      ::pipe2(exec_report, O_CLOEXEC) != 0)
    return write_report(report, std::string("pipe: ") + std::strerror(errno));
  auto written = rt::write_file(folder + "/monitor", describe_process(::getpid()), 0600);
  if (!written.ok()) return write_report(report, written.error().message);
  const pid_t pid = ::fork();
  if (pid < 0) return write_report(report, std::string("fork: ") + std::strerror(errno));
  if (pid == 0) {
    for (const int restored : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(restored, SIG_DFL);
    become(spec, out[1], err[1], exec_report[1]);
  }
  ::close(out[1]);
  ::close(err[1]);
  ::close(exec_report[1]);
  char text[1024];
  const ssize_t got = ::read(exec_report[0], text, sizeof text);
  if (got > 0) {
    ::waitpid(pid, nullptr, 0);
    return write_report(report, std::string(text, static_cast<std::size_t>(got)));
  }
  ::close(exec_report[0]);
  Streams streams{{out[0], err[0]}, CriLog(spec["log"].str())};
  written = rt::write_file(folder + "/pid", describe_process(pid), 0600);
  write_report(report, "ok");
  ::close(report);
  const int null = ::open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null, fd);
  const int status = watch_until_end(pid, streams, signals);
  end_orphans();  // first: what they write has no end
  streams.drain();
  const int code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  // Without room for the exit file the agent finds a monitor gone and says that the end was not seen.
  for (int attempt = 0; attempt < 60; ++attempt) {
    if (rt::write_file(spec["exit"].str(), std::to_string(code), 0600).ok()) break;
    ::sleep(1);
  }
}

}  // namespace

int run_process_monitor(const std::string& folder) {
  const auto text = rt::read_file(folder + "/spec.json");
  const auto spec = text.ok() ? api::parse_json(*text) : base::Result<Json>(text.error());
  if (!spec.ok()) {
    write_report(1, spec.error().message);
    return 1;
  }
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return 1;
  const pid_t pid = ::fork();
  if (pid < 0) return 1;
  if (pid == 0) {
    ::close(report[0]);
    monitor(folder, *spec, report[1]);
    ::_exit(0);
  }
  ::close(report[1]);
  std::string output;
  char buffer[1024];
  for (;;) {
    const ssize_t got = ::read(report[0], buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    output.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(report[0]);
  write_report(1, output);
  return output == "ok" ? 0 : 1;
}

}  // namespace node
