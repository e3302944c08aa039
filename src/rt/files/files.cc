// Whole-file reads and atomic writes.
#include "rt/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/format.h"

namespace rt {
namespace {

base::Error failed(std::string_view what, const std::string& path, int error) {
  const base::Code code = error == ENOENT                     ? base::Code::kNotFound
                          : error == EACCES || error == EPERM ? base::Code::kForbidden
                                                              : base::Code::kUnavailable;
  return base::make_error(code, base::format("cannot {} {}: {}", what, path, std::strerror(error)));
}

}  // namespace

base::Result<std::string> read_file(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed("open", path, errno);
  std::string content;
  struct stat about = {};
  // A file that grows meanwhile is read to its end all the same; special files say 0.
  if (::fstat(file, &about) == 0 && about.st_size > 0) content.reserve(static_cast<std::size_t>(about.st_size));
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int error = errno;
      ::close(file);
      return failed("read", path, error);
    }
    if (got == 0) break;
    content.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(file);
  return content;
}

base::Status write_file(const std::string& path, std::string_view content, int mode) {
  const std::string temporary = path + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) return failed("create", temporary, errno);
  ::fchmod(file, static_cast<mode_t>(mode));
  while (!content.empty()) {
    const ssize_t put = ::write(file, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      ::close(file);
      ::unlink(temporary.c_str());
      return failed("write", temporary, error);
    }
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  const bool synced = ::fsync(file) == 0;
  const int error = errno;
  ::close(file);
  if (!synced) return failed("sync", temporary, error);
  if (::rename(temporary.c_str(), path.c_str()) != 0) return failed("rename", temporary, errno);
  return {};
}

base::Status make_folders(const std::string& path, int mode) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return failed("create folder", path, error.value());
  if (::chmod(path.c_str(), static_cast<mode_t>(mode)) != 0) return failed("set the mode of", path, errno);
  return {};
}

}  // namespace rt
