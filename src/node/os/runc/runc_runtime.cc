// How containers are made, started and cleared away.
#include "node/os/runc/runc_runtime.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "api/ipv4.h"
#include "api/pods/stop_signals.h"
#include "base/format.h"
#include "base/log.h"
#include "base/utf8.h"
#include "node/machine/container_text.h"
#include "node/machine/security_context.h"
#include "node/os/command.h"
#include "node/os/proc.h"
#include "node/os/process_runtime.h"
#include "node/os/runc/container_root.h"
#include "node/os/runc/oci_bundle.h"
#include "node/os/volumes/container_mounts.h"
#include "node/os/volumes/volume_folders.h"
#include "rt/files/files.h"
#include "rt/files/rooted_files.h"
#include "rt/tls/tls.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr int kStartsMax = 3;
constexpr std::size_t kAccountFileMax = 1 << 20;

// "runc version 1.1.5+ds1\ncommit: ..." -> "1.1.5+ds1"
std::string version_in(std::string_view output) {
  const std::string_view line = output.substr(0, output.find('\n'));
  return reason_text(line.substr(std::min(line.size(), line.rfind(' ') + 1)));
}

// The image's list of users or groups, which may be missing. An image that has anything else there starts nothing.
base::Result<std::string> account_file(const std::string& root, const std::string& name) {
  auto text = rt::read_rooted_file({root, name}, kAccountFileMax);
  if (text.ok() || text.error().code == Code::kNotFound) return text.ok() ? std::move(*text) : std::string();
  return make_error(Code::kInvalid, base::format("the image's {}: {}", name, text.error().message));
}

}  // namespace

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
    : options_(std::move(options)),
      folders_(options_.data_dir),
      images_(options_.data_dir + "/images"),
      network_(options_),
      processes_({.data_dir = options_.data_dir,
                  .folders = folders_,
                  .exits = exits_,
                  .cgroups = cgroups_,
                  .cgroup = cgroup_,
                  .programs = programs_,
                  .apparmor = apparmor_}) {
  cgroup_ = "/volcano-" + rt::sha256_hex(options_.data_dir).substr(0, 8);
  mapped_roots_ = "/run" + cgroup_;
}

base::Result<std::vector<RecoveredPod>> RuncRuntime::open(OnExit on_exit) {
  if (options_.data_dir.find_first_of(",:\\\"") != std::string::npos)
    return make_error(
        Code::kInvalid,
        base::format("data directory {}: overlay mounts cannot have , : \\ or \" in their path", options_.data_dir));
  TRY_VOID(rt::make_folders(folders_.pods(), 0711));
  TRY_VOID(exits_.open(folders_.exits(), [this, on_exited = std::move(on_exit)](const ExitedContainer& exit) {
    processes_.end_orphans(exit.id);
    on_exited(exit);
  }));
  programs_ = {find_program(options_.runc), find_program(options_.conmon), folders_.runtime_state(), folders_.exits()};
  if (const auto output = run_command({programs_.runc, "--version"}); output.ok())
    version_ = version_in(base::to_utf8(output->out));
  apparmor_ = read_apparmor();
  no_user_namespaces_ = missing_for_user_namespaces(
      {options_.data_dir + "/userns-trial", mapped_roots_, options_.host_rootfs ? "/" : options_.data_dir});
  cgroups_ = cgroup_layout(read_text("/proc/self/mountinfo"));
  if (cgroups_.unified()) cgroups_.v2_controllers = read_text(cgroups_.v2 + "/cgroup.controllers");
  if (const base::Status room = make_room_at_top(cgroups_); !room.ok())
    base::log_warning("node", "the top of the control groups has processes: " + room.error().message);
  images_.sweep();
  TRY_VOID(network_.open());
  std::vector<RecoveredPod> pods = folders_.recover(exits_, cgroups_);
  bool any = false;
  for (const RecoveredPod& pod : pods) {
    if (!pod.ip.empty()) network_.pods().take(pod.ip);
    for (const RecoveredContainer& run : pod.containers) {
      if (!run.running) continue;
      any = true;
      const std::string folder = folders_.container(pod.uid, run.name, run.attempt);
      processes_.add_container(pod.uid, run.id);
      exits_.watch(run.id, read_text(folder + "/monitor"), folder + "/oom");
    }
  }
  // Pods that live on go on asking for names.
  if (any) TRY_VOID(network_.ensure());
  return pods;
}

