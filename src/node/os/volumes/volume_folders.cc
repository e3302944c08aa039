// How volumes are made.
//
// Files of API objects change as one: VOLUME/..data is a link to the folder of the current set, NAME -> ..data/NAME.
#include "node/os/volumes/volume_folders.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <set>

#include "base/format.h"
#include "node/os/pod_folders.h"
#include "node/os/volumes/volume_group.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

base::Error failed(const VolumeSpec& volume, const std::string& what, int error) {
  return make_error(Code::kInvalid, base::format("MountVolume.SetUp failed for volume {:?} : {}: {}", volume.name, what,
                                                 std::strerror(error)));
}

base::Status make_empty(const std::string& path, const VolumeSpec& volume) {
  TRY_VOID(rt::make_folders(path, 0777));
  struct stat mine {
  }, above{};
  const std::string parent = path.substr(0, path.rfind('/'));
  const bool mounted =
      ::stat(path.c_str(), &mine) == 0 && ::stat(parent.c_str(), &above) == 0 && mine.st_dev != above.st_dev;
  const char* const kind = volume.memory ? "tmpfs" : volume.huge_page_bytes > 0 ? "hugetlbfs" : nullptr;
  if (kind != nullptr && !mounted) {
    std::string options = "mode=777";
    if (volume.huge_page_bytes > 0) options += base::format(",pagesize={}", volume.huge_page_bytes);
    if (volume.bytes_max > 0) options += base::format(",size={}", volume.bytes_max);
    if (::mount(kind, path.c_str(), kind, MS_NOSUID | MS_NODEV, options.c_str()) != 0)
      return failed(volume, base::format("mount {}", kind), errno);
  }
  ::chmod(path.c_str(), volume.group ? 02777 : 0777);
  if (volume.group && ::chown(path.c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(*volume.group)) != 0)
    return failed(volume, "chown", errno);
  return {};
}

// A claim's folder is everybody's, as provisioners of such folders have it. One that nobody has used yet may have been
// made by an older version, or in part.
base::Status open_to_all(const VolumeSpec& volume, bool there) {
  struct stat facts {};
  if (::stat(volume.host_path.c_str(), &facts) != 0) return failed(volume, volume.host_path, errno);
  const bool untouched = facts.st_uid == 0 && (facts.st_mode & 07777) == 0755 && list_folder(volume.host_path).empty();
  if (there && !untouched) return {};
  if (::chmod(volume.host_path.c_str(), 0777) != 0) return failed(volume, volume.host_path, errno);
  return {};
}

