// A thread that reads lines with a deadline. The process is one at a time: while one cannot be killed no other is
// begun.
#include "node/devices/gpu_watch.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/format.h"

extern char** environ;

namespace node {

using base::Code;
using base::make_error;

namespace {

constexpr int kPauseFirstMs = 5'000, kPauseMaxMs = 120'000;

std::int64_t monotonic_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 + now.tv_nsec / 1'000'000;
}

base::Result<pid_t> start_process(const std::vector<std::string>& words, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failure = ::posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure == 0) return pid;
  return make_error(Code::kUnavailable, base::format("cannot run {}: {}", words[0], std::strerror(failure)));
}

}  // namespace

GpuWatch::GpuWatch(std::vector<std::string> command, OnReport on_report, int silence_ms)
    : command_(std::move(command)), on_report_(std::move(on_report)), silence_ms_(silence_ms) {
  if (::pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0)
    on_report_(make_error(Code::kUnavailable, base::format("no pipe: {}", std::strerror(errno))));
  else
    thread_ = std::thread([this] { run(); });
}

GpuWatch::~GpuWatch() {
  stopping_ = true;
  if (wake_[1] >= 0) (void)!::write(wake_[1], "", 1);
  if (thread_.joinable()) thread_.join();
  for (const int end : wake_)
    if (end >= 0) ::close(end);
}

void GpuWatch::run() {
  int rest = kPauseFirstMs;
  while (!stopping_) {
    int ends[2] = {-1, -1};
    base::Status ended = make_error(Code::kUnavailable, "no pipe");
    const std::int64_t began = monotonic_ms();
    if (::pipe2(ends, O_CLOEXEC) == 0) {
      auto started = start_process(command_, ends[1]);
      ::close(ends[1]);
      if (started.ok()) {
        process_ = *started;
        ended = listen(ends[0]);
      } else {
        ended = started.take_error();
      }
      ::close(ends[0]);
    }
    if (stopping_) break;
    if (!ended.ok()) on_report_(ended.error());
    // A driver that worked for a while may work again at once.
    rest = monotonic_ms() - began > 60'000 ? kPauseFirstMs : std::min(rest * 2, kPauseMaxMs);
    end_process();
    pause(rest);
  }
  end_process();
}

// Until the process ends, says nonsense or says nothing.
base::Status GpuWatch::listen(int pipe) {
  std::string text;
  std::int64_t deadline = monotonic_ms() + silence_ms_;
  while (!stopping_) {
    const std::int64_t left = deadline - monotonic_ms();
    if (left <= 0)
      return make_error(Code::kTimeout, base::format("the NVIDIA driver has not answered for {} ms", silence_ms_));
    pollfd waits[2] = {{pipe, POLLIN, 0}, {wake_[0], POLLIN, 0}};
    if (::poll(waits, 2, static_cast<int>(left)) < 0 && errno != EINTR) break;
    if (waits[0].revents == 0) continue;
    char buffer[16384];
    const ssize_t got = ::read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      auto report = parse_gpu_report(std::string_view(text).substr(0, end));
      text.erase(0, end + 1);
      deadline = monotonic_ms() + silence_ms_;
      if (!report.ok()) return report.take_error();
      on_report_(std::move(report));
    }
    if (text.size() > kGpuReportBytesMax) return make_error(Code::kInvalid, "the report on GPUs is too long");
  }
  return make_error(Code::kUnavailable, "the process that asks the NVIDIA driver has ended");
}

void GpuWatch::pause(int milliseconds) {
  pollfd wait{wake_[0], POLLIN, 0};
  const std::int64_t until = monotonic_ms() + milliseconds;
  while (!stopping_) {
    const std::int64_t left = until - monotonic_ms();
    if (left <= 0 && process_ == 0) return;
    (void)::poll(&wait, 1, static_cast<int>(std::clamp<std::int64_t>(left, 1, 1000)));
    end_process();
  }
}

// Kills it. It stays in `process_` while it hangs in the kernel.
void GpuWatch::end_process() {
  if (process_ == 0) return;
  ::kill(process_, SIGKILL);
  for (int tries = 0; tries < 20; ++tries) {
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == process_ || (ended < 0 && errno == ECHILD)) {
      process_ = 0;
      return;
    }
    ::usleep(5'000);
  }
}

}  // namespace node
