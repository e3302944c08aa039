// Reading and writing a pod's folder.
#include "node/os/pod_folders.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <map>
#include <set>

#include "api/json/json.h"
#include "base/format.h"
#include "base/log.h"
#include "node/machine/container_text.h"
#include "node/os/network/network.h"
#include "node/os/proc.h"
#include "node/os/user_namespace.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"

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

constexpr std::size_t kTextMax = std::size_t{256} << 20;

int number_of(const std::string& text) {
  int value = -1;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

void remove_tree(const std::string& path) {
  if (const base::Status removed = rt::remove_tree(path); !removed.ok())
    base::log_warning("node", removed.error().message);
}

std::string read_text(const std::string& path) {
  // A path that is not a file, such as a pipe that somebody has put there, is not waited for.
  auto text = rt::read_bounded_file(path, kTextMax, {});
  return text.ok() ? std::move(*text) : std::string();
}

std::string PodFolders::container(const std::string& uid, const std::string& name, int attempt) const {
  return base::format("{}/containers/{}/{}", pod(uid), name, attempt);
}
std::string PodFolders::log(const std::string& uid, const std::string& name, int attempt) const {
  return base::format("{}/logs/{}/{}.log", pod(uid), name, attempt);
}

std::optional<std::int64_t> PodFolders::first_id(const std::string& uid) const {
  const std::string text = read_text(pod(uid) + "/ids");
  std::int64_t first = 0;
  std::from_chars(text.data(), text.data() + text.size(), first);
  if (first < kPodIdsBegin || first >= kPodIdsEnd || first % kPodIds != 0) return std::nullopt;
  return first;
}

base::Status PodFolders::give_ids(const std::string& uid) const {
  if (first_id(uid)) return {};
  std::set<std::int64_t> taken;
  for (const std::string& other : list_folder(pods()))
    if (const auto first = first_id(other)) taken.insert(*first);
  const auto first = choose_pod_ids(uid, taken);
  if (!first) return base::make_error(base::Code::kUnavailable, "no ids are left for another user namespace");
  return rt::write_file(pod(uid) + "/ids", std::to_string(*first), 0600);
}

base::Status PodFolders::write_pod(const SandboxSpec& spec, const std::string& ip, const std::string& group) const {
  Json json = Json::object({{"namespace", spec.ns},
                            {"name", spec.name},
                            {"ip", ip},
                            {"hostname", spec.set_hostname_as_fqdn && !spec.fqdn.empty() ? spec.fqdn : spec.hostname},
                            {"hostUsers", spec.host_users},
                            {"hostNetwork", spec.host_network},
                            {"hostPID", spec.host_pid},
                            {"shareProcesses", spec.share_processes},
                            {"hostIPC", spec.host_ipc},
                            {"handler", spec.handler},
                            {"boot", boot_id()},
                            {"group", group}});
  Json in_memory = Json::array(), first_attempts = Json::object();
  for (const VolumeSpec& volume : spec.volumes)
    if (volume.kind == VolumeSpec::Kind::kEmptyDir && (volume.memory || volume.huge_page_bytes > 0))
      in_memory.push_back(volume.name);
  for (const auto& [name, attempt] : spec.first_attempts) first_attempts.set(name, attempt);
  json.set("inMemory", std::move(in_memory));
  json.set("firstAttempts", std::move(first_attempts));
  return rt::write_file(pod(spec.uid) + "/pod.json", json.dump(), 0600);
}

namespace {

bool is_mounted(const std::string& path) {
  struct stat mine {
  }, above{};
  return ::stat(path.c_str(), &mine) == 0 && ::stat(path.substr(0, path.rfind('/')).c_str(), &above) == 0 &&
         mine.st_dev != above.st_dev;
}

// A container of the sandbox ended and nobody saw how, and none runs: that is how a loss of power looks, and the end of
// all that watches over the pod.
bool has_lost_its_containers(const RecoveredPod& pod) {
  bool running = false;
  std::map<std::string_view, bool> lost;  // of the last attempt, by container
  for (const RecoveredContainer& run : pod.containers) {
    const auto first = pod.first_attempts.find(run.name);
    if (!run.started || (first != pod.first_attempts.end() && run.attempt < first->second)) continue;
    running |= run.running;
    lost[run.name] = run.lost;
  }
  return !running && std::ranges::any_of(lost, [](const auto& one) { return one.second; });
}

}  // namespace

std::string PodFolders::missing_of_sandbox(const std::string& uid, const CgroupLayout& cgroups) const {
  const std::string folder = pod(uid);
  const auto json = api::parse_json(read_text(folder + "/pod.json"));
  if (!json.ok()) return "its description";
  if (const std::string boot = (*json)["boot"].str(); !boot.empty() && boot != boot_id()) return "all, by a reboot";
  const std::string group = (*json)["group"].str();
  if (!group.empty() && !has_cgroup(cgroups, group)) return "the control group";
  // Only a pod that has a control group has namespaces; plain processes have neither.
  if (!group.empty() && !(*json)["hostNetwork"].as_bool()) {
    if (!is_namespace_file(folder + "/netns")) return "the network namespace";
    if (!is_namespace_file(folder + "/ipcns")) return "the IPC namespace";
    if (first_id(uid) && !is_namespace_file(user_namespace(uid))) return "the user namespace";
  }
  for (const Json& name : (*json)["inMemory"].items())
    if (!is_mounted(volumes(uid) + "/" + name.str())) return base::format("the volume {} in memory", name.as_string());
  const std::string keeper = read_text(folder + "/sandbox/pid");
  if (!keeper.empty() && described_process(keeper) == 0) return "the process namespace";
  return {};
}

base::Status PodFolders::write_started(const std::string& folder, const std::string& id, base::Time at) const {
  TRY_VOID(rt::write_file(folder + "/id", id, 0600));
  return rt::write_file(folder + "/started", std::to_string(at.ns), 0600);
}

int PodFolders::stop_signal(const std::string& folder) const {
  const int number = number_of(read_text(folder + "/stop-signal"));
  return number >= 1 && number <= 64 ? number : SIGTERM;
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
  const auto end = rt::read_rooted_tail({folder.substr(0, at) + "/logs", folder.substr(at + 12) + ".log"}, 65536);
  return end.ok() ? log_tail_text(*end) : std::string();
}

RecoveredContainer PodFolders::read_run(const std::string& folder, const Exits& exits) const {
  RecoveredContainer run;
  run.id = read_text(folder + "/id");
  const std::string started = read_text(folder + "/started");
  std::from_chars(started.data(), started.data() + started.size(), run.started_at.ns);
  // The order matters: a monitor writes the exit before it ends, so one that is gone has written all that it will.
  const bool monitored = described_process(read_text(folder + "/monitor")) != 0;
  ExitedContainer exit;
  const bool ended = !run.id.empty() && exits.read(run.id, exit, folder + "/oom");
  // A container that was made, but not let go, waits at this FIFO of the runtime.
  const bool held = !run.id.empty() && ::access((runtime_state(run.id) + "/exec.fifo").c_str(), F_OK) == 0;
  const bool had_process = ended || monitored || ::access((folder + "/pid").c_str(), F_OK) == 0;
  run.started = !started.empty() && !held && had_process;
  if (ended) {
    run.exit_code = exit.exit_code;
    run.finished_at = exit.finished;
    run.out_of_memory = exit.out_of_memory;
  } else if (monitored) {
    run.running = run.started;
  } else {
    run.lost = true;
    run.exit_code = 137;
    run.finished_at = run.started_at;
  }
  return run;
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
      RecoveredContainer run = read_run(container(uid, name, attempt), exits);
      run.name = name;
      run.attempt = attempt;
      found.push_back(std::move(run));
    }
  }
  return found;
}

std::vector<RecoveredPod> PodFolders::recover(const Exits& exits, const CgroupLayout& cgroups) const {
  std::vector<RecoveredPod> pods_found;
  for (const std::string& uid : list_folder(pods())) {
    RecoveredPod found{.uid = uid};
    if (const auto json = api::parse_json(read_text(pod(uid) + "/pod.json")); json.ok()) {
      found.ns = (*json)["namespace"].str();
      found.name = (*json)["name"].str();
      found.ip = (*json)["ip"].str();
      for (const Json::Member& member : (*json)["firstAttempts"].members())
        found.first_attempts[std::string(member.name())] = static_cast<int>(member.value.as_int());
    }
    found.containers = containers_of(uid, exits);
    found.prepared = missing_of_sandbox(uid, cgroups).empty() && !has_lost_its_containers(found);
    pods_found.push_back(std::move(found));
  }
  return pods_found;
}

}  // namespace node
