// Watching the folder of exit files.
#include "node/os/exits.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/format.h"
#include "node/os/proc.h"
#include "rt/files/files.h"

namespace node {

Exits::~Exits() { close(); }

base::Status Exits::open(const std::string& folder, Runtime::OnExit on_exit) {
  folder_ = folder;
  on_exit_ = std::move(on_exit);
  TRY_VOID(rt::make_folders(folder, 0700));
  inotify_ = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (inotify_ < 0 || wake_ < 0 || ::inotify_add_watch(inotify_, folder.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
    return base::make_error(base::Code::kUnavailable,
                            base::format("cannot watch {}: {}", folder, std::strerror(errno)));
  thread_ = std::thread([this] { run(); });
  return {};
}

void Exits::close() {
  {
    const std::lock_guard lock(mutex_);
    if (closing_) return;
    closing_ = true;
  }
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    if (::write(wake_, &one, sizeof one) < 0) return;
    thread_.join();
  }
  if (inotify_ >= 0) ::close(inotify_);
  if (wake_ >= 0) ::close(wake_);
  inotify_ = wake_ = -1;
}

void Exits::watch(const std::string& id, const std::string& monitor, const std::string& oom_file) {
  {
    const std::lock_guard lock(mutex_);
    watched_[id] = {monitor, oom_file, 0};
  }
  const std::uint64_t one = 1;
  if (wake_ >= 0 && ::write(wake_, &one, sizeof one) < 0) return;
}

void Exits::forget(const std::string& id) {
  const std::lock_guard lock(mutex_);
  watched_.erase(id);
  ::unlink((folder_ + "/" + id).c_str());
}

bool Exits::read(const std::string& id, ExitedContainer& out, const std::string& oom_file) const {
  const std::string path = folder_ + "/" + id;
  const auto text = rt::read_file(path);
  if (!text.ok()) return false;
  out.id = id;
  out.exit_code = 0;
  std::from_chars(text->data(), text->data() + text->size(), out.exit_code);
  struct stat facts {};
  if (::stat(path.c_str(), &facts) == 0) out.finished = {facts.st_mtim.tv_sec * 1'000'000'000 + facts.st_mtim.tv_nsec};
  out.out_of_memory = !oom_file.empty() && ::access(oom_file.c_str(), F_OK) == 0;
  return true;
}

void Exits::run() {
  int silent = 0;
  for (;;) {
    pollfd waits[2] = {{inotify_, POLLIN, 0}, {wake_, POLLIN, 0}};
    ::poll(waits, 2, 1000);
    char buffer[8192];
    while (::read(inotify_, buffer, sizeof buffer) > 0) {
    }
    std::uint64_t count = 0;
    while (::read(wake_, &count, sizeof count) > 0) {
    }
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return;
    }
    const bool idle = waits[0].revents == 0 && waits[1].revents == 0;
    silent = idle ? silent + 1 : 0;
    look(idle || silent == 0);
  }
}

void Exits::look(bool at_monitors) {
  std::vector<ExitedContainer> ended;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = watched_.begin(); it != watched_.end();) {
      ExitedContainer exit;
      bool over = read(it->first, exit, it->second.oom_file);
      if (!over && at_monitors && described_process(it->second.monitor) == 0 && ++it->second.missing >= 3) {
        timespec now{};
        ::clock_gettime(CLOCK_REALTIME, &now);
        exit = {it->first, 137, false, {now.tv_sec * 1'000'000'000 + now.tv_nsec}};
        over = true;
      }
      if (over) {
        ended.push_back(exit);
        it = watched_.erase(it);
      } else {
        ++it;
      }
    }
  }
  for (const ExitedContainer& exit : ended) on_exit_(exit);
}

}  // namespace node
