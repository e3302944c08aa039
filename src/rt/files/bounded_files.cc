// Reads that end: none waits for a writer that never comes, or for the end of /dev/zero.
#include "rt/files/bounded_files.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/format.h"

namespace rt {
namespace {

using base::Code;

class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

base::Error failed(std::string_view what, const std::string& path, int error) {
  const Code code = error == ENOENT                     ? Code::kNotFound
                    : error == EACCES || error == EPERM ? Code::kForbidden
                                                        : Code::kUnavailable;
  return base::make_error(code, base::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

// Until there is something to read, or the end of it.
base::Status wait_for_bytes(int file, const std::string& path, std::chrono::steady_clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  pollfd wait{file, POLLIN, 0};
  const int found = ::poll(&wait, 1, static_cast<int>(std::max<std::int64_t>(0, left.count())));
  if (found > 0 || (found < 0 && errno == EINTR)) return {};
  return base::make_error(Code::kTimeout, base::format("cannot read {}: its end does not come", path));
}

}  // namespace

base::Result<std::string> read_bounded_file(const std::string& path, std::size_t bytes_max, base::Duration patience) {
  const Descriptor file(path);
  if (file.number() < 0) return failed("open", path, errno);
  struct stat about = {};
  if (::fstat(file.number(), &about) != 0) return failed("read", path, errno);
  if (S_ISDIR(about.st_mode)) return failed("read", path, EISDIR);
  const bool is_ordinary = S_ISREG(about.st_mode);
  if (!is_ordinary && patience.ns <= 0)
    return base::make_error(Code::kUnavailable, base::format("cannot read {}: it is not an ordinary file", path));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience.ns);
  std::string content;
  if (is_ordinary && about.st_size > 0) content.reserve(std::min(static_cast<std::size_t>(about.st_size), bytes_max));
  for (char buffer[65536];;) {
    if (!is_ordinary) TRY_VOID(wait_for_bytes(file.number(), path, deadline));
    const ssize_t got = ::read(file.number(), buffer, sizeof buffer);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return failed("read", path, errno);
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > bytes_max)
      return base::make_error(Code::kTooLarge,
                              base::format("cannot read {}: it has more than {} bytes", path, bytes_max));
  }
}

}  // namespace rt
