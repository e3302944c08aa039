// Resolving mounts.
#include "node/os/container_mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/format.h"
#include "rt/files.h"
#include "rt/rooted_files.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

// The runtime would look the path up again, and a container that runs could have put a link there by then. So the place
// itself, which is open, is mounted where nobody else writes, and the runtime mounts that.
base::Result<std::string> pin(const rt::RootedPath& place, const std::string& at) {
  auto opened = rt::open_below(place);
  if (!opened.ok()) {
    if (opened.error().code != Code::kInvalid) return opened.take_error();
    return make_error(Code::kInvalid, base::format("subPath {:?} leaves the volume", place.path));
  }
  struct stat facts {};
  if (::fstat(opened->get(), &facts) != 0) return make_error(Code::kUnavailable, std::strerror(errno));
  TRY_VOID(rt::make_folders(at.substr(0, at.rfind('/')), 0700));
  if (S_ISDIR(facts.st_mode))
    TRY_VOID(rt::make_folders(at, 0700));
  else
    TRY_VOID(rt::write_file(at, "", 0600));
  const std::string source = base::format("/proc/self/fd/{}", opened->get());
  if (::mount(source.c_str(), at.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
    return make_error(Code::kUnavailable,
                      base::format("cannot mount subPath {:?}: {}", place.path, std::strerror(errno)));
  return at;
}

base::Result<std::string> real_path(const std::string& path) {
  char real[PATH_MAX];
  if (::realpath(path.c_str(), real) == nullptr)
    return make_error(Code::kUnavailable, base::format("volume {}: {}", path, std::strerror(errno)));
  return std::string(real);
}

}  // namespace

base::Result<std::vector<MountSpec>> container_mounts(const PodFolders& folders, const ContainerSpec& spec,
                                                      const std::string& folder) {
  static constexpr std::string_view kVolume = "volume:";
  std::vector<MountSpec> mounts;
  const std::string pod = folders.pod(spec.pod_uid);
  for (MountSpec mount : spec.mounts) {
    std::string_view rest = mount.source;
    if (rest.starts_with(kVolume)) {
      rest.remove_prefix(kVolume.size());
      const std::size_t slash = rest.find('/');
      const std::string volume = folders.volumes(spec.pod_uid) + "/" + std::string(rest.substr(0, slash));
      const std::string sub(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
      struct stat facts {};
      // Volumes made of API objects are read-only for containers.
      if (::lstat((volume + "/..data").c_str(), &facts) == 0) mount.read_only = true;
      TRY(mount.source, real_path(volume));  // of a hostPath: where its link leads, and the link is ours
      if (!sub.empty()) {
        TRY(mount.source, pin({mount.source, sub}, base::format("{}/places/{}", folder, mounts.size())));
      }
    }
    mounts.push_back(std::move(mount));
  }
  const auto add = [&](const std::string& source, const std::string& target, bool read_only) {
    for (const MountSpec& mount : mounts)
      if (mount.target == target) return;
    mounts.push_back({source, target, read_only});
  };
  add(pod + "/hosts", "/etc/hosts", false);
  add(pod + "/resolv.conf", "/etc/resolv.conf", false);
  add(pod + "/hostname", "/etc/hostname", false);
  TRY_VOID(rt::write_file(folder + "/termination-log", "", 0666));
  add(folder + "/termination-log", spec.termination_message_path, false);
  return mounts;
}

void release_mounts(const std::string& folder) {
  for (const std::string& name : list_folder(folder + "/places"))
    ::umount2((folder + "/places/" + name).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
}

}  // namespace node
