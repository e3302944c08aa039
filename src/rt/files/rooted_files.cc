// Lookups by openat2: the kernel keeps every step inside, so that nothing can be exchanged between a check and its use.
#include "rt/files/rooted_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"

namespace rt {

namespace {

constexpr int kAttemptsMax = 32;

base::Error failed(const RootedPath& of, int error) {
  const base::Code code = error == ENOENT                                        ? base::Code::kNotFound
                          : error == EXDEV || error == ELOOP || error == ENOTDIR ? base::Code::kInvalid
                                                                                 : base::Code::kUnavailable;
  const char* why = error == EXDEV ? "it leads out of the folder" : std::strerror(error);
  return base::make_error(code, base::format("cannot open {:?}: {}", of.path, why));
}

// A negative result is -errno.
int open_in(int folder, const std::string& path, int flags, std::uint64_t resolve) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.resolve = resolve;
  for (int attempt = 0;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    // EAGAIN: something was renamed meanwhile, and the kernel cannot tell whether the way stayed inside.
    if ((errno != EAGAIN && errno != EINTR) || attempt == kAttemptsMax) return -errno;
  }
}

struct OpenFile {
  Descriptor descriptor;
  off_t bytes = 0;
};

base::Result<OpenFile> open_regular(const RootedPath& file) {
  const Descriptor root(::open(file.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return failed({file.root, file.root}, errno);
  // Opened without touching it first: to open a device or a FIFO can already do something, or wait.
  const int place = open_in(root.get(), file.path, O_PATH, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  if (place < 0) return failed(file, -place);
  const Descriptor seen(place);
  struct stat facts {};
  if (::fstat(seen.get(), &facts) != 0) return failed(file, errno);
  if (!S_ISREG(facts.st_mode))
    return base::make_error(base::Code::kInvalid, base::format("{:?} is not a regular file", file.path));
  OpenFile out;
  out.descriptor = Descriptor(
      ::open(base::format("/proc/self/fd/{}", seen.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!out.descriptor.is_open()) return failed(file, errno);
  out.bytes = facts.st_size;
  return out;
}

base::Result<std::string> read_from(const RootedPath& file, int fd, off_t from, std::size_t bytes_max) {
  std::string text;
  while (text.size() < bytes_max) {
    char buffer[65536];
    const ssize_t got =
        ::pread(fd, buffer, std::min(sizeof buffer, bytes_max - text.size()), from + static_cast<off_t>(text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(file, errno);
    if (got == 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

// A new folder gets the mode and the group of the root. Its name may lead elsewhere by now, but not out of its parent.
void take_after(int root, int parent, const std::string& name) {
  const Descriptor made(::openat(parent, name.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  struct stat facts {};
  if (!made.is_open() || ::fstat(root, &facts) != 0) return;
  (void)::fchownat(made.get(), "", static_cast<uid_t>(-1), facts.st_gid, AT_EMPTY_PATH);
  (void)::chmod(base::format("/proc/self/fd/{}", made.get()).c_str(), facts.st_mode & 07777);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

base::Result<std::string> read_rooted_file(const RootedPath& file, std::size_t bytes_max) {
  TRY(const OpenFile open, open_regular(file));
  TRY(std::string text, read_from(file, open.descriptor.get(), 0, bytes_max + 1));
  if (text.size() > bytes_max)
    return base::make_error(base::Code::kTooLarge, base::format("{:?} has more than {} bytes", file.path, bytes_max));
  return text;
}

base::Result<Descriptor> open_rooted_folder(const RootedPath& folder) {
  const Descriptor root(::open(folder.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return failed({folder.root, folder.root}, errno);
  const int place = open_in(root.get(), folder.path, O_RDONLY | O_DIRECTORY, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
  if (place < 0) return failed(folder, -place);
  return Descriptor(place);
}

base::Result<FileHead> read_rooted_head(const RootedPath& file, std::size_t bytes_max) {
  TRY(const OpenFile open, open_regular(file));
  TRY(std::string bytes, read_from(file, open.descriptor.get(), 0, bytes_max));
  const std::size_t size = open.bytes > 0 ? static_cast<std::size_t>(open.bytes) : bytes.size();
  return FileHead{std::move(bytes), size};
}

base::Result<std::string> read_rooted_tail(const RootedPath& file, std::size_t bytes_max) {
  TRY(const OpenFile open, open_regular(file));
  const off_t most = static_cast<off_t>(bytes_max);
  return read_from(file, open.descriptor.get(), open.bytes > most ? open.bytes - most : 0, bytes_max);
}

base::Result<Descriptor> open_below(const RootedPath& place) {
  constexpr std::uint64_t kInside = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Descriptor at(::open(place.root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at.is_open()) return failed({place.root, place.root}, errno);
  const int there = open_in(at.get(), place.path.empty() ? "." : place.path, O_PATH, kInside);
  if (there >= 0) return Descriptor(there);
  if (there != -ENOENT) return failed(place, -there);
  // Every step is taken from the folder before it; each can be a link that stays inside the whole.
  std::string walked;
  std::string_view rest = place.path;
  Descriptor last;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty() || word == ".") continue;
    if (word == "..") return failed(place, EXDEV);
    const std::string name(word);
    const int parent = last.is_open() ? last.get() : at.get();
    walked += walked.empty() ? name : "/" + name;
    int fd = open_in(at.get(), walked, O_PATH | (rest.empty() ? 0 : O_DIRECTORY), kInside);
    if (fd == -ENOENT) {
      if (::mkdirat(parent, name.c_str(), 0700) == 0)
        take_after(at.get(), parent, name);
      else if (errno != EEXIST)
        return failed(place, errno);
      fd = open_in(at.get(), walked, O_PATH | O_DIRECTORY, kInside);
    }
    if (fd < 0) return failed(place, -fd);
    last = Descriptor(fd);
  }
  return last;
}

}  // namespace rt
