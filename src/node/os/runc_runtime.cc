// How containers are made, started and cleared away.
#include "node/os/runc_runtime.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/format.h"
#include "base/log.h"
#include "node/os/command.h"
#include "node/os/cri_log.h"
#include "node/os/oci_bundle.h"
#include "node/os/proc.h"
#include "node/os/process_runtime.h"
#include "node/os/volume_folders.h"
#include "rt/files.h"
#include "rt/tls.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

std::string missing_for_containers(const Options& options) {
  if (::geteuid() != 0) return "root";
  for (const std::string& program :
       {options.runc, options.conmon, std::string("ip"), std::string("unshare"), std::string("nsenter")})
    if (find_program(program).empty()) return program;
  if (cgroup_layout(read_text("/proc/self/mountinfo")).v1.empty() &&
      cgroup_layout(read_text("/proc/self/mountinfo")).v2.empty())
    return "control groups";
  return {};
}

RuncRuntime::RuncRuntime(Options options)
    : options_(std::move(options)), folders_(options_.data_dir), images_(options_.data_dir + "/images") {
  cgroup_ = "/volcano-" + rt::sha256_hex(options_.data_dir).substr(0, 8);
}

base::Result<std::vector<RecoveredPod>> RuncRuntime::open(OnExit on_exit) {
  if (options_.data_dir.find_first_of(",:\\\"") != std::string::npos)
    return make_error(
        Code::kInvalid,
        base::format("data directory {}: overlay mounts cannot have , : \\ or \" in their path", options_.data_dir));
  TRY_VOID(rt::make_folders(folders_.pods(), 0711));
  TRY_VOID(exits_.open(folders_.exits(), std::move(on_exit)));
  runc_ = find_program(options_.runc);
  conmon_ = find_program(options_.conmon);
  if (const auto said = run_command({runc_, "--version"}); said.ok())
    version_ = said->out.substr(13, said->out.find('\n') - 13);
  cgroups_ = cgroup_layout(read_text("/proc/self/mountinfo"));
  images_.sweep();
  TRY_VOID(network_.open(options_.data_dir, options_.bridge_subnet));
  std::vector<RecoveredPod> pods = folders_.recover(exits_);
  bool any = false;
  for (const RecoveredPod& pod : pods) {
    if (!pod.ip.empty()) network_.take(pod.ip);
    for (const RecoveredContainer& run : pod.containers) {
      if (!run.running) continue;
      any = true;
      const std::string folder = folders_.container(pod.uid, run.name, run.attempt);
      exits_.watch(run.id, read_text(folder + "/monitor"), folder + "/oom");
    }
  }
  // Pods that live on go on asking for names.
  if (any) TRY_VOID(ensure_network());
  return pods;
}

std::optional<std::string> RuncRuntime::refusal(const Json& pod) const {
  const Json& spec = pod["spec"];
  if (spec["shareProcessNamespace"].as_bool()) return "shareProcessNamespace is not supported on this node";
  if (spec.has("runtimeClassName") && !spec["runtimeClassName"].as_string().empty())
    return "runtimeClassName is not supported on this node";
  return std::nullopt;
}

bool RuncRuntime::image_present(const std::string& image) const {
  return options_.host_rootfs || images_.find(image).has_value();
}

base::Result<ImageAnswer> RuncRuntime::ensure_image(const std::string& image, PullPolicy policy) {
  const auto found = images_.find(image);
  // What somebody imported under a name is what that name means here, whatever a registry has.
  if (found && (policy != PullPolicy::kAlways || found->imported)) return ImageAnswer{found->id, false, found->bytes};
  if (!found && options_.host_rootfs) {
    ImageAnswer answer;
    answer.note = base::format("Image \"{}\" is not imported: the host's root file system stands in for it", image);
    return answer;
  }
  if (policy == PullPolicy::kNever)
    return make_error(Code::kNotFound,
                      base::format("Container image \"{}\" is not present with pull policy of Never", image));
  auto pulled = images_.pull(image, base::format_rfc3339(wall_clock()));
  if (pulled.ok()) return ImageAnswer{pulled->id, true, pulled->bytes};
  if (found)
    return ImageAnswer{found->id, false, found->bytes,
                       base::format("Container image \"{}\" already present on machine, and no registry answers: {}",
                                    image, pulled.error().message)};
  return make_error(Code::kUnavailable, pulled.error().message);
}