base::Status link_host_path(const std::string& path, const VolumeSpec& volume) {
  struct stat facts {};
  const bool there = ::stat(volume.host_path.c_str(), &facts) == 0;
  const std::string& type = volume.host_type;
  if (!there && type == "DirectoryOrCreate") {
    TRY_VOID(rt::make_folders(volume.host_path, 0755));
  } else if (!there && type == "FileOrCreate") {
    const int fd = ::open(volume.host_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return failed(volume, volume.host_path, errno);
    ::close(fd);
  } else if (!there && type.empty()) {
    // Without a type nothing is checked, and container runtimes make the folder.
    TRY_VOID(rt::make_folders(volume.host_path, 0755));
  } else if (!there) {
    return failed(volume, base::format("hostPath {}", volume.host_path), ENOENT);
  }
  const bool wants_folder = type == "Directory" || type == "DirectoryOrCreate";
  const bool wants_file = type == "File" || type == "FileOrCreate";
  if (there && ((wants_folder && !S_ISDIR(facts.st_mode)) || (wants_file && !S_ISREG(facts.st_mode)) ||
                (type == "Socket" && !S_ISSOCK(facts.st_mode)) || (type == "CharDevice" && !S_ISCHR(facts.st_mode)) ||
                (type == "BlockDevice" && !S_ISBLK(facts.st_mode))))
    return make_error(
        Code::kInvalid,
        base::format("MountVolume.SetUp failed for volume {:?} : hostPath type check failed: {} is not a {}",
                     volume.name, volume.host_path, type));
  if (volume.open_to_all) TRY_VOID(open_to_all(volume, there));
  if (volume.group) {
    base::Status given = give_to_group(volume.host_path, {*volume.group, volume.group_on_mismatch});
    if (!given.ok())
      return base::within(given.take_error(), base::format("MountVolume.SetUp failed for volume {:?} ", volume.name));
  }
  ::unlink(path.c_str());
  if (::symlink(volume.host_path.c_str(), path.c_str()) != 0) return failed(volume, "symlink", errno);
  return {};
}

// No file of a volume begins with two dots, however it is called.
constexpr const char* kFreshLink = "/..link";
constexpr const char* kFreshFile = "/..file";
constexpr const char* kSetPrefix = "..set_";

base::Status replace_link(const std::string& folder, const std::string& name, const std::string& target,
                          const VolumeSpec& volume) {
  const std::string fresh = folder + kFreshLink, path = folder + "/" + name;
  ::unlink(fresh.c_str());
  if (::symlink(target.c_str(), fresh.c_str()) != 0 || ::rename(fresh.c_str(), path.c_str()) != 0)
    return failed(volume, path, errno);
  return {};
}

base::Status write_files(const std::string& path, const VolumeSpec& volume) {
  TRY_VOID(rt::make_folders(path, 0755));
  ::chmod(path.c_str(), 0755);
  // Secrets stay in memory where that can be had.
  struct stat mine {
  }, above{};
  if (volume.memory && ::stat(path.c_str(), &mine) == 0 &&
      ::stat(path.substr(0, path.rfind('/')).c_str(), &above) == 0 && mine.st_dev == above.st_dev)
    (void)::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "mode=755");
  std::string digest;
  for (const FileSpec& file : volume.files)
    digest += base::format("{}\n{}\n{}\n{}\n", file.path, file.mode, file.content.size(), file.content);
  const std::string set = kSetPrefix + rt::sha256_hex(digest).substr(0, 16);
  char current[PATH_MAX];
  const ssize_t length = ::readlink((path + "/..data").c_str(), current, sizeof current);
  const std::string old = length > 0 ? std::string(current, static_cast<std::size_t>(length)) : std::string();
  if (old == set) return {};
  remove_tree(path + "/" + set);
  TRY_VOID(rt::make_folders(path + "/" + set, 0755));
  const std::string fresh = path + "/" + set + kFreshFile;
  std::set<std::string> tops;
  for (const FileSpec& file : volume.files) {
    const std::string full = path + "/" + set + "/" + file.path;
    TRY_VOID(rt::make_folders(full.substr(0, full.rfind('/')), 0755));
    const int mode = volume.group ? file.mode | 0040 : file.mode;
    TRY_VOID(rt::write_file(fresh, file.content, mode));
    if (volume.group && ::chown(fresh.c_str(), static_cast<uid_t>(-1), static_cast<gid_t>(*volume.group)) != 0)
      return failed(volume, "chown", errno);
    if (::rename(fresh.c_str(), full.c_str()) != 0) return failed(volume, file.path, errno);
    tops.insert(file.path.substr(0, file.path.find('/')));
  }
  TRY_VOID(replace_link(path, "..data", set, volume));
  for (const std::string& top : tops) TRY_VOID(replace_link(path, top, "..data/" + top, volume));
  for (const std::string& name : list_folder(path))
    if (!name.starts_with("..") && !tops.contains(name)) ::unlink((path + "/" + name).c_str());
  // The link may lie in memory that others write: only a set of ours beside it goes.
  if (old.starts_with(kSetPrefix) && old.find('/') == std::string::npos) remove_tree(path + "/" + old);
  return {};
}

}  // namespace

base::Status lay_out_volume(const std::string& path, const VolumeSpec& volume) {
  switch (volume.kind) {
    case VolumeSpec::Kind::kEmptyDir: return make_empty(path, volume);
    case VolumeSpec::Kind::kHostPath: return link_host_path(path, volume);
    case VolumeSpec::Kind::kFiles: return write_files(path, volume);
  }
  return {};
}

void take_down_volumes(const std::string& volumes_folder) {
  for (const std::string& name : list_folder(volumes_folder)) {
    const std::string path = volumes_folder + "/" + name;
    struct stat facts {};
    if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) continue;
    struct stat above {};
    if (::stat(volumes_folder.c_str(), &above) == 0 && above.st_dev != facts.st_dev)
      ::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  }
}

}  // namespace node
