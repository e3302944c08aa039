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
#include "node/os/network/dns.h"
#include "node/os/network/network.h"
#include "node/os/pod_folders.h"
#include "node/os/runc/oci_bundle.h"
#include "node/os/runc/profiles.h"
#include "node/os/runc/runc_launch.h"
#include "node/os/services/loopback_ports.h"
#include "node/os/services/policy_filter.h"
#include "node/os/services/service_proxy.h"

namespace node {

class RuncRuntime : public Runtime {
 public:
  explicit RuncRuntime(Options options);
  ~RuncRuntime() override { exits_.close(); }  // its thread uses what is below it

  base::Result<std::vector<RecoveredPod>> open(OnExit on_exit) override;
  std::optional<std::string> refusal(const api::Json& pod) const override;
  bool image_present(const std::string& image) const override;
  bool would_pull(const std::string& image, PullPolicy policy) const override;
  base::Result<ImageAnswer> ensure_image(const ImageWish& wish) override;
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
                             const api::Json& told) const override;
  void signal(const std::string& pod_uid, const std::string& container_id, int signal) override;
  void remove(const std::string& pod_uid, bool logs_too) override;
  std::string termination_message(const std::string& pod_uid, const std::string& container_id,
                                  bool or_log) const override;
  std::vector<RecoveredContainer> containers_of(const std::string& pod_uid) const override;
  void set_names(std::shared_ptr<const NameTable> names) override;
  std::string no_service_proxy() const override { return no_service_proxy_; }
  base::Status set_services(const ServiceRules& rules) override;
  base::Status try_services(const ServiceRules& rules) override { return service_proxy_.try_rules(rules); }
  std::string no_policies() const override { return no_policies_; }
  base::Status set_policies(const PolicyRules& rules) override { return policy_filter_.set(rules); }
  void close(bool leave_pods) override;
  std::unique_ptr<api::PodStreams> streams() const override { return make_pod_streams(options_, false); }
  std::vector<std::string> handlers() const override;
  std::string name() const override { return "runc://" + version_; }

 private:
  base::Status ensure_network();
  base::Status write_pod_files(const SandboxSpec& spec, const std::string& ip);
  PodNamespaces namespaces_of(const std::string& uid) const;
  // pod_sandbox.cc
  std::string sandbox_folder(const std::string& uid) const;
  base::Result<std::string> shared_processes(const std::string& uid);  // the namespace's path; makes it
  std::shared_ptr<std::mutex> sandbox_turn(const std::string& uid);
  void end_sandbox(const std::string& uid);
  base::Result<std::string> process_namespace(const ContainerSpec& spec, const api::Json& pod);
  void note_group(const std::string& pod_uid, const std::string& id);
  void end_orphans(const std::string& id);

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
  Network network_;
  ServiceProxy service_proxy_;
  std::string no_service_proxy_;  // why there is none; empty: there is
  PolicyFilter policy_filter_;
  std::string no_policies_;  // why they have no effect; empty: they have
  CgroupLayout cgroups_;
  std::string cgroup_;  // "/volcano-1a2b3c4d"
  RuncPrograms programs_;
  AppArmor apparmor_;
  std::string mapped_roots_;        // see container_root.h
  std::string no_user_namespaces_;  // why there are none; empty: there are
  std::string version_;
  mutable std::mutex mutex_;  // guards the members below
  std::unique_ptr<NameServer> name_server_;
  std::unique_ptr<LoopbackPorts> loopback_ports_;  // null before the first rules, and at the end
  bool closed_ = false;
  std::shared_ptr<const NameTable> names_;
  bool name_server_tried_ = false;
  std::mutex sandbox_root_mutex_;              // held while the root of all sandboxes is laid out
  std::mutex sandbox_mutex_;                   // never held for long; guards the members below
  std::map<std::string, std::string> groups_;  // by id: control groups of containers that run
  // By uid: one sandbox of a pod is made at a time. Entries that are not waited for are empty.
  std::map<std::string, std::weak_ptr<std::mutex>> sandbox_turns_;
};

}  // namespace node
