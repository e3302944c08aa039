// Containers' output as `kubectl logs` asks for it.
#include "api/pod_logs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/format.h"
#include "node/machine/cri_line.h"
#include "node/machine/machine.h"
#include "node/os/pod_folders.h"

namespace node {

namespace {

constexpr std::size_t kChunk = 32768;
constexpr int kReadersMax = 512;  // a thread and a descriptor each

struct Job {
  PodFolders folders;
  std::string uid;
  std::string pod;
  api::PodLogOptions options;
  std::function<void(std::string)> on_data;
  std::function<void(base::Status)> on_end;
  std::atomic<bool> cancelled{false};
  std::recursive_mutex calling;  // held during callbacks, so that none runs once the stream is gone

  // The output's state:
  std::string pending;
  std::int64_t sent = 0;
  bool line_open = false;  // a partial line was written: no time before its next part
  bool full = false;       // limitBytes is reached

  explicit Job(PodFolders f) : folders(std::move(f)) {}

  base::Status run();
  // Lets go of who listens: they may hold the stream, and with it this.
  void end(base::Status status) {
    const std::lock_guard lock(calling);
    on_data = nullptr;
    const auto finish = std::exchange(on_end, nullptr);
    if (!cancelled) finish(std::move(status));
  }
  // Instead of running; at once, for there is no thread. An error waits for no reader.
  void refuse(std::string why) { end(base::make_error(base::Code::kTooManyRequests, std::move(why))); }
  base::Result<std::string> find_log(std::string& exit_file) const;  // empty: there is none, and none is missed
  std::size_t start_of_tail(const std::string& text) const;
  void take_line(std::string_view line);
  void flush();
};

// conmon writes local time with an offset; readers get UTC, with every digit.
std::string utc_stamp(std::string_view text) {
  const auto at = text.ends_with('Z') ? std::nullopt : base::parse_rfc3339(text);
  if (!at) return std::string(text);
  const std::string whole = base::format_rfc3339(*at);  // ends with Z
  return base::format("{}.{:09}Z", whole.substr(0, whole.size() - 1), at->ns % 1'000'000'000);
}

// Goes on with the file that has the name now, if it is another one.
bool reopened(const std::string& path, int& fd) {
  struct stat named {
  }, held{};
  if (::stat(path.c_str(), &named) != 0 || ::fstat(fd, &held) != 0 || named.st_ino == held.st_ino) return false;
  const int fresh = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fresh < 0) return false;
  ::close(std::exchange(fd, fresh));
  return true;
}

std::int64_t attempts_max(const std::string& folder) {
  std::int64_t highest = -1;
  for (const std::string& name : list_folder(folder)) {
    std::int64_t attempt = -1;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), attempt);
    if (failure == std::errc{} && std::string_view(end) == ".log") highest = std::max(highest, attempt);
  }
  return highest;
}

base::Result<std::string> Job::find_log(std::string& exit_file) const {
  std::string name = options.container;
  const std::string logs = folders.pod(uid) + "/logs";
  if (name.empty()) {
    const auto names = list_folder(logs);
    if (names.size() == 1) name = names[0];
  }
  const std::int64_t attempt = attempts_max(logs + "/" + name) - (options.previous ? 1 : 0);
  if (attempt < 0) {
    if (options.previous)
      return base::make_error(base::Code::kBadRequest,
                              base::format("previous terminated container {:?} in pod {:?} not found", name, pod));
    if (options.no_log.empty()) return std::string();
    return base::make_error(base::Code::kBadRequest, options.no_log);
  }
  const std::string id = read_text(folders.container(uid, name, static_cast<int>(attempt)) + "/id");
  exit_file = folders.exits() + "/" + id;
  return folders.log(uid, name, static_cast<int>(attempt));
}

// The beginning of the last `tail_lines` lines. Parts of one line count as one.
std::size_t Job::start_of_tail(const std::string& text) const {
  if (!options.tail_lines) return 0;
  if (*options.tail_lines <= 0) return text.size();
  std::deque<std::size_t> starts;
  bool fresh = true;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    CriLine line;
    if (parse_cri_line(std::string_view(text).substr(begin, end - begin), line)) {
      if (fresh) starts.push_back(begin);
      if (static_cast<std::int64_t>(starts.size()) > *options.tail_lines) starts.pop_front();
      fresh = !line.partial;
    }
    begin = end + 1;
  }
  return starts.empty() ? text.size() : starts.front();
}