std::optional<std::string> RuncRuntime::refusal(const Json& pod) const {
  const Json& spec = pod["spec"];
  if (auto why = security_refusal(pod, {.seccomp = read_privileges().seccomp,
                                        .apparmor = apparmor_.enabled,
                                        .apparmor_profiles = apparmor_.profiles,
                                        .no_user_namespaces = no_user_namespaces_}))
    return why;
  if (spec["shareProcessNamespace"].as_bool() && !spec["hostUsers"].as_bool(true))
    return "spec.shareProcessNamespace: a pod with hostUsers: false cannot have it on this node";
  return std::nullopt;
}

bool RuncRuntime::image_present(const std::string& image) const {
  return options_.host_rootfs || images_.find(image).has_value();
}

bool RuncRuntime::would_pull(const std::string& image, PullPolicy policy) const {
  if (policy == PullPolicy::kNever || !check_image_name(image).ok()) return false;
  const auto found = images_.find(image);
  return found ? policy == PullPolicy::kAlways && !found->imported : !options_.host_rootfs;
}

base::Result<ImageAnswer> RuncRuntime::ensure_image(const ImageRequest& request) {
  const std::string& image = request.image;
  TRY_VOID(check_image_name(image));
  const auto found = images_.find(image);
  // An image that somebody imported under a name is the meaning of that name here, whatever a registry has.
  if (found && (request.policy != PullPolicy::kAlways || found->imported))
    return ImageAnswer{found->id, false, found->bytes};
  if (!found && options_.host_rootfs) {
    ImageAnswer answer;
    answer.remark = base::format("Image \"{}\" is not imported: the host's root file system stands in for it", image);
    return answer;
  }
  if (request.policy == PullPolicy::kNever)
    return make_error(Code::kNotFound,
                      base::format("Container image \"{}\" is not present with pull policy of Never", image));
  auto pulled = images_.pull(image, base::format_rfc3339(wall_clock()), request.keys, request.given_up.get());
  if (pulled.ok()) return ImageAnswer{pulled->id, true, pulled->bytes};
  if (found)
    return ImageAnswer{found->id, false, found->bytes,
                       base::format("Container image \"{}\" already present on machine, and no registry answers: {}",
                                    image, pulled.error().message)};
  return make_error(Code::kUnavailable, pulled.error().message);
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
    resolv.replace(at, kPlace.size(), network_.pods().gateway());
  TRY_VOID(rt::write_file(folder + "/hosts", hosts, 0644));
  TRY_VOID(rt::write_file(folder + "/resolv.conf", resolv, 0644));
  TRY_VOID(rt::write_file(folder + "/hostname", spec.hostname + "\n", 0644));
  if (const auto first = folders_.first_id(spec.uid))
    for (const char* name : {"/hosts", "/resolv.conf", "/hostname"}) TRY_VOID(give_file(folder + name, *first));
  return {};
}

PodNamespaces RuncRuntime::namespaces_of(const std::string& uid) const {
  const std::string folder = folders_.pod(uid);
  return {{folders_.user_namespace(uid), folder + "/netns", folder + "/ipcns"}, folders_.first_id(uid)};
}

std::vector<std::string> RuncRuntime::handlers() const {
  std::vector<std::string> names = {options_.runc.substr(options_.runc.rfind('/') + 1)};
  for (const auto& [name, program] : options_.handlers)
    if (name != names.front()) names.push_back(name);
  return names;
}

base::Result<RuncPrograms> RuncRuntime::programs_of(const std::string& handler) const {
  RuncPrograms programs = programs_;
  if (const auto found = options_.handlers.find(handler); found != options_.handlers.end()) {
    programs.runc = find_program(found->second);
    if (programs.runc.empty())
      return make_error(Code::kUnavailable, base::format("failed to get sandbox runtime: the program {} of runtime "
                                                         "\"{}\" cannot be found",
                                                         found->second, handler));
  } else if (!handler.empty() && handler != handlers().front()) {
    return make_error(Code::kUnavailable,
                      base::format("failed to get sandbox runtime: no runtime for \"{}\" is configured", handler));
  }
  return programs;
}

