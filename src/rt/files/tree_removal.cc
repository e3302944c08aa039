// Removing folders whose content a stranger made: nested a hundred thousand deep, or with millions of entries.
//
// Every folder found below is first moved up beside the others, so that no more than two levels are ever open.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "base/format.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"

namespace rt {

namespace {

constexpr std::size_t kNamesMax = 4096;  // of a folder, held at a time

// At most kNamesMax names of what is in the folder.
std::vector<std::string> some_names(int folder) {
  std::vector<std::string> names;
  // A stream of its own: the position of `folder` must not matter.
  const int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (stream == nullptr) {
    if (fd >= 0) ::close(fd);
    return names;
  }
  while (const dirent* entry = ::readdir(stream)) {
    if (std::strcmp(entry->d_name, ".") == 0 || std::strcmp(entry->d_name, "..") == 0) continue;
    names.emplace_back(entry->d_name);
    if (names.size() == kNamesMax) break;
  }
  ::closedir(stream);
  return names;
}

Descriptor open_folder(int parent, const std::string& name) {
  int fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat facts {};
  // Without root, a folder that its owner has locked is opened by its owner's right to change that.
  if (fd < 0 && errno == EACCES && ::fstatat(parent, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(facts.st_mode) && ::fchmodat(parent, name.c_str(), 0700, 0) == 0)
    fd = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0 && ::fstat(fd, &facts) == 0 && (facts.st_mode & 0700) != 0700) (void)::fchmod(fd, 0700);
  return Descriptor(fd);
}

class Removal {
 public:
  Removal(int top, dev_t device) : top_(top), device_(device) {}

  // Takes away as much as can be had. True when nothing is left.
  bool empty_top() {
    for (;;) {
      const std::vector<std::string> names = some_names(top_);
      if (names.empty()) return true;
      bool progress = false;
      for (const std::string& name : names) progress |= remove_child(name);
      if (!progress) return false;
    }
  }

 private:
  // A child of the top; true when it is gone, or something in it.
  bool remove_child(const std::string& name) {
    if (::unlinkat(top_, name.c_str(), 0) == 0 || ::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (errno == ENOENT) return true;
    const Descriptor folder = open_folder(top_, name);
    struct stat facts {};
    if (!folder.is_open() || ::fstat(folder.get(), &facts) != 0 || facts.st_dev != device_) return false;
    bool any = false;
    for (bool progress = true; progress;) {
      progress = false;
      for (const std::string& child : some_names(folder.get()))
        progress |= ::unlinkat(folder.get(), child.c_str(), 0) == 0 ||
                    ::unlinkat(folder.get(), child.c_str(), AT_REMOVEDIR) == 0 || move_up(folder.get(), child);
      any |= progress;
    }
    return ::unlinkat(top_, name.c_str(), AT_REMOVEDIR) == 0 || any;
  }

  bool move_up(int folder, const std::string& name) {
    struct stat facts {};
    if (::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(facts.st_mode) ||
        facts.st_dev != device_)
      return false;
    // Only its owner may move a folder that cannot be written.
    if ((facts.st_mode & 0700) != 0700) (void)::fchmodat(folder, name.c_str(), 0700, 0);
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const std::string fresh = base::format(".removed-{}", next_++);
      if (::renameat2(folder, name.c_str(), top_, fresh.c_str(), RENAME_NOREPLACE) == 0) return true;
      if (errno != EEXIST) return false;
    }
    return false;
  }

  int top_;
  dev_t device_;
  std::uint64_t next_ = 0;
};

}  // namespace

base::Status remove_tree(const std::string& path) {
  const auto failed = [&](int error) {
    return base::make_error(base::Code::kUnavailable, base::format("cannot remove {}: {}", path, std::strerror(error)));
  };
  const std::size_t slash = path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  const Descriptor parent(::open(above.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!parent.is_open()) {
    if (errno == ENOENT) return {};
    return failed(errno);
  }
  if (::unlinkat(parent.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  const Descriptor top = open_folder(parent.get(), name);
  if (!top.is_open()) return failed(errno);
  struct stat outside {
  }, inside{};
  if (::fstat(parent.get(), &outside) != 0 || ::fstat(top.get(), &inside) != 0) return failed(errno);
  if (outside.st_dev != inside.st_dev) return failed(EBUSY);
  if (!Removal(top.get(), inside.st_dev).empty_top()) return failed(ENOTEMPTY);
  if (::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) return failed(errno);
  return {};
}

}  // namespace rt