void Job::take_line(std::string_view raw) {
  CriLine line;
  if (full || !parse_cri_line(raw, line)) return;
  if (options.since) {
    const auto at = base::parse_rfc3339(line.time);
    if (at && *at < *options.since) return;
  }
  std::string out;
  if (options.timestamps && !line_open) out = utc_stamp(line.time) + " ";
  out += line.text;
  if (!line.partial) out += '\n';
  line_open = line.partial;
  if (options.limit_bytes && sent + static_cast<std::int64_t>(out.size()) >= *options.limit_bytes) {
    out.resize(static_cast<std::size_t>(std::max<std::int64_t>(0, *options.limit_bytes - sent)));
    full = true;
  }
  sent += static_cast<std::int64_t>(out.size());
  pending += out;
  if (pending.size() >= kChunk) flush();
}

void Job::flush() {
  const std::lock_guard lock(calling);
  if (!pending.empty() && !cancelled) on_data(std::exchange(pending, {}));
  pending.clear();
}

base::Status Job::run() {
  std::string exit_file;
  TRY(const std::string path, find_log(exit_file));
  if (path.empty()) return {};
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return base::make_error(base::Code::kNotFound, base::format("the log of pod {:?} is not there", pod));
  std::string text;
  bool first = true;
  while (!cancelled && !full) {
    // Looked at before reading: what was written before the end is read below.
    const bool over = ::access(exit_file.c_str(), F_OK) == 0;
    bool any = false;
    char buffer[65536];
    for (;;) {
      const ssize_t got = ::read(fd, buffer, sizeof buffer);
      if (got <= 0) break;
      any = true;
      text.append(buffer, static_cast<std::size_t>(got));
      // A tail needs the whole first reading; everything else goes out as it comes.
      if (!first || !options.tail_lines) break;
    }
    std::size_t begin = first ? start_of_tail(text) : 0;
    for (;;) {
      const std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) break;
      take_line(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    text.erase(0, begin);
    first = first && !any;
    if (any) continue;
    flush();
    if (!options.follow) break;
    if (reopened(path, fd)) continue;  // a log that grew too large started anew
    if (over || ::access(path.c_str(), F_OK) != 0) break;
    first = false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  flush();
  ::close(fd);
  return {};
}

class Stream : public api::PodLogStream {
 public:
  explicit Stream(std::shared_ptr<Job> job) : job_(std::move(job)) {}
  ~Stream() override {
    const std::lock_guard lock(job_->calling);
    job_->cancelled = true;
  }

 private:
  std::shared_ptr<Job> job_;
};

class FolderLogs : public api::PodLogs {
 public:
  explicit FolderLogs(std::string data_dir) : folders_(std::move(data_dir)) {}

  std::shared_ptr<api::PodLogStream> open(std::string, std::string pod, std::string uid, api::PodLogOptions options,
                                          std::function<void(std::string)> on_data,
                                          std::function<void(base::Status)> on_end) override {
    auto job = std::make_shared<Job>(folders_);
    job->uid = std::move(uid);
    job->pod = std::move(pod);
    job->options = std::move(options);
    job->on_data = std::move(on_data);
    job->on_end = std::move(on_end);
    // A thread a reader: files know no readiness.
    auto stream = std::make_shared<Stream>(job);
    auto place = std::make_shared<Place>(readers_);
    if (*readers_ > kReadersMax) {
      job->refuse(base::format("{} logs are being read, please try again later", kReadersMax));
      return stream;
    }
    try {
      std::thread([job, place = std::move(place)] { job->end(job->run()); }).detach();
    } catch (const std::system_error&) {
      job->refuse("no thread is free, please try again later");
    }
    return stream;
  }

 private:
  // A place of one of the readers, as long as its thread.
  class Place {
   public:
    explicit Place(std::shared_ptr<std::atomic<int>> taken) : taken_(std::move(taken)) { ++*taken_; }
    ~Place() { --*taken_; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    std::shared_ptr<std::atomic<int>> taken_;
  };

  PodFolders folders_;
  // Threads may outlive this.
  std::shared_ptr<std::atomic<int>> readers_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace

std::unique_ptr<api::PodLogs> make_pod_logs(const std::string& data_dir) {
  return std::make_unique<FolderLogs>(data_dir);
}

}  // namespace node
