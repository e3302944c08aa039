// The namespace that the containers of a pod share: it is kept by a process of ours that has an empty root, no rights,
// and the lowest number.
#include "node/os/runc/process_namespaces.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "node/os/proc.h"
#include "node/os/runc/oci_bundle.h"
#include "node/os/runc/pause_program.h"
#include "node/os/runc/privileges.h"
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

std::shared_ptr<std::mutex> ProcessNamespaces::turn_of(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  std::erase_if(turns_, [](const auto& turn) { return turn.second.expired(); });
  std::weak_ptr<std::mutex>& known = turns_[uid];
  std::shared_ptr<std::mutex> turn = known.lock();
  if (!turn) known = turn = std::make_shared<std::mutex>();
  return turn;
}

base::Result<std::string> ProcessNamespaces::shared(const std::string& uid) {
  const std::shared_ptr<std::mutex> turn = turn_of(uid);
  const std::lock_guard lock(*turn);
  if (std::string found = namespace_of(folder(uid)); !found.empty()) return found;
  end(uid);
  remove_tree(folder(uid));
  needs_.exits.forget(sandbox_id(uid));
  return make(uid);
}

base::Result<std::string> ProcessNamespaces::make(const std::string& uid) {
  const std::string place = folder(uid), id = sandbox_id(uid);
  TRY_VOID(rt::make_folders(place, 0711));
  const std::string root = needs_.data_dir + "/sandbox-root";
  {
    const std::lock_guard root_lock(root_mutex_);
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
  input.apparmor_profile = apparmor_profile_for({}, needs_.apparmor);
  input.cgroup_path = needs_.cgroup + "/pod" + uid + "/" + id;
  input.unified_cgroups = needs_.cgroups.unified();
  TRY(const Json bundle, make_bundle(input));
  TRY_VOID(rt::write_file(place + "/config.json", bundle.dump(), 0600));
  base::Status made = launch_container(
      needs_.programs, {.id = id, .name = "sandbox", .folder = place, .log = place + "/log", .before_start = [] {
                          return base::Status();
                        }});
  if (!made.ok()) {
    end(uid);
    return base::within(made.take_error(), "the pod's process namespace");
  }
  std::string found = namespace_of(place);
  if (found.empty()) return make_error(Code::kInternal, "the pod's process namespace ended as it began");
  return found;
}

void ProcessNamespaces::end(const std::string& uid) {
  const std::string place = folder(uid);
  if (::access(place.c_str(), F_OK) == 0) end_container(needs_.programs, place, sandbox_id(uid));
}

base::Result<std::string> ProcessNamespaces::of(const ContainerSpec& spec, const Json& pod) {
  if (pod["hostPID"].as_bool()) return std::string();
  if (pod["shareProcesses"].as_bool()) return shared(spec.pod_uid);
  if (spec.target_id.empty()) return std::string();
  const std::string folder = needs_.folders.find_container(spec.pod_uid, spec.target_id);
  std::string found = folder.empty() ? std::string() : namespace_of(folder);
  if (found.empty()) return make_error(Code::kInvalid, "the target container has ended");
  return found;
}

void ProcessNamespaces::end_orphans(const std::string& id) {
  std::string group;
  {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(id);
    if (found == groups_.end()) return;
    group = std::move(found->second);
    groups_.erase(found);
  }
  kill_cgroup(needs_.cgroups, group);
}

void ProcessNamespaces::add_container(const std::string& pod_uid, const std::string& id) {
  const std::lock_guard lock(mutex_);
  groups_[id] = needs_.cgroup + "/pod" + pod_uid + "/" + id;
}

}  // namespace node