base::Result<std::string> RuncRuntime::prepare(const SandboxSpec& spec) {
  TRY_VOID(programs_of(spec.handler));
  const std::string folder = folders_.pod(spec.uid);
  // A sandbox that is made in part is not taken for one that is there.
  if (!folders_.missing_of_sandbox(spec.uid, cgroups_).empty()) {
    ::unlink((folder + "/pod.json").c_str());
    processes_.end(spec.uid);
    remove_tree(processes_.folder(spec.uid));
  }
  TRY_VOID(rt::make_folders(folders_.volumes(spec.uid), 0711));
  ::chmod(folder.c_str(), 0711);
  if (!spec.host_users) {
    const std::lock_guard lock(ids_mutex_);
    TRY_VOID(folders_.give_ids(spec.uid));
  }
  for (const VolumeSpec& volume : spec.volumes)
    TRY_VOID(lay_out_volume(folders_.volumes(spec.uid) + "/" + volume.name, volume));
  std::string ip = options_.host_ip;
  TRY_VOID(network_.ensure());
  if (!spec.host_network) {
    TRY(ip, network_.pods().connect(spec.uid, namespaces_of(spec.uid), spec.address));
  }
  const auto finished = [&]() -> base::Status {
    TRY_VOID(make_pod_cgroup(cgroups_, pod_cgroup(spec.uid),
                             {spec.cpu_request_milli, spec.cpu_limit_milli, spec.memory_limit_bytes}));
    TRY_VOID(write_pod_files(spec, ip));
    SandboxSpec kept = spec;
    // A pod on the host's network goes by the host's name.
    if (spec.host_network) kept.hostname = read_machine_facts(options_.data_dir).hostname;
    const std::string group = pod_cgroup(spec.uid);
    return folders_.write_pod(kept, ip, has_cgroup(cgroups_, group) ? group : std::string());
  }();
  if (finished.ok()) return ip;
  // The address of a pod that has none yet is not known to anybody: the next try takes another.
  if (!spec.host_network && spec.address.empty()) network_.pods().disconnect(spec.uid, namespaces_of(spec.uid), ip);
  return finished.error();
}

base::Status RuncRuntime::update_volume(const std::string& pod_uid, const VolumeSpec& volume) {
  return lay_out_volume(folders_.volumes(pod_uid) + "/" + volume.name, volume);
}

base::Status RuncRuntime::mount_image(const ContainerSpec& spec, const std::string& folder, BundleInput& input) {
  RootMount root{"/", folder, folder + "/rootfs"};
  if (const auto found = images_.find(spec.image)) {
    root.lower = found->root;
    input.image = image_config_from(found->config);
  } else if (!options_.host_rootfs) {
    return make_error(Code::kNotFound, base::format("image {:?} is no longer in the store", spec.image));
  }
  if (const auto first = folders_.first_id(spec.pod_uid)) {
    input.user_namespace = root.user_file = folders_.user_namespace(spec.pod_uid);
    input.first_id = root.first_id = *first;
    root.at = mapped_root(mapped_roots_, folder);
  }
  input.root = root.at;
  return mount_root(root);
}

