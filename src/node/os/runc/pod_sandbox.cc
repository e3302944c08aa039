// The process namespace that the containers of a pod share: kept by a process of ours that has an empty root, no
// rights, and the lowest number.
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "node/os/proc.h"
#include "node/os/runc/pause_program.h"
#include "node/os/runc/runc_runtime.h"
#include "rt/files/files.h"
#include "rt/tls/tls.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::int64_t kNobody = 65535;

std::string sandbox_id(const std::string& uid) { return rt::sha256_hex(uid + "/sandbox"); }

std::string namespace_of(const std::string& folder) {
  const pid_t pid = described_process(read_text(folder + "/pid"));
  return pid == 0 ? std::string() : base::format("/proc/{}/ns/pid", pid);
}

// The places that a container's mounts need, and the program.
base::Status lay_out_root(const std::string& root) {
  for (const char* name : {"/proc", "/dev", "/sys"}) TRY_VOID(rt::make_folders(root + name, 0755));
  const std::string program = root + "/pause";
  if (read_text(program) == pause_program()) return {};
  return rt::write_file(program, std::string(pause_program()), 0755);
}

}  // namespace

std::string RuncRuntime::sandbox_folder(const std::string& uid) const { return folders_.pod(uid) + "/sandbox"; }

std::shared_ptr<std::mutex> RuncRuntime::sandbox_turn(const std::string& uid) {
  const std::lock_guard lock(sandbox_mutex_);
  std::erase_if(sandbox_turns_, [](const auto& turn) { return turn.second.expired(); });
  std::weak_ptr<std::mutex>& known = sandbox_turns_[uid];
  std::shared_ptr<std::mutex> turn = known.lock();
  if (!turn) known = turn = std::make_shared<std::mutex>();
  return turn;
}

base::Result<std::string> RuncRuntime::shared_processes(const std::string& uid) {
  const std::shared_ptr<std::mutex> turn = sandbox_turn(uid);
  const std::lock_guard lock(*turn);
  const std::string folder = sandbox_folder(uid), id = sandbox_id(uid);
  if (std::string found = namespace_of(folder); !found.empty()) return found;
  end_sandbox(uid);
  remove_tree(folder);
  exits_.forget(id);
  TRY_VOID(rt::make_folders(folder, 0711));
  const std::string root = options_.data_dir + "/sandbox-root";
  {
    const std::lock_guard root_lock(sandbox_root_mutex_);
    TRY_VOID(lay_out_root(root));
  }
  ContainerSpec spec;
  spec.pod_uid = uid;
  spec.id = id;
  spec.command = {"/pause"};
  spec.working_directory = "/";
  spec.capabilities_dropped = {"ALL"};
  spec.no_new_privileges = spec.read_only_root = true;
  spec.cpu_request_milli = 2;
  spec.oom_score_adjustment = -998;  // its end is the end of all
  BundleInput input;
  input.spec = &spec;
  input.user = {.uid = kNobody, .gid = kNobody};
  input.root = root;
  input.hostname = "sandbox";
  input.own_ipc = true;
  input.privileges = read_privileges();
  input.apparmor_profile = apparmor_profile_for({}, apparmor_);
  input.cgroup_path = pod_cgroup(uid) + "/" + id;
  input.unified_cgroups = cgroups_.unified();
  TRY(const Json bundle, make_bundle(input));
  TRY_VOID(rt::write_file(folder + "/config.json", bundle.dump(), 0600));
  base::Status made = launch_container(
      programs_, {.id = id, .name = "sandbox", .folder = folder, .log = folder + "/log", .before_start = [] {
                    return base::Status();
                  }});
  if (!made.ok()) {
    end_sandbox(uid);
    return base::within(made.take_error(), "the pod's process namespace");
  }
  std::string found = namespace_of(folder);
  if (found.empty()) return make_error(Code::kInternal, "the pod's process namespace ended as it began");
  return found;
}

void RuncRuntime::end_sandbox(const std::string& uid) {
  const std::string folder = sandbox_folder(uid);
  if (::access(folder.c_str(), F_OK) == 0) end_container(programs_, folder, sandbox_id(uid));
}

// The process namespace of a container: with those of its pod, of the container that it looks into, or by itself
// (empty).
base::Result<std::string> RuncRuntime::process_namespace(const ContainerSpec& spec, const Json& pod) {
  if (pod["hostPID"].as_bool()) return std::string();
  if (pod["shareProcesses"].as_bool()) return shared_processes(spec.pod_uid);
  if (spec.target_id.empty()) return std::string();
  const std::string folder = folders_.find_container(spec.pod_uid, spec.target_id);
  std::string found = folder.empty() ? std::string() : namespace_of(folder);
  if (found.empty()) return make_error(Code::kInvalid, "the target container has ended");
  return found;
}

// A process namespace of a container's own ends with its first process. The container's own processes would live on
// without it in another's.
void RuncRuntime::end_orphans(const std::string& id) {
  std::string group;
  {
    const std::lock_guard lock(sandbox_mutex_);
    const auto found = groups_.find(id);
    if (found == groups_.end()) return;
    group = std::move(found->second);
    groups_.erase(found);
  }
  kill_cgroup(cgroups_, group);
}

void RuncRuntime::note_group(const std::string& pod_uid, const std::string& id) {
  const std::lock_guard lock(sandbox_mutex_);
  groups_[id] = pod_cgroup(pod_uid) + "/" + id;
}

}  // namespace node