base::Status RuncRuntime::ensure_network() {
  TRY_VOID(network_.ensure_bridge());
  const std::lock_guard lock(mutex_);
  if (std::exchange(name_server_tried_, true)) return {};
  auto server = start_name_server(network_.gateway(), read_text("/etc/resolv.conf"));
  if (!server.ok()) {
    base::log_warning("node", server.error().message + "; pods cannot look up names of services");
    return {};
  }
  name_server_ = std::move(*server);
  if (names_) name_server_->set_names(names_);
  return {};
}

void RuncRuntime::set_names(std::shared_ptr<const NameTable> names) {
  const std::lock_guard lock(mutex_);
  names_ = std::move(names);
  if (name_server_) name_server_->set_names(names_);
}

base::Status RuncRuntime::write_pod_files(const SandboxSpec& spec, const std::string& ip) {
  const std::string folder = folders_.pod(spec.uid);
  std::string hosts;
  if (spec.host_network) {
    hosts = read_text("/etc/hosts");
  } else {
    hosts =
        "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost "
        "ip6-loopback\nfe00::0\tip6-localnet\n"
        "fe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n";
    hosts += spec.fqdn.empty() ? base::format("{}\t{}\n", ip, spec.hostname)
                               : base::format("{}\t{}\t{}\n", ip, spec.fqdn, spec.hostname);
  }
  if (!spec.host_aliases.empty()) hosts += "\n# Entries added by HostAliases.\n";
  for (const auto& [address, names] : spec.host_aliases) {
    hosts += address;
    for (const std::string& name : names) hosts += "\t" + name;
    hosts += "\n";
  }
  std::string resolv = spec.resolv_conf.empty() ? read_text("/etc/resolv.conf") : spec.resolv_conf;
  static constexpr std::string_view kPlace = "@NAMESERVER@";
  if (const std::size_t at = resolv.find(kPlace); at != std::string::npos)
    resolv.replace(at, kPlace.size(), network_.gateway());
  TRY_VOID(rt::write_file(folder + "/hosts", hosts, 0644));
  TRY_VOID(rt::write_file(folder + "/resolv.conf", resolv, 0644));
  return rt::write_file(folder + "/hostname", spec.hostname + "\n", 0644);
}

base::Result<std::string> RuncRuntime::prepare(const SandboxSpec& spec) {
  const std::string folder = folders_.pod(spec.uid);
  TRY_VOID(rt::make_folders(folders_.volumes(spec.uid), 0711));
  ::chmod(folder.c_str(), 0711);
  for (const VolumeSpec& volume : spec.volumes)
    TRY_VOID(lay_out_volume(folders_.volumes(spec.uid) + "/" + volume.name, volume));
  std::string ip = options_.host_ip;
  TRY_VOID(ensure_network());
  if (!spec.host_network) {
    TRY(ip, network_.connect(spec.uid, folder + "/netns", folder + "/ipcns", spec.address));
  }
  TRY_VOID(make_pod_cgroup(cgroups_, pod_cgroup(spec.uid),
                           {spec.cpu_request_milli, spec.cpu_limit_milli, spec.memory_limit_bytes}));
  TRY_VOID(write_pod_files(spec, ip));
  SandboxSpec kept = spec;
  // A pod on the host's network goes by the host's name.
  if (spec.host_network) kept.hostname = read_machine_facts(options_.data_dir).hostname;
  TRY_VOID(folders_.write_pod(kept, ip));
  return ip;
}

base::Status RuncRuntime::update_volume(const std::string& pod_uid, const VolumeSpec& volume) {
  return lay_out_volume(folders_.volumes(pod_uid) + "/" + volume.name, volume);
}

