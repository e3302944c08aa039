// Writing lines of container logs.
#include "node/os/streams/cri_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/format.h"

namespace node {

namespace {

std::string stamp() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm parts{};
  ::gmtime_r(&now.tv_sec, &parts);
  return base::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:09}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                      parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, now.tv_nsec);
}

}  // namespace

CriLog::CriLog(const std::string& path, long bytes_max) : path_(path), bytes_max_(bytes_max) { open(O_APPEND); }

void CriLog::open(int flags) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0640);
}

CriLog::~CriLog() {
  if (fd_ >= 0) ::close(fd_);
}

void CriLog::write(std::string_view stream, std::string_view bytes) {
  if (fd_ < 0) return;
  const std::string head = base::format("{} {} ", stamp(), stream);
  std::string text;
  while (!bytes.empty()) {
    const std::size_t end = bytes.find('\n');
    text += head;
    text += end == std::string_view::npos ? "P " : "F ";
    text += bytes.substr(0, end);
    text += '\n';
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  }
  bytes_ += static_cast<long>(text.size());
  if (bytes_ > bytes_max_) {
    // Readers that follow see another file under the name, and go on there.
    ::unlink(path_.c_str());
    open(O_TRUNC);
    bytes_ = static_cast<long>(text.size());
  }
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t put = ::write(fd_, rest.data(), rest.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
}

}  // namespace node
