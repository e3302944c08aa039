// How plain processes are started, signalled and cleaned up.
#include "node/os/process_runtime.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <vector>

#include "base/format.h"
#include "node/machine/security_context.h"
#include "node/os/command.h"
#include "node/os/proc.h"
#include "rt/files/files.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

base::Time wall_clock() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return {now.tv_sec * 1'000'000'000 + now.tv_nsec};
}

namespace {

constexpr std::size_t kAccountMax = 1 << 20;

std::string home_of(std::optional<std::int64_t> user) {
  const uid_t id = user ? static_cast<uid_t>(*user) : ::geteuid();
  passwd entry{};
  passwd* found = nullptr;
  // Several containers start at once, so that the C library's own memory for an entry will not do.
  std::vector<char> text(4096);
  while (::getpwuid_r(id, &entry, text.data(), text.size(), &found) == ERANGE && text.size() < kAccountMax)
    text.resize(text.size() * 2);
  return found == nullptr || found->pw_dir == nullptr ? "/" : found->pw_dir;
}

Json environment_json(const ContainerSpec& spec, const std::string& hostname) {
  Json list = Json::array();
  const auto has = [&](std::string_view name) {
    for (const auto& [key, value] : spec.environment)
      if (key == name) return true;
    return false;
  };
  if (!has("PATH")) list.push_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  if (!has("HOME")) list.push_back("HOME=" + home_of(spec.user));
  if (!has("HOSTNAME")) list.push_back("HOSTNAME=" + hostname);
  for (const auto& [key, value] : spec.devices.environment)
    if (!has(key)) list.push_back(key + "=" + value);
  for (const auto& [key, value] : spec.environment) list.push_back(key + "=" + value);
  return list;
}

}  // namespace

ProcessRuntime::ProcessRuntime(Options options) : options_(std::move(options)), folders_(options_.data_dir) {}

base::Result<std::vector<RecoveredPod>> ProcessRuntime::open(OnExit on_exit) {
  TRY_VOID(rt::make_folders(folders_.pods(), 0700));
  TRY_VOID(exits_.open(folders_.exits(), std::move(on_exit)));
  monitor_ = options_.monitor;
  if (monitor_.empty()) {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    if (length <= 0) return make_error(Code::kUnavailable, "cannot find this program's own file");
    monitor_.assign(path, static_cast<std::size_t>(length));
  }
  std::vector<RecoveredPod> pods = folders_.recover(exits_, {});
  for (const RecoveredPod& pod : pods)
    for (const RecoveredContainer& run : pod.containers)
      if (run.running)
        exits_.watch(run.id, read_text(folders_.container(pod.uid, run.name, run.attempt) + "/monitor"), {});
  return pods;
}

std::optional<std::string> ProcessRuntime::refusal(const Json& pod) const {
  if (!options_.host_rootfs)
    return "without root and an OCI runtime pods are plain processes on the host's files, which needs --host-rootfs";
  if (auto why = security_refusal(
          pod, {.containers = false, .root = ::geteuid() == 0, .user = static_cast<std::int64_t>(::geteuid())}))
    return why;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : pod["spec"][list].items()) {
      const std::string_view name = container["name"].as_string();
      if (!container["volumeMounts"].empty())
        return base::format(
            "container {} mounts volume {} at {}, and plain processes cannot have volumes (this needs root and runc)",
            name, container["volumeMounts"].items().front()["name"].as_string(),
            container["volumeMounts"].items().front()["mountPath"].as_string());
      if (container["command"].empty() && container["args"].empty())
        return base::format("container {} has no command, and plain processes have no image to take it from", name);
      if (container["command"].empty())
        return base::format(
            "container {} has arguments but no command, and plain processes have no image to take it from", name);
    }
  }
  return std::nullopt;
}

base::Result<ImageAnswer> ProcessRuntime::ensure_image(const ImageRequest& request) {
  ImageAnswer answer;
  answer.remark = base::format(
      "Image \"{}\" is not used: the container is a plain process on the host's files, without limits or a network of "
      "its own",
      request.image);
  return answer;
}

base::Result<std::string> ProcessRuntime::prepare(const SandboxSpec& spec) {
  if (!spec.handler.empty())
    return make_error(Code::kUnavailable, base::format("failed to get sandbox runtime: no runtime for \"{}\" is "
                                                       "configured: pods are plain processes here",
                                                       spec.handler));
  TRY_VOID(rt::make_folders(folders_.pod(spec.uid), 0700));
  TRY_VOID(folders_.write_pod(spec, options_.host_ip, {}));
  return options_.host_ip;
}