base::Result<BundleInput> RuncRuntime::bundle_input(const ContainerSpec& spec, const std::string& folder) {
  const auto pod = api::parse_json(read_text(folders_.pod(spec.pod_uid) + "/pod.json"));
  if (!pod.ok()) return make_error(Code::kInternal, "the pod's folder is incomplete");
  // A pod that asked for ids of its own never gets the host's instead.
  if (!(*pod)["hostUsers"].as_bool(true) && !folders_.first_id(spec.pod_uid))
    return make_error(Code::kInternal, "the pod's folder does not say which ids it has");
  BundleInput input;
  TRY_VOID(mount_image(spec, folder, input));
  input.spec = &spec;
  TRY(const std::string passwd, account_file(input.root, "etc/passwd"));
  TRY(const std::string groups, account_file(input.root, "etc/group"));
  TRY(input.user, resolve_user(spec, input.image, passwd, groups));
  input.hostname = (*pod)["hostname"].str();
  if (!(*pod)["hostNetwork"].as_bool()) {
    input.network_namespace = folders_.pod(spec.pod_uid) + "/netns";
    if (!(*pod)["hostIPC"].as_bool()) input.ipc_namespace = folders_.pod(spec.pod_uid) + "/ipcns";
  }
  input.own_ipc = !(*pod)["hostIPC"].as_bool();
  input.host_pid = (*pod)["hostPID"].as_bool();
  TRY(input.pid_namespace, processes_.of(spec, *pod));
  processes_.add_container(spec.pod_uid, spec.id);
  input.privileges = read_privileges();
  if (spec.seccomp.kind == Confinement::Kind::kNamed) {
    auto profile = seccomp_profile(options_.data_dir + "/seccomp", spec.seccomp.name);
    if (!profile.ok()) return make_error(Code::kForbidden, profile.error().message);  // until the file is there
    input.seccomp = std::move(*profile);
  }
  input.apparmor_profile = apparmor_profile_for(spec.apparmor, apparmor_);
  input.cgroup_path = pod_cgroup(spec.pod_uid) + "/" + spec.id;
  input.limits_huge_pages = cgroups_.has_hugetlb();
  input.unified_cgroups = cgroups_.unified();
  TRY(input.mounts, container_mounts(folders_, spec, folder));
  TRY(input.devices, find_devices(spec.devices));
  return input;
}

base::Result<StartedContainer> RuncRuntime::start_once(const ContainerSpec& spec) {
  const std::string folder = folders_.container(spec.pod_uid, spec.name, spec.attempt);
  clear_container(folder, spec.id);
  remove_tree(folder);
  exits_.forget(spec.id);
  TRY_VOID(rt::make_folders(folder, 0711));
  const std::string log = folders_.log(spec.pod_uid, spec.name, spec.attempt);
  TRY_VOID(rt::make_folders(log.substr(0, log.rfind('/')), 0700));
  base::Time now;
  const auto made = [&]() -> base::Status {
    TRY(const BundleInput input, bundle_input(spec, folder));
    TRY(const Json bundle, make_bundle(input));
    TRY_VOID(rt::write_file(folder + "/config.json", bundle.dump(), 0600));
    TRY_VOID(rt::write_file(folder + "/id", spec.id, 0600));
    const int stop_signal =
        spec.stop_signal != 0 ? spec.stop_signal : api::signal_number(input.image.stop_signal).value_or(SIGTERM);
    TRY_VOID(rt::write_file(folder + "/stop-signal", std::to_string(stop_signal), 0600));
    const auto pod = api::parse_json(read_text(folders_.pod(spec.pod_uid) + "/pod.json"));
    TRY(const RuncPrograms programs, programs_of(pod.ok() ? (*pod)["handler"].str() : std::string()));
    return launch_container(programs, {.id = spec.id,
                                       .name = spec.name,
                                       .folder = folder,
                                       .log = log,
                                       .terminal = spec.terminal,
                                       .input = spec.input,
                                       .input_once = spec.input_once,
                                       .given_up = spec.given_up.get(),
                                       .before_start = [&] {
                                         now = wall_clock();
                                         return folders_.write_started(folder, spec.id, now);
                                       }});
  }();
  if (!made.ok()) {
    ::unlink((folder + "/started").c_str());
    clear_container(folder, spec.id);
    exits_.forget(spec.id);
    return made.error();
  }
  exits_.watch(spec.id, read_text(folder + "/monitor"), folder + "/oom");
  return StartedContainer{now};
}

