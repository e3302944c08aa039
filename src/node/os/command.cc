// How programs are started without leaking descriptors or signals into them.
#include "node/os/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/format.h"
#include "node/machine/container_text.h"

extern char** environ;

namespace node {

namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void close(int end) {
    if (ends[end] >= 0) ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const std::string& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

int spawn(const std::vector<std::string>& words, const CommandOptions& options, Pipe& in, Pipe& out, Pipe& err,
          pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  if (options.output_path.empty()) {
    posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err.ends[1], 2);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, options.output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
  }
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  if (options.keep_fd >= 0) posix_spawn_file_actions_adddup2(&actions, options.keep_fd, 3);
  posix_spawn_file_actions_addclosefrom_np(&actions, options.keep_fd >= 0 ? 4 : 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const std::vector<char*> argv = pointers(words);
  const std::vector<char*> envp = pointers(options.environment);
  const int failure = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(),
                                     options.environment.empty() ? environ : envp.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failure;
}

// A running program and what passes between it and us.
class Exchange {
 public:
  Exchange(const std::string& name, pid_t pid, Pipe& in, Pipe& out, Pipe& err, const CommandOptions& options)
      : name_(name),
        // Readable when the program has ended, whoever else still holds its outputs.
        end_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))),
        pipes_{&out, &err, &in},
        options_(options),
        rest_(options.input),
        deadline_(monotonic_ms() + options.timeout.ns / 1'000'000) {
    if (rest_.empty()) in.close(1);
  }
  ~Exchange() {
    if (end_ >= 0) ::close(end_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // Until the outputs are closed and the program has ended.
  base::Status run(CommandResult& result) {
    while (!ended_ || pipes_[0]->ends[0] >= 0 || pipes_[1]->ends[0] >= 0) {
      TRY_VOID(check());
      const bool ask = options_.cancelled != nullptr || options_.guard;
      const std::int64_t left = std::max<std::int64_t>(1, deadline_ - monotonic_ms());
      pollfd waits[4] = {{pipes_[0]->ends[0], POLLIN, 0},
                         {pipes_[1]->ends[0], POLLIN, 0},
                         {pipes_[2]->ends[1], POLLOUT, 0},
                         {ended_ ? -1 : end_, POLLIN, 0}};
      if (::poll(waits, 4, static_cast<int>(ask ? std::min<std::int64_t>(left, 200) : left)) < 0 && errno != EINTR)
        return base::make_error(base::Code::kUnavailable, base::format("{}: {}", name_, std::strerror(errno)));
      if (waits[0].revents != 0) read_some(0, result.out);
      if (waits[1].revents != 0) read_some(1, result.err);
      if (waits[2].revents != 0) write_some();
      ended_ = ended_ || waits[3].revents != 0;
      if (result.out.size() + result.err.size() > options_.output_bytes_max)
        return base::make_error(base::Code::kTooLarge,
                                base::format("{} says more than {} bytes", name_, options_.output_bytes_max));
    }
    return {};
  }

  // After a kill: false if the program cannot even end.
  bool wait_for_end() {
    pollfd wait{end_, POLLIN, 0};
    return ended_ || ::poll(&wait, 1, 5000) > 0;
  }

 private:
  base::Status check() const {
    if (options_.cancelled != nullptr && *options_.cancelled)
      return base::make_error(base::Code::kUnavailable, base::format("{} was told to end", name_));
    if (monotonic_ms() >= deadline_)
      return base::make_error(base::Code::kTimeout, base::format("{} did not end within {}", name_,
                                                                 base::format_go_duration(options_.timeout)));
    return options_.guard ? options_.guard() : base::Status();
  }
  void read_some(int which, std::string& into) {
    char buffer[16384];
    const ssize_t got = ::read(pipes_[which]->ends[0], buffer, sizeof buffer);
    if (got > 0) into.append(buffer, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) pipes_[which]->close(0);
  }
  void write_some() {
    const ssize_t put = ::write(pipes_[2]->ends[1], rest_.data(), rest_.size());
    if (put > 0) rest_.remove_prefix(static_cast<std::size_t>(put));
    if (rest_.empty() || (put < 0 && errno != EINTR && errno != EAGAIN)) pipes_[2]->close(1);
  }

  const std::string& name_;
  int end_;
  Pipe* pipes_[3];
  const CommandOptions& options_;
  std::string_view rest_;
  std::int64_t deadline_;
  bool ended_ = false;
};

}  // namespace

base::Result<CommandResult> run_command(const std::vector<std::string>& words, const CommandOptions& options) {
  Pipe in, out, err;
  if (!in.open() || !out.open() || !err.open())
    return base::make_error(base::Code::kUnavailable,
                            base::format("cannot run {}: {}", words[0], std::strerror(errno)));
  pid_t pid = 0;
  if (const int failure = spawn(words, options, in, out, err, pid); failure != 0)
    return base::make_error(failure == ENOENT ? base::Code::kNotFound : base::Code::kUnavailable,
                            base::format("cannot run {}: {}", words[0], std::strerror(failure)));
  in.close(0);
  out.close(1);
  err.close(1);
  CommandResult result;
  Exchange exchange(words[0], pid, in, out, err, options);
  base::Status done = exchange.run(result);
  if (!done.ok()) {
    ::kill(pid, SIGKILL);
    // One that hangs in the kernel is left to whoever ends it.
    if (!exchange.wait_for_end()) return done.error();
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!done.ok()) return done.error();
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

base::Status must_run(const std::vector<std::string>& words, const CommandOptions& options) {
  TRY(const CommandResult result, run_command(words, options));
  if (result.exit_code == 0) return {};
  const std::string output = reason_text(result.err.empty() ? result.out : result.err);
  std::string line;
  for (std::size_t i = 0; i < words.size() && i < 6; ++i) line += (i == 0 ? "" : " ") + words[i];
  return base::make_error(
      base::Code::kInternal,
      base::format("{}: {}", line, output.empty() ? base::format("exit code {}", result.exit_code) : output));
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return ::access(name.c_str(), X_OK) == 0 ? name : std::string();
  const char* path = std::getenv("PATH");
  // sbin is where runc and ip live, and not in every user's PATH.
  const std::string folders =
      std::string(path == nullptr ? "/usr/bin:/bin" : path) + ":/usr/sbin:/sbin:/usr/local/sbin";
  std::size_t begin = 0;
  while (begin <= folders.size()) {
    std::size_t end = folders.find(':', begin);
    if (end == std::string::npos) end = folders.size();
    const std::string candidate = folders.substr(begin, end - begin) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    begin = end + 1;
  }
  return {};
}

}  // namespace node