base::Status RuncRuntime::mount_root(const ContainerSpec& spec, const std::string& folder, ImageConfig& image) {
  std::string lower = "/";
  if (const auto found = images_.find(spec.image)) {
    lower = found->root;
    image = image_config_from(found->config);
  } else if (!options_.host_rootfs) {
    return make_error(Code::kNotFound, base::format("image {:?} is no longer in the store", spec.image));
  }
  const auto mount_below = [&](const std::string& base_folder) {
    for (const char* name : {"/upper", "/work"}) ::mkdir((base_folder + name).c_str(), 0755);
    ::chmod((base_folder + "/upper").c_str(), 0755);
    const std::string options =
        base::format("lowerdir={},upperdir={}/upper,workdir={}/work", lower, base_folder, base_folder);
    return ::mount("overlay", (folder + "/rootfs").c_str(), "overlay", 0, options.c_str()) == 0;
  };
  TRY_VOID(rt::make_folders(folder + "/rootfs", 0755));
  if (mount_below(folder)) return {};
  // A file system that cannot be the upper side (an overlay, for one): changes go to memory then.
  const int first = errno;
  TRY_VOID(rt::make_folders(folder + "/scratch", 0755));
  if (::mount("tmpfs", (folder + "/scratch").c_str(), "tmpfs", 0, "mode=755") == 0 && mount_below(folder + "/scratch"))
    return {};
  return make_error(Code::kUnavailable, base::format("cannot mount the root file system: {}", std::strerror(first)));
}

base::Result<std::vector<MountSpec>> RuncRuntime::mounts_for(const ContainerSpec& spec, const std::string& folder) {
  std::vector<MountSpec> mounts;
  const std::string pod = folders_.pod(spec.pod_uid);
  for (MountSpec mount : spec.mounts) {
    static constexpr std::string_view kVolume = "volume:";
    std::string_view rest = mount.source;
    if (rest.starts_with(kVolume)) {
      rest.remove_prefix(kVolume.size());
      const std::size_t slash = rest.find('/');
      const std::string volume = folders_.volumes(spec.pod_uid) + "/" + std::string(rest.substr(0, slash));
      const std::string sub(slash == std::string_view::npos ? "" : rest.substr(slash + 1));
      struct stat facts {};
      // Volumes made of API objects are read-only for containers.
      if (::lstat((volume + "/..data").c_str(), &facts) == 0) mount.read_only = true;
      TRY(mount.source, volume_path(volume, sub));
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

namespace {

// conmon's one line: {"pid": 12} or {"pid": -1, "message": "..."}.
base::Status read_sync(int fd) {
  std::string text;
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, 60'000);
    if (ready == 0) return make_error(Code::kTimeout, "the container was not made within a minute");
    if (ready < 0 && errno == EINTR) continue;
    char buffer[4096];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer, static_cast<std::size_t>(got));
    if (text.find('\n') != std::string::npos) break;
  }
  const auto json = api::parse_json(text);
  if (!json.ok()) return make_error(Code::kInternal, base::format("conmon gave no answer {}", text));
  if ((*json)["pid"].as_int(-1) > 0 || (*json)["data"].as_int(-1) > 0) return {};
  return make_error(Code::kInternal, (*json)["message"].str());
}

// runc writes log lines; the last error is the reason.
std::string last_error_of(const std::string& text) {
  std::string found;
  std::size_t begin = 0;
  while (begin < text.size()) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    const std::string line = text.substr(begin, end - begin);
    if (const auto json = api::parse_json(line); json.ok() && (*json)["level"].as_string() == "error")
      found = (*json)["msg"].str();
    begin = end + 1;
  }
  return found;
}

}  // namespace

