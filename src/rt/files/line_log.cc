// A queue with a limit, and the thread that empties it.
#include "rt/files/line_log.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "base/format.h"

namespace rt {
namespace {

// How long the reader of a pipe is waited for: 5 s, and half a second at the end.
constexpr int kReaderTurnMs = 100;
constexpr int kReaderTurns = 50;
constexpr int kReaderTurnsAtEnd = 5;

class FileLog final : public LineLog {
 public:
  FileLog(LineLogOptions options, int file) : options_(std::move(options)), file_(file), thread_([this] { run(); }) {}
  ~FileLog() override {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_one();
    thread_.join();
    if (file_ >= 0) ::close(file_);
  }

  void append(std::size_t bytes, std::function<std::string()> make) override {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() >= options_.lines_max || bytes_ + bytes > options_.bytes_max) {
        ++left_out_;
      } else {
        waiting_.push_back({bytes, std::move(make)});
        bytes_ += bytes;
      }
    }
    wake_.notify_one();
  }

  void reopen() override {
    {
      const std::lock_guard lock(mutex_);
      reopens_ = true;
    }
    wake_.notify_one();
  }

 private:
  struct Line {
    std::size_t bytes = 0;
    std::function<std::string()> make;
  };

  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return ends_ || reopens_ || left_out_ > 0 || !waiting_.empty(); });
      const bool reopens = std::exchange(reopens_, false);
      const std::size_t left_out = std::exchange(left_out_, 0);
      Line line;
      if (!waiting_.empty()) {
        line = std::move(waiting_.front());
        waiting_.pop_front();
        bytes_ -= line.bytes;
      } else if (ends_) {
        return;
      }
      lock.unlock();
      if (reopens) open_again();
      if (left_out > 0) report(base::format("{} lines are left out: too many wait for the disk", left_out));
      if (line.make) write(line.make() + "\n");
      line = {};
      lock.lock();
    }
  }

  void open_again() {
    const int fresh = open_file(options_.path);
    if (fresh < 0) return report(why_not_open(options_.path));
    ::close(file_);
    file_ = fresh;
    cut_ = false;
  }

  void write(std::string line) {
    if (cut_) line = std::string(1, '\n') + line;  // what is there of the line before is not a line
    std::string_view rest = line;
    while (!rest.empty()) {
      const ssize_t put = ::write(file_, rest.data(), rest.size());
      const int error = put < 0 ? errno : 0;
      if (error == EINTR) continue;
      if (error == EAGAIN && reader_made_room()) continue;
      if (put < 0) {
        cut_ = cut_ || rest.size() < line.size();
        return report(base::format("cannot write to {}: {}", options_.path,
                                   error == EAGAIN ? "nobody reads this pipe fast enough" : std::strerror(error)));
      }
      rest.remove_prefix(static_cast<std::size_t>(put));
    }
    cut_ = false;
    reported_ = false;
  }

  // Whether a pipe's reader takes something within its patience. Lines wait meanwhile, and once one is lost no other is
  // waited for until one can be written again.
  bool reader_made_room() {
    for (int left = reported_ ? 0 : kReaderTurns; left > 0; --left) {
      pollfd room{.fd = file_, .events = POLLOUT, .revents = 0};
      if (::poll(&room, 1, kReaderTurnMs) > 0) return true;
      const std::lock_guard lock(mutex_);
      if (ends_) left = std::min(left, kReaderTurnsAtEnd);
    }
    return false;
  }

  void report(const std::string& problem) {
    if (!reported_ && options_.on_problem) options_.on_problem(problem);
    reported_ = true;
  }

 public:
  // Without blocking: nobody waits for ever for the reader of a pipe, neither now nor at the end.
  static int open_file(const std::string& path) {
    return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0600);
  }
  // Right after open_file() failed.
  static std::string why_not_open(const std::string& path) {
    return base::format("cannot open {}: {}", path, errno == ENXIO ? "nobody reads this pipe" : std::strerror(errno));
  }

 private:
  const LineLogOptions options_;
  // The next three belong to the thread.
  int file_;
  bool cut_ = false;       // the file ends within a line
  bool reported_ = false;  // of a problem that lasts
  // Shared, under the mutex.
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Line> waiting_;
  std::size_t bytes_ = 0;
  std::size_t left_out_ = 0;
  bool reopens_ = false;
  bool ends_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

base::Result<std::unique_ptr<LineLog>> open_line_log(LineLogOptions options) {
  const int file = FileLog::open_file(options.path);
  if (file < 0) return base::make_error(base::Code::kUnavailable, FileLog::why_not_open(options.path));
  return std::unique_ptr<LineLog>(std::make_unique<FileLog>(std::move(options), file));
}

}  // namespace rt
