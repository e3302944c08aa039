// Every file is opened as a place first, and changed through that: a name can lead elsewhere a moment later.
#include "node/os/volumes/volume_group.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "rt/files/rooted_files.h"

namespace node {

namespace {

// A level costs a descriptor or two while it is walked.
constexpr int kDepthMax = 250;

base::Error failed(const char* what, int error) {
  return base::make_error(base::Code::kUnavailable, base::format("fsGroup: {}: {}", what, std::strerror(error)));
}

// The file itself, also a link, on the file system of the folder. A negative result is -errno.
int open_place(int folder, const char* name) {
  open_how how{};
  how.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV;
  for (;;) {
    const long fd = ::syscall(SYS_openat2, folder, name, &how, sizeof how);
    if (fd >= 0) return static_cast<int>(fd);
    if (errno != EINTR && errno != EAGAIN) return -errno;
  }
}

mode_t wanted_bits(mode_t mode) { return S_ISDIR(mode) ? 02770 : 0660; }

class Walk {
 public:
  explicit Walk(gid_t group) : group_(group) {}

  // The folder comes after its contents, so that its own group says that the walk is done.
  base::Status folder(const rt::Descriptor& place, int depth) {
    if (depth > kDepthMax)
      return base::make_error(base::Code::kInvalid,
                              base::format("fsGroup: folders of the volume lie more than {} deep", kDepthMax));
    TRY_VOID(contents(place, depth));
    return change(place);
  }

 private:
  base::Status contents(const rt::Descriptor& place, int depth) {
    const int fd = ::openat(place.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return failed("open", errno);
    DIR* const listing = ::fdopendir(fd);
    if (listing == nullptr) {
      ::close(fd);
      return failed("list", errno);
    }
    base::Status done;
    while (done.ok()) {
      const dirent* entry = ::readdir(listing);
      if (entry == nullptr) break;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") done = this->entry(place, name, depth);
    }
    ::closedir(listing);
    return done;
  }

  base::Status entry(const rt::Descriptor& above, const std::string& name, int depth) {
    const int fd = open_place(above.get(), name.c_str());
    if (fd == -ENOENT || fd == -EXDEV) return {};  // gone by now; another file system
    if (fd < 0) return failed("open", -fd);
    const rt::Descriptor place(fd);
    struct stat facts {};
    if (::fstat(place.get(), &facts) != 0) return failed("look", errno);
    if (S_ISDIR(facts.st_mode)) return folder(place, depth + 1);
    if (S_ISCHR(facts.st_mode) || S_ISBLK(facts.st_mode)) return {};
    return change(place);
  }

  base::Status change(const rt::Descriptor& place) {
    struct stat facts {};
    if (::fstat(place.get(), &facts) != 0) return failed("look", errno);
    if (::fchownat(place.get(), "", static_cast<uid_t>(-1), group_, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0)
      return failed("chown", errno);
    if (S_ISLNK(facts.st_mode)) return {};
    const mode_t mode = (facts.st_mode & 07777) | wanted_bits(facts.st_mode);
    if (::chmod(base::format("/proc/self/fd/{}", place.get()).c_str(), mode) != 0) return failed("chmod", errno);
    return {};
  }

  gid_t group_;
};

}  // namespace

base::Status give_to_group(const std::string& folder, const VolumeGroup& group) {
  const rt::Descriptor root(::open(folder.c_str(), O_PATH | O_CLOEXEC));
  struct stat facts {};
  if (!root.is_open() || ::fstat(root.get(), &facts) != 0) return failed(folder.c_str(), errno);
  if (!S_ISDIR(facts.st_mode)) return {};
  const auto id = static_cast<gid_t>(group.id);
  const mode_t bits = wanted_bits(facts.st_mode);
  if (group.on_mismatch && facts.st_gid == id && (facts.st_mode & bits) == bits) return {};
  return Walk(id).folder(root, 0);
}

}  // namespace node