base::Status RuncRuntime::launch(const ContainerSpec& spec, const std::string& folder, const std::string& log) {
  int sync[2];
  if (::pipe2(sync, O_CLOEXEC) != 0) return make_error(Code::kUnavailable, std::strerror(errno));
  const std::string state = options_.data_dir + "/runc";
  const std::vector<std::string> words{conmon_,
                                       "-b",
                                       folder,
                                       "-c",
                                       spec.id,
                                       "-u",
                                       spec.id,
                                       "-n",
                                       spec.name,
                                       "-r",
                                       runc_,
                                       "--runtime-arg",
                                       "--root=" + state,
                                       "--runtime-arg",
                                       "--log=" + folder + "/runc.log",
                                       "--runtime-arg",
                                       "--log-format=json",
                                       "-p",
                                       folder + "/pidfile",
                                       "-P",
                                       folder + "/conmon.pid",
                                       "-l",
                                       "k8s-file:" + log,
                                       "--exit-dir",
                                       folders_.exits(),
                                       "--persist-dir",
                                       folder,
                                       "--full-attach",
                                       "--log-level",
                                       "error",
                                       "--log-size-max",
                                       std::to_string(kLogBytesMax)};
  CommandOptions options;
  options.environment = {"_OCI_SYNCPIPE=3", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"};
  options.keep_fd = sync[1];
  options.output_path = folder + "/conmon.log";
  // It leaves a file "oom" where it runs. Its other paths are ours, so they have to be absolute for this.
  if (folder.starts_with('/')) options.folder = folder;
  auto ran = run_command(words, options);
  ::close(sync[1]);
  base::Status made = ran.ok() ? read_sync(sync[0]) : base::Status(ran.error());
  ::close(sync[0]);
  if (!made.ok()) {
    const std::string reason = last_error_of(read_text(folder + "/runc.log"));
    return make_error(Code::kInternal, reason.empty() ? made.error().message : reason);
  }
  const pid_t pid = static_cast<pid_t>(std::atoi(read_text(folder + "/pidfile").c_str()));
  const pid_t monitor = static_cast<pid_t>(std::atoi(read_text(folder + "/conmon.pid").c_str()));
  TRY_VOID(rt::write_file(folder + "/pid", describe_process(pid), 0600));
  TRY_VOID(rt::write_file(folder + "/monitor", describe_process(monitor), 0600));
  base::Status started =
      must_run({runc_, "--root=" + state, "--log=" + folder + "/runc.log", "--log-format=json", "start", spec.id});
  if (started.ok()) return {};
  const std::string reason = last_error_of(read_text(folder + "/runc.log"));
  return make_error(Code::kInternal, reason.empty() ? started.error().message : reason);
}

base::Result<StartedContainer> RuncRuntime::start(const ContainerSpec& spec) {
  const std::string folder = folders_.container(spec.pod_uid, spec.name, spec.attempt);
  if (spec.attempt >= 2) {
    ::unlink(folders_.log(spec.pod_uid, spec.name, spec.attempt - 2).c_str());
    remove_tree(folders_.container(spec.pod_uid, spec.name, spec.attempt - 2));
  }
  if (spec.attempt >= 1) {
    const std::string before = folders_.container(spec.pod_uid, spec.name, spec.attempt - 1);
    clear_container(before, read_text(before + "/id"));
  }
  clear_container(folder, spec.id);
  remove_tree(folder);
  exits_.forget(spec.id);
  TRY_VOID(rt::make_folders(folder, 0711));
  const std::string log = folders_.log(spec.pod_uid, spec.name, spec.attempt);
  TRY_VOID(rt::make_folders(log.substr(0, log.rfind('/')), 0700));
  const auto pod = api::parse_json(read_text(folders_.pod(spec.pod_uid) + "/pod.json"));
  if (!pod.ok()) return make_error(Code::kInternal, "the pod's folder is incomplete");
  const auto made = [&]() -> base::Status {
    BundleInput input;
    TRY_VOID(mount_root(spec, folder, input.image));
    input.spec = &spec;
    input.root = folder + "/rootfs";
    TRY(input.user,
        resolve_user(spec, input.image, read_text(input.root + "/etc/passwd"), read_text(input.root + "/etc/group")));
    input.hostname = (*pod)["hostname"].str();
    if (!(*pod)["hostNetwork"].as_bool()) {
      input.network_namespace = folders_.pod(spec.pod_uid) + "/netns";
      if (!(*pod)["hostIPC"].as_bool()) input.ipc_namespace = folders_.pod(spec.pod_uid) + "/ipcns";
    }
    input.own_ipc = !(*pod)["hostIPC"].as_bool();
    input.host_pid = (*pod)["hostPID"].as_bool();
    const std::string status = read_text("/proc/self/status");
    if (const std::size_t at = status.find("CapBnd:"); at != std::string::npos)
      input.capabilities = std::strtoull(status.c_str() + at + 7, nullptr, 16);
    input.cgroup_path = pod_cgroup(spec.pod_uid) + "/" + spec.id;
    TRY(input.mounts, mounts_for(spec, folder));
    TRY(const Json bundle, make_bundle(input));
    TRY_VOID(rt::write_file(folder + "/config.json", bundle.dump(), 0600));
    TRY_VOID(rt::write_file(folder + "/id", spec.id, 0600));
    return launch(spec, folder, log);
  }();
  if (!made.ok()) {
    clear_container(folder, spec.id);
    return made.error();
  }
  const base::Time now = wall_clock();
  TRY_VOID(folders_.write_started(folder, spec.id, now));
  exits_.watch(spec.id, read_text(folder + "/monitor"), folder + "/oom");
  return StartedContainer{now};
}

void RuncRuntime::signal(const std::string& pod_uid, const std::string& container_id, int signal) {
  const std::string folder = folders_.find_container(pod_uid, container_id);
  if (folder.empty()) return;
  if (const pid_t pid = described_process(read_text(folder + "/pid")); pid != 0) ::kill(pid, signal);
}

// Ends what runs, and takes the root file system and the runtime's record away. The log and the exit code stay.
void RuncRuntime::clear_container(const std::string& folder, const std::string& id) {
  if (!id.empty() && ::access(folder.c_str(), F_OK) == 0) {
    if (const pid_t pid = described_process(read_text(folder + "/pid")); pid != 0) ::kill(pid, SIGKILL);
    if (::access((options_.data_dir + "/runc/" + id).c_str(), F_OK) == 0)
      (void)run_command({runc_, "--root=" + options_.data_dir + "/runc", "delete", "--force", id});
    for (int wait = 0; wait < 200 && described_process(read_text(folder + "/monitor")) != 0; ++wait) ::usleep(10'000);
    if (const pid_t monitor = described_process(read_text(folder + "/monitor")); monitor != 0) ::kill(monitor, SIGKILL);
  }
  ::umount2((folder + "/rootfs").c_str(), MNT_DETACH);
  ::umount2((folder + "/scratch").c_str(), MNT_DETACH);
  for (const char* name : {"/upper", "/work", "/rootfs", "/scratch"}) remove_tree(folder + name);
}

void RuncRuntime::remove(const std::string& pod_uid, bool logs_too) {
  const std::string pod = folders_.pod(pod_uid);
  if (::access(pod.c_str(), F_OK) != 0) return;
  for (const RecoveredContainer& run : folders_.containers_of(pod_uid, exits_)) {
    clear_container(folders_.container(pod_uid, run.name, run.attempt), run.id);
    if (logs_too && !run.id.empty()) exits_.forget(run.id);
  }
  const auto json = api::parse_json(read_text(pod + "/pod.json"));
  network_.disconnect(pod_uid, pod + "/netns", pod + "/ipcns",
                      json.ok() && !(*json)["hostNetwork"].as_bool() ? (*json)["ip"].str() : std::string());
  take_down_volumes(folders_.volumes(pod_uid));
  remove_tree(folders_.volumes(pod_uid));
  remove_cgroup(cgroups_, pod_cgroup(pod_uid));
  if (logs_too) remove_tree(pod);
}

std::string RuncRuntime::termination_message(const std::string& pod_uid, const std::string& container_id,
                                             bool or_log) const {
  const std::string folder = folders_.find_container(pod_uid, container_id);
  if (folder.empty()) return {};
  std::string text = read_text(folder + "/termination-log");
  if (text.size() > 4096) text = text.substr(text.size() - 4096);
  return text.empty() && or_log ? folders_.log_tail(folder) : text;
}

void RuncRuntime::close(bool leave_pods) {
  images_.cancel();
  exits_.close();
  {
    const std::lock_guard lock(mutex_);
    name_server_.reset();
  }
  if (leave_pods) return;
  for (const std::string& uid : list_folder(folders_.pods())) remove(uid, false);
  network_.close();
  remove_cgroup(cgroups_, cgroup_);
}

}  // namespace node
