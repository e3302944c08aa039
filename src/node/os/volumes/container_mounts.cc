// Resolving mounts.
#include "node/os/volumes/container_mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/format.h"
#include "base/split.h"
#include "node/os/user_namespace.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kVolume = "volume:";

// A mount point from which the runtime mounts it.
struct Place {
  std::string at;
  std::string user_file;  // mounted with the ids of this user namespace; empty: as it is
  bool read_only = false;
};

base::Status mount_place(const std::string& source, const Place& place) {
  struct stat facts {};
  if (::stat(source.c_str(), &facts) != 0) return make_error(Code::kUnavailable, std::strerror(errno));
  TRY_VOID(rt::make_folders(place.at.substr(0, place.at.rfind('/')), 0700));
  TRY_VOID(S_ISDIR(facts.st_mode) ? rt::make_folders(place.at, 0700) : rt::write_file(place.at, "", 0600));
  if (!place.user_file.empty()) return mount_mapped({source, place.at, place.user_file, place.read_only});
  if (::mount(source.c_str(), place.at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return {};
  return make_error(Code::kUnavailable, std::strerror(errno));
}

// The runtime would look the path up again, and a container that runs could have put a link there by then. So the place
// itself, which is open, is mounted where nobody else writes, and the runtime mounts that.
base::Status pin(const rt::RootedPath& path, const Place& place) {
  auto opened = rt::open_below(path);
  if (!opened.ok()) {
    if (opened.error().code != Code::kInvalid) return opened.take_error();
    return make_error(Code::kInvalid, base::format("subPath {:?} leaves the volume", path.path));
  }
  base::Status mounted = mount_place(base::format("/proc/self/fd/{}", opened->get()), place);
  if (mounted.ok()) return mounted;
  return base::within(mounted.take_error(), base::format("cannot mount subPath {:?}", path.path));
}

// Refuses what a container runtime refuses: mounts are handed on only where the machine shares them.
base::Status check_propagation(const MountSpec& mount, bool own_ids) {
  if (mount.propagation == MountSpec::Propagation::kNone) return {};
  if (own_ids)
    return make_error(
        Code::kForbidden,
        base::format("mountPropagation of {}: a pod with hostUsers: false cannot have it on this node", mount.target));
  const MountShare share = share_of_path(read_text("/proc/self/mountinfo"), mount.source);
  const bool both = mount.propagation == MountSpec::Propagation::kBoth;
  if (share.shared || (!both && share.slave)) return {};
  return make_error(Code::kForbidden, base::format("path {:?} is mounted on {:?} but it is not a shared{} mount",
                                                   mount.source, share.mount_point, both ? "" : " or slave"));
}

base::Result<std::string> real_path(const std::string& path) {
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr)
    return make_error(Code::kUnavailable, base::format("volume {}: {}", path, std::strerror(errno)));
  return std::string(real);
}

// Finds the volume that `mount` names, and where to mount it from.
base::Status resolve(const std::string& volumes, Place place, MountSpec& mount) {
  const std::string_view rest = std::string_view(mount.source).substr(kVolume.size());
  const std::size_t slash = rest.find('/');
  const std::string name(rest.substr(0, slash));
  const std::string sub(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
  const std::string volume = volumes + "/" + name;
  TRY(mount.source, real_path(volume));  // of a hostPath: where its link leads, and the link is ours
  if (sub.empty() && place.user_file.empty()) return {};
  place.read_only = mount.read_only;
  if (!sub.empty()) {
    TRY_VOID(pin({mount.source, sub}, place));
  } else {
    base::Status mounted = mount_place(mount.source, place);
    if (!mounted.ok()) return base::within(mounted.take_error(), base::format("cannot mount volume {:?}", name));
  }
  mount.source = place.at;
  // In a user namespace the runtime may not change what we have mounted, and need not.
  if (!place.user_file.empty()) mount.read_only = false;
  return {};
}

}  // namespace

MountShare share_of_path(std::string_view mountinfo, std::string_view path) {
  MountShare share;
  for (const std::string_view line : base::split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = base::split(line, ' ');
    if (words.size() < 7) continue;
    const std::string_view point = words[4];
    const bool above = point == "/" || path == point ||
                       (path.starts_with(point) && path.size() > point.size() && path[point.size()] == '/');
    // The last one on a place hides those before it.
    if (!above || point.size() < share.mount_point.size()) continue;
    share = {std::string(point)};
    for (std::size_t i = 6; i < words.size() && words[i] != "-"; ++i) {
      share.shared |= words[i].starts_with("shared:");
      share.slave |= words[i].starts_with("master:");
    }
  }
  return share;
}

base::Result<std::vector<MountSpec>> container_mounts(const PodFolders& folders, const ContainerSpec& spec,
                                                      const std::string& folder) {
  std::vector<MountSpec> mounts;
  const std::string pod = folders.pod(spec.pod_uid);
  const auto first_id = folders.first_id(spec.pod_uid);
  const std::string user_file = first_id ? folders.user_namespace(spec.pod_uid) : std::string();
  for (MountSpec mount : spec.mounts) {
    const std::string at = base::format("{}/places/{}", folder, mounts.size());
    if (mount.source.starts_with(kVolume)) TRY_VOID(resolve(folders.volumes(spec.pod_uid), {at, user_file}, mount));
    TRY_VOID(check_propagation(mount, first_id.has_value()));
    mounts.push_back(std::move(mount));
  }
  const auto add = [&](const std::string& source, const std::string& target, bool read_only) {
    for (const MountSpec& mount : mounts)
      if (mount.target == target) return;
    mounts.push_back({source, target, read_only});
  };
  for (const DeviceMount& mount : spec.devices.mounts) add(mount.source, mount.target, mount.read_only);
  add(pod + "/hosts", "/etc/hosts", false);
  add(pod + "/resolv.conf", "/etc/resolv.conf", false);
  add(pod + "/hostname", "/etc/hostname", false);
  TRY_VOID(rt::write_file(folder + "/termination-log", "", 0666));
  if (first_id) TRY_VOID(give_file(folder + "/termination-log", *first_id));
  add(folder + "/termination-log", spec.termination_message_path, false);
  return mounts;
}

base::Status give_file(const std::string& path, std::int64_t first_id) {
  if (::chown(path.c_str(), static_cast<uid_t>(first_id), static_cast<gid_t>(first_id)) == 0) return {};
  return make_error(Code::kUnavailable, base::format("{}: {}", path, std::strerror(errno)));
}

void release_mounts(const std::string& folder) {
  for (const std::string& name : list_folder(folder + "/places"))
    ::umount2((folder + "/places/" + name).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

}  // namespace node
