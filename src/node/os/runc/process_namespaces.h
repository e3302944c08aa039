// Process namespaces of containers: one that the containers of a pod share, another container's, or their own.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "node/machine/runtime.h"
#include "node/os/cgroups.h"
#include "node/os/exits.h"
#include "node/os/pod_folders.h"
#include "node/os/runc/profiles.h"
#include "node/os/runc/runc_launch.h"

namespace node {

// Owns the turns in which shared namespaces are made, and the control groups of containers that run. Asks the runtime's
// programs for the process that keeps a shared namespace. Thread-safe.
class ProcessNamespaces {
 public:
  struct Needs {
    const std::string& data_dir;
    PodFolders& folders;
    Exits& exits;
    const CgroupLayout& cgroups;
    const std::string& cgroup;  // of all pods of this node
    const RuncPrograms& programs;
    const AppArmor& apparmor;
  };
  explicit ProcessNamespaces(Needs needs) : needs_(needs) {}

  // The path of the namespace that the container joins; empty: it has one of its own, or the host's.
  base::Result<std::string> of(const ContainerSpec& spec, const api::Json& pod);
  // The folder of the pod's shared namespace.
  std::string folder(const std::string& uid) const { return needs_.folders.pod(uid) + "/sandbox"; }
  // Ends the pod's shared namespace, if there is one.
  void end(const std::string& uid);
  // A container runs, in its control group.
  void add_container(const std::string& pod_uid, const std::string& id);
  // The container's first process has ended. Its other processes would live on in a namespace that is not its own.
  void end_orphans(const std::string& id);

 private:
  base::Result<std::string> shared(const std::string& uid);  // makes it
  base::Result<std::string> make(const std::string& uid);
  std::shared_ptr<std::mutex> turn_of(const std::string& uid);

  Needs needs_;
  std::mutex root_mutex_;                      // held while the root of all keepers is laid out
  std::mutex mutex_;                           // never held for long; guards the members below
  std::map<std::string, std::string> groups_;  // by id: control groups of containers that run
  // By uid: one shared namespace of a pod is made at a time. Entries that are not waited for are empty.
  std::map<std::string, std::weak_ptr<std::mutex>> turns_;
};

}  // namespace node
