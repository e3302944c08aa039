// The places of a pod's files below the data directory, and their meaning after a restart.
//
//   pods/UID/pod.json                         names, address, what its sandbox consists of
//   pods/UID/ids                              the first of its ids on the host, if it has a user namespace of its own
//   pods/UID/volumes/NAME
//   pods/UID/logs/CONTAINER/ATTEMPT.log
//   pods/UID/containers/CONTAINER/ATTEMPT/    id, started, monitor, pid, stop-signal, spec.json or an OCI bundle
//   exits/CONTAINER_ID                        exit code
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/machine/runtime.h"
#include "node/os/cgroups.h"
#include "node/os/exits.h"

namespace node {

class PodFolders {
 public:
  explicit PodFolders(std::string data_dir) : data_dir_(std::move(data_dir)) {}

  std::string pods() const { return data_dir_ + "/pods"; }
  std::string exits() const { return data_dir_ + "/exits"; }
  std::string pod(const std::string& uid) const { return pods() + "/" + uid; }
  std::string volumes(const std::string& uid) const { return pod(uid) + "/volumes"; }
  std::string container(const std::string& uid, const std::string& name, int attempt) const;
  std::string log(const std::string& uid, const std::string& name, int attempt) const;

  // The file of a pod's user namespace; what its container's ids begin with, when it has one.
  std::string user_namespace(const std::string& uid) const { return pod(uid) + "/userns"; }
  std::optional<std::int64_t> first_id(const std::string& uid) const;
  // Gives the pod ids that no other pod here has. One call at a time.
  base::Status give_ids(const std::string& uid) const;

  // `group`: the pod's control group as a path below each hierarchy; empty: it has none.
  base::Status write_pod(const SandboxSpec& spec, const std::string& ip, const std::string& group) const;
  // The part of the sandbox, as pod.json describes it, that is gone, in words; empty: it is whole.
  std::string missing_of_sandbox(const std::string& uid, const CgroupLayout& cgroups) const;
  base::Status write_started(const std::string& container_folder, const std::string& id, base::Time at) const;
  // The signal by which the container of that folder is asked to end.
  int stop_signal(const std::string& container_folder) const;
  // The folder of the container with that id, or empty.
  std::string find_container(const std::string& uid, const std::string& id) const;
  // The last 80 lines, at most 2048 bytes, that the container of that folder wrote.
  std::string log_tail(const std::string& container_folder) const;
  // Every pod's folder; containers in order of name and attempt, as the disk has them at this moment.
  std::vector<RecoveredPod> recover(const Exits& exits, const CgroupLayout& cgroups) const;
  std::vector<RecoveredContainer> containers_of(const std::string& uid, const Exits& exits) const;
  // The folder in which an OCI runtime keeps its state of containers, and of one of them.
  std::string runtime_state() const { return data_dir_ + "/runc"; }
  std::string runtime_state(const std::string& id) const { return runtime_state() + "/" + id; }

 private:
  RecoveredContainer read_run(const std::string& folder, const Exits& exits) const;

  std::string data_dir_;
};

std::vector<std::string> list_folder(const std::string& path);  // sorted; empty when there is none
void remove_tree(const std::string& path);                      // rt::remove_tree; what stays is logged
std::string read_text(const std::string& path);                 // empty on an error

}  // namespace node
