// Reading and writing a pod's folder.
#include "node/os/pod_folders.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "api/json.h"
#include "base/format.h"
#include "node/os/cri_log.h"
#include "node/os/proc.h"
#include "rt/files.h"

namespace node {

using api::Json;

std::vector<std::string> list_folder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  ::closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

void remove_below(int parent, const char* name, dev_t device) {
  const int fd = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    ::unlinkat(parent, name, 0);
    return;
  }
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || facts.st_dev != device) {
    ::close(fd);
    return;  // a mount: what is below is not ours to delete
  }
  DIR* folder = ::fdopendir(fd);
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string child = entry->d_name;
    if (child != "." && child != "..") names.push_back(child);
  }
  for (const std::string& child : names) remove_below(fd, child.c_str(), device);
  ::closedir(folder);
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

int number_of(const std::string& text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void remove_tree(const std::string& path) {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return;
  struct stat above {};
  const std::string parent = path.substr(0, path.rfind('/'));
  // A mount point itself is left alone, too.
  if (::stat(parent.c_str(), &above) == 0 && above.st_dev != facts.st_dev) return;
  remove_below(AT_FDCWD, path.c_str(), facts.st_dev);
}

std::string read_text(const std::string& path) {
  auto text = rt::read_file(path);
  return text.ok() ? std::move(*text) : std::string();
}

std::string resolve_mount(const PodFolders& folders, const std::string& pod_uid, const std::string& source) {
  static constexpr std::string_view kVolume = "volume:";
  if (!source.starts_with(kVolume)) return source;
  return folders.volumes(pod_uid) + "/" + source.substr(kVolume.size());
}

std::string PodFolders::container(const std::string& uid, const std::string& name, int attempt) const {
  return base::format("{}/containers/{}/{}", pod(uid), name, attempt);
}
std::string PodFolders::log(const std::string& uid, const std::string& name, int attempt) const {
  return base::format("{}/logs/{}/{}.log", pod(uid), name, attempt);
}

base::Status PodFolders::write_pod(const SandboxSpec& spec, const std::string& ip) const {
  const Json json =
      Json::object({{"namespace", spec.ns},
                    {"name", spec.name},
                    {"ip", ip},
                    {"hostname", spec.set_hostname_as_fqdn && !spec.fqdn.empty() ? spec.fqdn : spec.hostname},
                    {"hostNetwork", spec.host_network},
                    {"hostPID", spec.host_pid},
                    {"hostIPC", spec.host_ipc}});
  return rt::write_file(pod(spec.uid) + "/pod.json", json.dump(), 0600);
}

base::Status PodFolders::write_started(const std::string& folder, const std::string& id, base::Time at) const {
  TRY_VOID(rt::write_file(folder + "/id", id, 0600));
  return rt::write_file(folder + "/started", std::to_string(at.ns), 0600);
}

std::string PodFolders::find_container(const std::string& uid, const std::string& id) const {
  const std::string base_folder = pod(uid) + "/containers";
  for (const std::string& name : list_folder(base_folder))
    for (const std::string& attempt : list_folder(base_folder + "/" + name)) {
      const std::string folder = base_folder + "/" + name + "/" + attempt;
      if (read_text(folder + "/id") == id) return folder;
    }
  return {};
}

std::string PodFolders::log_tail(const std::string& folder) const {
  // pods/UID/containers/NAME/ATTEMPT -> pods/UID/logs/NAME/ATTEMPT.log
  const std::size_t at = folder.rfind("/containers/");
  if (at == std::string::npos) return {};
  const int fd =
      ::open((folder.substr(0, at) + "/logs/" + folder.substr(at + 12) + ".log").c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text(16384, '\0');
  struct stat facts {};
  ::fstat(fd, &facts);
  const ssize_t got =
      ::pread(fd, text.data(), text.size(), std::max<off_t>(0, facts.st_size - static_cast<off_t>(text.size())));
  ::close(fd);
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    CriLine line;
    if (parse_cri_line(std::string_view(text).substr(begin, end - begin), line))
      lines.push_back(std::string(line.text) + (line.partial ? "" : "\n"));
  }
  std::string out;
  for (std::size_t i = lines.size() > 80 ? lines.size() - 80 : 0; i < lines.size(); ++i) out += lines[i];
  return out.size() > 2048 ? out.substr(out.size() - 2048) : out;
}

std::vector<RecoveredContainer> PodFolders::containers_of(const std::string& uid, const Exits& exits) const {
  std::vector<RecoveredContainer> found;
  const std::string base_folder = pod(uid) + "/containers";
  for (const std::string& name : list_folder(base_folder)) {
    std::vector<int> attempts;
    for (const std::string& text : list_folder(base_folder + "/" + name))
      if (const int attempt = number_of(text); attempt >= 0) attempts.push_back(attempt);
    std::sort(attempts.begin(), attempts.end());
    for (const int attempt : attempts) {
      const std::string folder = container(uid, name, attempt);
      RecoveredContainer run{.name = name, .attempt = attempt};
      run.id = read_text(folder + "/id");
      const std::string started = read_text(folder + "/started");
      run.started = !started.empty();
      std::from_chars(started.data(), started.data() + started.size(), run.started_at.ns);
      ExitedContainer exit;
      if (!run.id.empty() && exits.read(run.id, exit, folder + "/oom")) {
        run.exit_code = exit.exit_code;
        run.finished_at = exit.finished;
        run.out_of_memory = exit.out_of_memory;
      } else if (described_process(read_text(folder + "/monitor")) != 0) {
        run.running = run.started;
      } else {
        run.lost = true;
        run.exit_code = 137;
        run.finished_at = run.started_at;
      }
      found.push_back(std::move(run));
    }
  }
  return found;
}

std::vector<RecoveredPod> PodFolders::recover(const Exits& exits) const {
  std::vector<RecoveredPod> pods_found;
  for (const std::string& uid : list_folder(pods())) {
    RecoveredPod found{.uid = uid};
    if (const auto json = api::parse_json(read_text(pod(uid) + "/pod.json")); json.ok()) {
      found.ns = (*json)["namespace"].str();
      found.name = (*json)["name"].str();
      found.ip = (*json)["ip"].str();
      found.prepared = true;
    }
    found.containers = containers_of(uid, exits);
    pods_found.push_back(std::move(found));
  }
  return pods_found;
}

}  // namespace node
