// Opening, reading and writing them.
#include "colocation/files/host_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/format.h"
#include "base/number.h"
#include "base/trim.h"
#include "colocation/files/kernel_text.h"
#include "rt/files/rooted_files.h"

namespace colocation {

namespace {

constexpr long kUnifiedMagic = 0x63677270;  // CGROUP2_SUPER_MAGIC

base::Error failure(const char* verb, const std::string& path, int error) {
  const base::Code code = error == ENOENT || error == ENODEV                    ? base::Code::kNotFound
                          : error == EACCES || error == EPERM || error == EROFS ? base::Code::kForbidden
                                                                                : base::Code::kUnavailable;
  return base::make_error(code, base::format("cannot {} {}: {}", verb, path, std::strerror(error)));
}

// A pipe or a device would hold the reader up.
base::Result<rt::Descriptor> open_regular(const char* verb, const std::string& path, int flags) {
  rt::Descriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (!file.is_open()) return failure(verb, path, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return failure(verb, path, errno);
  if (!S_ISREG(facts.st_mode))
    return base::make_error(base::Code::kInvalid, base::format("cannot {} {}: no regular file", verb, path));
  return file;
}

std::string text_or_empty(const std::string& path) {
  auto text = read_host_file(path);
  return text.ok() ? *std::move(text) : std::string();
}

std::string driver_of_kubelet_process(const HostPaths& paths) {
  for (const std::string& pid : folders_in(paths.proc)) {
    if (!base::parse_number<int>(pid)) continue;
    const std::string folder = paths.proc + "/" + pid;
    if (base::trim(text_or_empty(folder + "/comm")) != "kubelet") continue;
    const std::string line = text_or_empty(folder + "/cmdline");
    if (std::string driver = named_driver(line); !driver.empty()) return driver;
    if (const std::string file = config_path(line); !file.empty()) return named_driver(text_or_empty(file));
  }
  return {};
}

GroupDriver find_driver(const HostPaths& paths, const std::function<std::string(const std::string&)>& variable) {
  std::string word = variable("CGROUP_DRIVER");
  if (word != "systemd" && word != "cgroupfs") word.clear();
  for (const std::string& path :
       {paths.kubelet + "/config.yaml", paths.etc + "/kubernetes/kubelet.conf", paths.kubelet + "/kubeadm-flags.env"})
    if (word.empty()) word = named_driver(text_or_empty(path));
  if (word.empty()) word = driver_of_kubelet_process(paths);
  const bool has_slices = is_folder(paths.groups + "/system.slice") || is_folder(paths.groups + "/systemd");
  if (word.empty() && has_slices) word = "systemd";
  return word == "systemd" ? GroupDriver::kSystemd : GroupDriver::kCgroupfs;
}

GroupVersion find_version(const HostPaths& paths, const std::function<std::string(const std::string&)>& variable) {
  const std::string word = variable("VOLCANO_TEST_CGROUP_VERSION");
  if (word == "v1" || word == "1") return GroupVersion::kV1;
  if (word == "v2" || word == "2") return GroupVersion::kV2;
  struct statfs facts {};
  const bool unified = ::statfs(paths.groups.c_str(), &facts) == 0 && facts.f_type == kUnifiedMagic;
  return unified ? GroupVersion::kV2 : GroupVersion::kV1;
}

}  // namespace

HostPaths host_paths(const std::function<std::string(const std::string&)>& variable) {
  const auto or_else = [&variable](const char* name, const std::string& otherwise) {
    std::string value = variable(name);
    return value.empty() ? otherwise : value;
  };
  HostPaths paths;
  const bool in_container = is_folder("/host/proc") || is_folder("/host/sys");
  const std::string host = in_container ? "/host" : "";
  paths.groups = or_else("SYS_FS_PATH", "/sys/fs") + "/cgroup";
  paths.kubelet = or_else("KUBELET_ROOT_DIR", paths.kubelet);
  paths.proc_stat = or_else("PROC_STAT_PATH", host + paths.proc_stat);
  paths.meminfo = or_else("MEM_INFO_PATH_ENV", host + paths.meminfo);
  // Stalls are those of the machine in any process's /proc.
  if (is_folder(host + paths.pressure)) paths.pressure = host + paths.pressure;
  paths.etc = host + paths.etc;
  return paths;
}

base::Result<std::string> read_host_file(const std::string& path) {
  TRY(const rt::Descriptor file, open_regular("read", path, O_RDONLY));
  std::string text;
  char block[4096];
  while (true) {
    const ssize_t got = ::read(file.get(), block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure("read", path, errno);
    if (got == 0) return text;
    text.append(block, static_cast<std::size_t>(got));
    if (text.size() > kFileBytesMax)
      return base::make_error(base::Code::kTooLarge,
                              base::format("cannot read {}: more than {} bytes", path, kFileBytesMax));
  }
}

base::Status write_host_file(const std::string& path, std::string_view content) {
  TRY(const rt::Descriptor file, open_regular("write", path, O_WRONLY | O_TRUNC));
  const ssize_t written = ::write(file.get(), content.data(), content.size());
  if (written == static_cast<ssize_t>(content.size())) return {};
  return failure("write", path, written < 0 ? errno : EIO);
}

std::vector<std::string> folders_in(const std::string& path) {
  constexpr std::size_t kEntriesMax = 65'536;
  std::vector<std::string> names;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return names;
  std::size_t seen = 0;
  while (const dirent* entry = ::readdir(folder)) {
    if (++seen > kEntriesMax) break;
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat facts {};
    if (::lstat((path + "/" + name).c_str(), &facts) == 0 && S_ISDIR(facts.st_mode)) names.push_back(name);
  }
  ::closedir(folder);
  std::ranges::sort(names);
  return names;
}

bool is_folder(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

GroupTree find_group_tree(const HostPaths& paths, const std::function<std::string(const std::string&)>& variable,
                          const std::string& kube_cgroup_root) {
  GroupTree tree;
  tree.version = find_version(paths, variable);
  tree.driver = find_driver(paths, variable);
  tree.root = paths.groups;
  tree.above = kube_cgroup_root;
  return tree;
}

}  // namespace colocation
