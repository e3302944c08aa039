// Choosing ranges, making namespaces, mounting with translated ids.
#include "node/os/user_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/format.h"
#include "node/os/command.h"
#include "node/os/pod_folders.h"
#include "node/os/runc/container_root.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"
#include "rt/tls/tls.h"

namespace node {

using base::Code;
using base::make_error;

namespace {

base::Error failed(std::string_view what) {
  return make_error(Code::kUnavailable, base::format("{}: {}", what, std::strerror(errno)));
}

// A process in namespaces of its own that waits until it is killed; it ends with us, too. Single-threaded, as the
// kernel demands of one that changes its user namespace.
class Holder {
 public:
  Holder() = default;
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    for (const int fd : {here_[0], here_[1], there_[0], there_[1]})
      if (fd >= 0) ::close(fd);
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  base::Status start() {
    if (::pipe2(here_, O_CLOEXEC) != 0 || ::pipe2(there_, O_CLOEXEC) != 0) return failed("pipe");
    pid_ = ::fork();
    if (pid_ < 0) return failed("fork");
    if (pid_ == 0) hold();
    ::close(std::exchange(here_[1], -1));
    ::close(std::exchange(there_[0], -1));
    int error = EPIPE;
    if (::read(here_[0], &error, sizeof error) != sizeof error || error != 0) {
      errno = error;
      return failed("new user, network and IPC namespaces");
    }
    return {};
  }
  std::string file(std::string_view name) const { return base::format("/proc/{}/{}", pid_, name); }

 private:
  // In the child, where nothing may be called that takes a lock.
  [[noreturn]] void hold() {
    ::close(there_[1]);
    const int error = ::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0 ? 0 : errno;
    char end = 0;
    if (::write(here_[1], &error, sizeof error) == sizeof error)
      while (::read(there_[0], &end, 1) < 0 && errno == EINTR) {
      }
    ::_exit(0);
  }

  pid_t pid_ = -1;
  int here_[2] = {-1, -1};   // the child says what came of it
  int there_[2] = {-1, -1};  // closed when we are gone
};

base::Status write_map(const std::string& path, std::int64_t first_id) {
  const rt::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const std::string line = base::format("0 {} {}\n", first_id, kPodIds);
  if (!file.is_open() || ::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    return failed(path);
  return {};
}

base::Status within(std::string_view what, base::Status status) {
  if (status.ok()) return status;
  return base::within(status.take_error(), what);
}

base::Status try_volume(const std::string& source, const MappedTrial& trial) {
  const std::string place = trial.scratch + "/place";
  TRY_VOID(mount_mapped({source, place, trial.scratch + "/user"}));
  ::umount2(place.c_str(), MNT_DETACH);
  return {};
}

base::Status try_root(const MappedTrial& trial) {
  const std::string user = trial.scratch + "/user";
  const std::string root = mapped_root(trial.roots, trial.scratch);
  TRY_VOID(mount_root({trial.lower, trial.scratch, root, user, kPodIdsBegin}));
  return must_run({"nsenter", "--user=" + user, "--setuid=0", "--setgid=0", "test", "-d", root + "/."});
}

base::Status try_all(const MappedTrial& trial) {
  const std::string& scratch = trial.scratch;
  const NamespaceFiles files{scratch + "/user", scratch + "/network", scratch + "/ipc"};
  for (const std::string* file : {&files.user, &files.network, &files.ipc}) TRY_VOID(rt::write_file(*file, "", 0600));
  TRY_VOID(within("namespaces", pin_namespaces(files, kPodIdsBegin)));
  for (const char* name : {"/memory", "/place"}) TRY_VOID(rt::make_folders(scratch + name, 0755));
  if (::mount("tmpfs", (scratch + "/memory").c_str(), "tmpfs", 0, "size=64k") != 0) return failed("tmpfs");
  TRY_VOID(within("volumes in memory", try_volume(scratch + "/memory", trial)));
  ::umount2((scratch + "/memory").c_str(), MNT_DETACH);
  TRY_VOID(within("volumes in the data folder", try_volume(scratch + "/memory", trial)));
  TRY_VOID(within("images", try_root(trial)));
  // As a container's first process does; refused where the machine hides parts of these from ourselves.
  return within("/proc and /sys", must_run({"unshare", "--user", "--map-root-user", "--net", "--pid", "--fork",
                                            "--mount", "--mount-proc", "mount", "-t", "sysfs", "sysfs", "/sys"}));
}

}  // namespace

std::optional<std::int64_t> choose_pod_ids(std::string_view pod_uid, const std::set<std::int64_t>& taken) {
  constexpr std::int64_t kRanges = (kPodIdsEnd - kPodIdsBegin) / kPodIds;
  const std::int64_t start = std::stoll(rt::sha256_hex(pod_uid).substr(0, 8), nullptr, 16);
  for (std::int64_t i = 0; i < kRanges; ++i) {
    const std::int64_t first = kPodIdsBegin + (start + i) % kRanges * kPodIds;
    if (!taken.contains(first)) return first;
  }
  return std::nullopt;
}

base::Status pin_namespaces(const NamespaceFiles& files, std::int64_t first_id) {
  Holder holder;
  TRY_VOID(holder.start());
  TRY_VOID(write_map(holder.file("uid_map"), first_id));
  TRY_VOID(write_map(holder.file("gid_map"), first_id));
  for (const auto& [name, path] : {std::pair<const char*, const std::string&>("ns/user", files.user),
                                   {"ns/net", files.network},
                                   {"ns/ipc", files.ipc}})
    if (::mount(holder.file(name).c_str(), path.c_str(), nullptr, MS_BIND, nullptr) != 0) return failed(path);
  return {};
}

base::Status mount_mapped(const MappedMount& mount) {
  const rt::Descriptor ids(::open(mount.user_file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!ids.is_open()) return failed(mount.user_file);
  const unsigned below = mount.below ? AT_RECURSIVE : 0;
  const rt::Descriptor tree(static_cast<int>(
      ::syscall(SYS_open_tree, AT_FDCWD, mount.source.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | below)));
  if (!tree.is_open()) return failed(mount.source);
  mount_attr changes{};
  changes.attr_set = MOUNT_ATTR_IDMAP | (mount.read_only ? MOUNT_ATTR_RDONLY : 0);
  changes.userns_fd = static_cast<std::uint64_t>(ids.get());
  if (::syscall(SYS_mount_setattr, tree.get(), "", AT_EMPTY_PATH | below, &changes, sizeof changes) != 0)
    return make_error(Code::kInvalid,
                      base::format("it cannot be mounted for a user namespace (ID-mapped): {}", std::strerror(errno)));
  if (::syscall(SYS_move_mount, tree.get(), "", AT_FDCWD, mount.at.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
    return failed(mount.at);
  return {};
}

std::string missing_for_user_namespaces(const MappedTrial& trial) {
  const auto clear = [&] {
    unmount_root(trial.scratch, mapped_root(trial.roots, trial.scratch));
    for (const char* name : {"/place", "/memory", "/user", "/network", "/ipc"})
      ::umount2((trial.scratch + name).c_str(), MNT_DETACH | UMOUNT_NOFOLLOW);
    remove_tree(trial.scratch);
  };
  clear();  // of one that was killed
  base::Status tried = rt::make_folders(trial.scratch, 0700);
  if (tried.ok()) tried = try_all(trial);
  clear();
  return tried.ok() ? std::string() : tried.error().message;
}

}  // namespace node
