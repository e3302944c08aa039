// The steps between fork and exec. The program has threads: the child only makes system calls.
#include "node/os/streams/exec_launch.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "node/os/command.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

void close_fd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// The program as execve wants it: by its place in the PATH that the process will have.
std::string program_of(const ExecLaunch& launch) {
  const std::string& name = launch.words[0];
  if (name.find('/') != std::string::npos) return name;
  std::string path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
  for (const std::string& entry : launch.environment)
    if (entry.starts_with("PATH=")) path = entry.substr(5);
  for (std::string_view rest = path; !rest.empty();) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    std::string candidate = std::string(folder) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
  }
  return {};
}

struct Child {
  const ExecLaunch* launch;
  const char* program;
  char* const* argv;
  char* const* envp;
  int fds[3];
  int report;  // an errno is written there; a successful exec closes it

  [[noreturn]] void fail() const {
    const int error = errno;
    if (::write(report, &error, sizeof error) < 0) ::_exit(126);
    ::_exit(127);
  }

  [[noreturn]] void become() const {
    ::setsid();
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
    for (int fd = 0; fd < 3; ++fd) ::dup2(fds[fd], fd);
    if (launch->terminal) ::ioctl(0, TIOCSCTTY, 0);
    if (launch->user || launch->group) {
      const auto user = static_cast<uid_t>(launch->user.value_or(::geteuid()));
      const auto group = static_cast<gid_t>(launch->group.value_or(0));
      if (::geteuid() == 0 && ::syscall(SYS_setgroups, 0, nullptr) != 0) fail();
      if (::syscall(SYS_setresgid, group, group, group) != 0 || ::syscall(SYS_setresuid, user, user, user) != 0) fail();
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // which a change of the user would undo
    if (launch->no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail();
    if (::chdir(launch->folder.c_str()) != 0) fail();
    ::execve(program, argv, envp);
    fail();
  }
};

struct Pipes {
  int ours[3] = {-1, -1, -1};  // of input, output, errors
  int theirs[3] = {-1, -1, -1};
  ~Pipes() {
    for (int i = 0; i < 3; ++i) {
      close_fd(ours[i]);
      close_fd(theirs[i]);
    }
  }

  bool open_pipe(int which) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return false;
    ours[which] = ends[which == 0 ? 1 : 0];
    theirs[which] = ends[which == 0 ? 0 : 1];
    ::fcntl(ours[which], F_SETFL, O_NONBLOCK);
    return true;
  }
  bool open_terminal() {
    ours[1] = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (ours[1] < 0 || ::grantpt(ours[1]) != 0 || ::unlockpt(ours[1]) != 0) return false;
    char name[64];
    if (::ptsname_r(ours[1], name, sizeof name) != 0) return false;
    theirs[0] = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::fcntl(ours[1], F_SETFL, O_NONBLOCK);
    return theirs[0] >= 0;
  }
  bool open(const ExecLaunch& launch) {
    if (launch.terminal) return open_terminal();
    if (!launch.input) theirs[0] = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    return (launch.input ? open_pipe(0) : theirs[0] >= 0) && open_pipe(1) && open_pipe(2);
  }
};

}  // namespace

ExecProcess::ExecProcess(ExecProcess&& other) noexcept
    : pid(std::exchange(other.pid, 0)),
      input(std::exchange(other.input, -1)),
      outputs{std::exchange(other.outputs[0], -1), std::exchange(other.outputs[1], -1)},
      ended(std::exchange(other.ended, -1)) {}

ExecProcess::~ExecProcess() {
  close_input();
  close_fd(outputs[0]);
  close_fd(outputs[1]);
  close_fd(ended);
}

void ExecProcess::close_input() {
  if (input != outputs[0]) close_fd(input);
  input = -1;
}

int ExecProcess::exit_code() {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 255;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

base::Result<ExecProcess> launch_exec(const ExecLaunch& launch) {
  const std::string program = program_of(launch);
  if (program.empty())
    return make_error(Code::kInvalid, base::format("exec: {:?}: executable file not found in $PATH", launch.words[0]));
  Pipes pipes;
  int report[2];
  if (!pipes.open(launch) || ::pipe2(report, O_CLOEXEC) != 0)
    return make_error(Code::kUnavailable, base::format("cannot open streams: {}", std::strerror(errno)));
  const std::vector<char*> argv = pointers(launch.words), envp = pointers(launch.environment);
  Child child{&launch,  program.c_str(), argv.data(), envp.data(), {pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]},
              report[1]};
  if (launch.terminal) child.fds[1] = child.fds[2] = pipes.theirs[0];
  const pid_t pid = ::fork();
  if (pid == 0) child.become();
  ::close(report[1]);
  int error = pid < 0 ? errno : 0;
  if (pid > 0)
    while (::read(report[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
  ::close(report[0]);
  ExecProcess process;
  process.pid = pid;
  if (error != 0) {
    if (pid > 0) (void)process.exit_code();
    return make_error(Code::kInvalid, base::format("exec: {:?}: {}", launch.words[0], std::strerror(error)));
  }
  process.ended = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  for (int i = 0; i < 2; ++i) process.outputs[i] = std::exchange(pipes.ours[1 + i], -1);
  process.input = launch.terminal ? process.outputs[0] : std::exchange(pipes.ours[0], -1);
  return process;
}

void set_terminal_size(int terminal, int columns, int rows) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(std::clamp(columns, 0, 65535));
  size.ws_row = static_cast<unsigned short>(std::clamp(rows, 0, 65535));
  ::ioctl(terminal, TIOCSWINSZ, &size);
}

}  // namespace node