base::Result<StartedContainer> RuncRuntime::start(const ContainerSpec& spec) {
  if (const std::string missing = folders_.missing_of_sandbox(spec.pod_uid, cgroups_); !missing.empty())
    return make_error(Code::kGone, base::format("of the pod's sandbox is gone: {}", missing));
  if (spec.attempt >= 2) {
    ::unlink(folders_.log(spec.pod_uid, spec.name, spec.attempt - 2).c_str());
    remove_tree(folders_.container(spec.pod_uid, spec.name, spec.attempt - 2));
  }
  if (spec.attempt >= 1) {
    const std::string before = folders_.container(spec.pod_uid, spec.name, spec.attempt - 1);
    clear_container(before, read_text(before + "/id"));
  }
  // A container has not run yet when a start fails, so that another try is the same start.
  for (int tried = 1;; ++tried) {
    auto started = start_once(spec);
    if (started.ok() || tried == kStartsMax) return started;
    const Code code = started.error().code;
    if (code == Code::kInvalid || code == Code::kForbidden || code == Code::kTimeout) return started;
    base::log_warning("node", base::format("start of container {} failed and is tried again: {}", spec.name,
                                           started.error().message));
  }
}

void RuncRuntime::signal(const std::string& pod_uid, const std::string& container_id, int signal) {
  const std::string folder = folders_.find_container(pod_uid, container_id);
  if (folder.empty()) return;
  const pid_t pid = described_process(read_text(folder + "/pid"));
  if (pid != 0) ::kill(pid, signal == SIGTERM ? folders_.stop_signal(folder) : signal);
}

// Ends what runs, and takes the mounts and the runtime's record away. The log and the exit code stay.
void RuncRuntime::end_run(const std::string& folder, const std::string& id) {
  end_container(programs_, folder, id);
  release_mounts(folder);
  for (const std::string& root : {folder + "/rootfs", mapped_root(mapped_roots_, folder)}) unmount_root(folder, root);
}

void RuncRuntime::clear_container(const std::string& folder, const std::string& id) {
  end_run(folder, id);
  for (const char* name : {"/upper", "/work", "/rootfs", "/scratch", "/places", "/lower"}) remove_tree(folder + name);
}

// Everything of the pod that is not a file: quick, whatever its containers have written.
void RuncRuntime::release(const std::string& pod_uid) {
  const std::string pod = folders_.pod(pod_uid);
  for (const RecoveredContainer& run : folders_.containers_of(pod_uid, exits_))
    end_run(folders_.container(pod_uid, run.name, run.attempt), run.id);
  processes_.end(pod_uid);
  const auto json = api::parse_json(read_text(pod + "/pod.json"));
  network_.pods().disconnect(pod_uid, namespaces_of(pod_uid),
                             json.ok() && !(*json)["hostNetwork"].as_bool() ? (*json)["ip"].str() : std::string());
  take_down_volumes(folders_.volumes(pod_uid));
  remove_cgroup(cgroups_, pod_cgroup(pod_uid));
}

void RuncRuntime::remove(const std::string& pod_uid, bool logs_too) {
  const std::string pod = folders_.pod(pod_uid);
  if (::access(pod.c_str(), F_OK) != 0) return;
  release(pod_uid);
  for (const RecoveredContainer& run : folders_.containers_of(pod_uid, exits_)) {
    clear_container(folders_.container(pod_uid, run.name, run.attempt), run.id);
    if (logs_too && !run.id.empty()) exits_.forget(run.id);
  }
  remove_tree(folders_.volumes(pod_uid));
  remove_tree(processes_.folder(pod_uid));
  if (logs_too) remove_tree(pod);
}

std::string RuncRuntime::termination_message(const std::string& pod_uid, const std::string& container_id,
                                             bool or_log) const {
  const std::string folder = folders_.find_container(pod_uid, container_id);
  if (folder.empty()) return {};
  const auto text = rt::read_rooted_tail({folder, "termination-log"}, kReportBytesMax);
  if (text.ok() && !text->empty()) return *text;
  return or_log ? folders_.log_tail(folder) : std::string();
}

std::vector<RecoveredContainer> RuncRuntime::containers_of(const std::string& pod_uid) const {
  return folders_.containers_of(pod_uid, exits_);
}

void RuncRuntime::close(bool leave_pods) {
  images_.cancel();
  exits_.close();
  network_.stop();
  if (leave_pods) return;
  // Files last: there can be more of them than there is time.
  for (const std::string& uid : list_folder(folders_.pods())) release(uid);
  network_.close();
  remove_cgroup(cgroups_, cgroup_);
  ::rmdir(mapped_roots_.c_str());
  for (const std::string& uid : list_folder(folders_.pods())) remove(uid, false);
}

}  // namespace node