base::Result<StartedContainer> ProcessRuntime::start(const ContainerSpec& spec) {
  if (spec.must_not_be_root && (spec.user ? *spec.user : static_cast<std::int64_t>(::geteuid())) == 0)
    return make_error(Code::kForbidden, "container has runAsNonRoot and would run as root");
  const std::string folder = folders_.container(spec.pod_uid, spec.name, spec.attempt);
  // Only the attempt before is kept for `logs --previous`.
  if (spec.attempt >= 2) {
    ::unlink(folders_.log(spec.pod_uid, spec.name, spec.attempt - 2).c_str());
    remove_tree(folders_.container(spec.pod_uid, spec.name, spec.attempt - 2));
  }
  remove_tree(folder);
  TRY_VOID(rt::make_folders(folder, 0700));
  const std::string log = folders_.log(spec.pod_uid, spec.name, spec.attempt);
  TRY_VOID(rt::make_folders(log.substr(0, log.rfind('/')), 0700));
  exits_.forget(spec.id);
  Json argv = Json::array();
  for (const auto* list : {&spec.command, &spec.arguments})
    for (const std::string& word : *list) argv.push_back(word);
  const auto pod = api::parse_json(read_text(folders_.pod(spec.pod_uid) + "/pod.json"));
  Json json = Json::object({{"argv", argv},
                            {"env", environment_json(spec, pod.ok() ? (*pod)["name"].str() : std::string())},
                            {"cwd", spec.working_directory.empty() ? std::string("/") : spec.working_directory},
                            {"log", log},
                            {"exit", folders_.exits() + "/" + spec.id}});
  if (spec.no_new_privileges) json.set("noNewPrivileges", true);
  if (spec.user && *spec.user != static_cast<std::int64_t>(::geteuid())) json.set("uid", *spec.user);
  if (spec.group && *spec.group != static_cast<std::int64_t>(::getegid())) json.set("gid", *spec.group);
  TRY_VOID(rt::write_file(folder + "/spec.json", json.dump(), 0600));
  if (spec.stop_signal != 0) TRY_VOID(rt::write_file(folder + "/stop-signal", std::to_string(spec.stop_signal), 0600));
  const base::Time now = wall_clock();
  TRY_VOID(folders_.write_started(folder, spec.id, now));
  auto ran = run_command({monitor_, "monitor", folder});
  if (!ran.ok() || ran->exit_code != 0) {
    ::unlink((folder + "/started").c_str());
    if (!ran.ok()) return ran.take_error();
    return make_error(Code::kInternal,
                      ran->out.empty() ? base::format("the process monitor failed: {}", ran->err) : ran->out);
  }
  exits_.watch(spec.id, read_text(folder + "/monitor"), {});
  return StartedContainer{now};
}

void ProcessRuntime::signal(const std::string& pod_uid, const std::string& container_id, int signal) {
  const std::string folder = folders_.find_container(pod_uid, container_id);
  if (folder.empty()) return;
  const pid_t pid = described_process(read_text(folder + "/pid"));
  if (pid != 0) ::kill(pid, signal == SIGTERM ? folders_.stop_signal(folder) : signal);
}

void ProcessRuntime::remove(const std::string& pod_uid, bool logs_too) {
  for (const RecoveredContainer& run : folders_.containers_of(pod_uid, exits_)) {
    const std::string folder = folders_.container(pod_uid, run.name, run.attempt);
    const pid_t main_pid = described_process(read_text(folder + "/pid"));
    const pid_t monitor = described_process(read_text(folder + "/monitor"));
    // The monitor ends what the process leaves behind; without it the session is all we know.
    if (main_pid != 0) ::kill(main_pid, SIGKILL);
    if (main_pid != 0 && monitor == 0) ::kill(-main_pid, SIGKILL);
    for (int wait = 0; wait < 200 && described_process(read_text(folder + "/monitor")) != 0; ++wait) ::usleep(10'000);
    if (logs_too && !run.id.empty()) exits_.forget(run.id);
  }
  if (logs_too) remove_tree(folders_.pod(pod_uid));
}

std::string ProcessRuntime::termination_message(const std::string& pod_uid, const std::string& container_id,
                                                bool or_log) const {
  return or_log ? folders_.log_tail(folders_.find_container(pod_uid, container_id)) : std::string();
}

std::vector<RecoveredContainer> ProcessRuntime::containers_of(const std::string& pod_uid) const {
  return folders_.containers_of(pod_uid, exits_);
}

void ProcessRuntime::close(bool) { exits_.close(); }

}  // namespace node
