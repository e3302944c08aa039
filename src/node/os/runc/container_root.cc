// Overlay mounts.
#include "node/os/runc/container_root.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "node/os/user_namespace.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

bool mount_above(const RootMount& root, const std::string& lower, const std::string& changes) {
  const std::string upper = changes + "/upper";
  const std::string work = changes + "/work";
  for (const std::string& path : {upper, work}) ::mkdir(path.c_str(), 0755);
  ::chmod(upper.c_str(), 0755);
  const auto owner = static_cast<uid_t>(root.first_id);
  for (const std::string& path : {upper, work})
    if (!root.user_file.empty() && ::chown(path.c_str(), owner, owner) != 0) return false;
  const std::string options = base::format("lowerdir={},upperdir={},workdir={}", lower, upper, work);
  return ::mount("overlay", root.at.c_str(), "overlay", 0, options.c_str()) == 0;
}

base::Status mount_overlay(const RootMount& root, const std::string& lower) {
  if (mount_above(root, lower, root.folder)) return {};
  // A file system that cannot be the upper side (an overlay, for one): changes go to memory then.
  const int first = errno;
  const std::string scratch = root.folder + "/scratch";
  TRY_VOID(rt::make_folders(scratch, 0755));
  if (::mount("tmpfs", scratch.c_str(), "tmpfs", 0, "mode=755") == 0 && mount_above(root, lower, scratch)) return {};
  return make_error(Code::kUnavailable, base::format("cannot mount the root file system: {}", std::strerror(first)));
}

base::Status make_mapped_place(const RootMount& root) {
  const std::string home = root.at.substr(0, root.at.rfind('/'));
  const std::string roots = home.substr(0, home.rfind('/'));
  TRY_VOID(rt::make_folders(root.at, 0755));
  if (::chmod(roots.c_str(), 0711) == 0 && ::chmod(home.c_str(), 0710) == 0 && ::chmod(root.at.c_str(), 0755) == 0 &&
      ::chown(home.c_str(), 0, static_cast<gid_t>(root.first_id)) == 0)
    return {};
  return make_error(Code::kUnavailable, base::format("{}: {}", root.at, std::strerror(errno)));
}

}  // namespace

std::string mapped_root(const std::string& roots, const std::string& folder) {
  return base::format("{}/{}/rootfs", roots, rt::sha256_hex(folder).substr(0, 16));
}

base::Status mount_root(const RootMount& root) {
  if (root.user_file.empty()) {
    TRY_VOID(rt::make_folders(root.at, 0755));
    return mount_overlay(root, root.lower);
  }
  TRY_VOID(make_mapped_place(root));
  const std::string lower = root.folder + "/lower";
  TRY_VOID(rt::make_folders(lower, 0700));
  // Read-only, so that nothing that goes wrong with our folder can reach the image through it.
  TRY_VOID(mount_mapped({root.lower, lower, root.user_file, true, false}));
  base::Status mounted = mount_overlay(root, lower);
  ::umount2(lower.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);  // the overlay has its own
  return mounted;
}

void unmount_root(const std::string& folder, const std::string& at) {
  for (const std::string& path : {at, folder + "/scratch", folder + "/lower"})
    ::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
  if (at.starts_with(folder + "/")) return;
  ::rmdir(at.c_str());
  ::rmdir(at.substr(0, at.rfind('/')).c_str());
}

}  // namespace node
