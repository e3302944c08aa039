// How programs are started without leaking descriptors or signals into them.
#include "node/os/command.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "base/format.h"

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

// Moves bytes until both outputs are closed; false when time ran out.
bool exchange(Pipe& in, Pipe& out, Pipe& err, const CommandOptions& options, CommandResult& result) {
  const std::int64_t deadline = monotonic_ms() + options.timeout.ns / 1'000'000;
  std::string_view rest = options.input;
  if (rest.empty()) in.close(1);
  while (out.ends[0] >= 0 || err.ends[0] >= 0) {
    pollfd waits[3] = {{out.ends[0], POLLIN, 0}, {err.ends[0], POLLIN, 0}, {in.ends[1], POLLOUT, 0}};
    const std::int64_t left = deadline - monotonic_ms();
    if (left <= 0 || (options.cancelled != nullptr && *options.cancelled)) return false;
    const std::int64_t slice = options.cancelled != nullptr ? std::min<std::int64_t>(left, 200) : left;
    if (::poll(waits, 3, static_cast<int>(slice)) < 0 && errno != EINTR) return false;
    for (int i = 0; i < 2; ++i) {
      Pipe& pipe = i == 0 ? out : err;
      if (pipe.ends[0] < 0 || waits[i].revents == 0) continue;
      char buffer[16384];
      const ssize_t got = ::read(pipe.ends[0], buffer, sizeof buffer);
      if (got > 0) (i == 0 ? result.out : result.err).append(buffer, static_cast<std::size_t>(got));
      if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) pipe.close(0);
    }
    if (in.ends[1] >= 0 && waits[2].revents != 0) {
      const ssize_t put = ::write(in.ends[1], rest.data(), rest.size());
      if (put > 0) rest.remove_prefix(static_cast<std::size_t>(put));
      if (rest.empty() || (put < 0 && errno != EINTR && errno != EAGAIN)) in.close(1);
    }
  }
  return true;
}

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
  const bool ended = exchange(in, out, err, options, result);
  if (!ended) ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended)
    return base::make_error(base::Code::kTimeout, base::format("{} did not end within {}", words[0],
                                                               base::format_go_duration(options.timeout)));
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return result;
}

base::Status must_run(const std::vector<std::string>& words, const CommandOptions& options) {
  TRY(const CommandResult result, run_command(words, options));
  if (result.exit_code == 0) return {};
  std::string said = result.err.empty() ? result.out : result.err;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  if (said.size() > 1000) said.resize(1000);
  std::string line;
  for (std::size_t i = 0; i < words.size() && i < 6; ++i) line += (i == 0 ? "" : " ") + words[i];
  return base::make_error(
      base::Code::kInternal,
      base::format("{}: {}", line, said.empty() ? base::format("exit code {}", result.exit_code) : said));
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
