// Each step is taken from an open folder and never through a link, so that nothing can be exchanged between a check and
// its use.
#include "rt/files/rooted_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/format.h"
#include "rt/files/tar.h"

namespace rt {

namespace {

base::Error failed(const std::string& what, int error) {
  const base::Code code = error == ENOENT                      ? base::Code::kNotFound
                          : error == ENOTDIR || error == ELOOP ? base::Code::kInvalid
                                                               : base::Code::kUnavailable;
  return base::make_error(code, base::format("cannot read {:?}: {}", what, std::strerror(error)));
}

base::Error too_large(const std::string& what) { return base::make_error(base::Code::kTooLarge, what); }

class FolderTar {
 public:
  FolderTar(const std::string& folder, std::size_t bytes_max)
      : folder_(folder), bytes_max_(bytes_max), tar_(folder, bytes_max) {}

  base::Status add_folder(int fd, const std::string& path, int depth) {
    if (depth > kFolderDepthMax)
      return too_large(base::format("{:?} is deeper than {} folders", folder_, kFolderDepthMax));
    TRY(const std::vector<std::string> names, names_in(fd));
    for (const std::string& name : names) TRY_VOID(add(fd, name, path + name, depth));
    return {};
  }

  std::string take() { return tar_.take(); }

 private:
  base::Result<std::vector<std::string>> names_in(int fd) {
    std::vector<std::string> names;
    DIR* open = ::fdopendir(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (open == nullptr) return failed(folder_, errno);
    while (const dirent* one = ::readdir(open)) {
      const std::string name = one->d_name;
      if (name == "." || name == "..") continue;
      names.push_back(name);
      if (++entries_ > kFolderEntriesMax) break;
    }
    ::closedir(open);
    if (entries_ > kFolderEntriesMax)
      return too_large(base::format("{:?} has more than {} files", folder_, kFolderEntriesMax));
    std::ranges::sort(names);
    return names;
  }

  base::Status add(int parent, const std::string& name, const std::string& path, int depth) {
    const Descriptor seen(::openat(parent, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts {};
    if (!seen.is_open() || ::fstat(seen.get(), &facts) != 0) return {};  // gone meanwhile
    if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) return {};
    const Descriptor open(
        ::open(base::format("/proc/self/fd/{}", seen.get()).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!open.is_open()) return failed(path, errno);
    if (S_ISDIR(facts.st_mode)) {
      TRY_VOID(put(path + "/", {}, facts));
      return add_folder(open.get(), path + "/", depth + 1);
    }
    std::string bytes;
    for (char buffer[65536]; bytes.size() <= bytes_max_;) {
      const ssize_t got = ::read(open.get(), buffer, sizeof buffer);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed(path, errno);
      if (got == 0) break;
      bytes.append(buffer, static_cast<std::size_t>(got));
    }
    return put(path, bytes, facts);
  }

  base::Status put(const std::string& name, const std::string& bytes, const struct stat& facts) {
    return tar_.add({.name = name, .mode = facts.st_mode, .modified = base::Time{} + base::seconds(facts.st_mtime)},
                    bytes);
  }

  const std::string& folder_;
  const std::size_t bytes_max_;
  Tar tar_;
  std::size_t entries_ = 0;
};

}  // namespace

base::Result<std::string> rooted_folder_as_tar(const RootedPath& folder, std::size_t bytes_max) {
  TRY(const Descriptor open, open_rooted_folder(folder));
  FolderTar tar(folder.path, bytes_max);
  TRY_VOID(tar.add_folder(open.get(), "", 1));
  return tar.take();
}

}  // namespace rt
