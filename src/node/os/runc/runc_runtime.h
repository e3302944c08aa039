// Pods as containers: OCI bundles run by runc, watched by conmon.
#pragma once

#include <memory>
#include <mutex>

#include "node/machine/image_store.h"
#include "node/machine/machine.h"
#include "node/machine/runtime.h"
#include "node/os/cgroups.h"
#include "node/os/disk_use.h"
#include "node/os/exits.h"
#include "node/os/pod_folders.h"
#include "node/os/runc/oci_bundle.h"
#include "node/os/runc/process_namespaces.h"
#include "node/os/runc/profiles.h"
#include "node/os/runc/runc_launch.h"
#include "node/os/runc/runc_network.h"

namespace node {

// Containers and images; the network and the process namespaces have owners of their own.
class RuncRuntime : public Runtime {
 public:
  explicit RuncRuntime(Options options);
  ~RuncRuntime() override { exits_.close(); }  // its thread uses what is below it

  base::Result<std::vector<RecoveredPod>> open(OnExit on_exit) override;
  std::optional<std::string> refusal(const api::Json& pod) const override;
  bool image_present(const std::string& image) const override;
  bool would_pull(const std::string& image, PullPolicy policy) const override;
  base::Result<ImageAnswer> ensure_image(const ImageRequest& request) override;
  base::Result<std::string> prepare(const SandboxSpec& spec) override;
  base::Status update_volume(const std::string& pod_uid, const VolumeSpec& volume) override;
  DiskUse disk_use(const DiskPlaces& places, const std::atomic<bool>& cancelled) override {
    return measure_disk_use(folders_, places, cancelled);
  }
  base::Result<StartedContainer> start(const ContainerSpec& spec) override;
  std::optional<std::string> no_resize() const override { return std::nullopt; }
  // runc_resize.cc
  base::Status resize(const PodResize& change) override;
  api::Json actual_resources(const std::string& pod_uid, const std::string& container_id,
                             const api::Json& reported) const override;
  void signal(const std::string& pod_uid, const std::string& container_id, int signal) override;
  void remove(const std::string& pod_uid, bool logs_too) override;
  std::string termination_message(const std::string& pod_uid, const std::string& container_id,
                                  bool or_log) const override;
  std::vector<RecoveredContainer> containers_of(const std::string& pod_uid) const override;
  NodeNetwork& network() override { return network_; }
  void close(bool leave_pods) override;
  std::unique_ptr<api::PodStreams> streams() const override { return make_pod_streams(options_, false); }
  std::vector<std::string> handlers() const override;
  std::string name() const override { return "runc://" + version_; }

 private:
  base::Status write_pod_files(const SandboxSpec& spec, const std::string& ip);
  PodNamespaces namespaces_of(const std::string& uid) const;
  // With the OCI runtime that a handler names.
  base::Result<RuncPrograms> programs_of(const std::string& handler) const;
  base::Status mount_image(const ContainerSpec& spec, const std::string& folder, BundleInput& input);
  base::Result<BundleInput> bundle_input(const ContainerSpec& spec, const std::string& folder);
  base::Result<StartedContainer> start_once(const ContainerSpec& spec);
  void end_run(const std::string& folder, const std::string& id);
  void release(const std::string& pod_uid);
  void clear_container(const std::string& folder, const std::string& id);
  std::string pod_cgroup(const std::string& uid) const { return cgroup_ + "/pod" + uid; }

  Options options_;
  PodFolders folders_;
  ImageStore images_;
  Exits exits_;
  RuncNetwork network_;
  CgroupLayout cgroups_;
  std::string cgroup_;  // "/volcano-1a2b3c4d"
  RuncPrograms programs_;
  AppArmor apparmor_;
  std::string mapped_roots_;        // see container_root.h
  std::string no_user_namespaces_;  // why there are none; empty: there are
  std::string version_;
  std::mutex ids_mutex_;  // held while a pod gets ids of its own
  ProcessNamespaces processes_;
};

}  // namespace node
