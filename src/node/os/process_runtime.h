// Pods as plain processes: no root needed, no isolation had.
#pragma once

#include <memory>

#include "node/machine/machine.h"
#include "node/machine/runtime.h"
#include "node/os/disk_use.h"
#include "node/os/exits.h"
#include "node/os/pod_folders.h"

namespace node {

class ProcessRuntime : public Runtime {
 public:
  explicit ProcessRuntime(Options options);

  base::Result<std::vector<RecoveredPod>> open(OnExit on_exit) override;
  std::optional<std::string> refusal(const api::Json& pod) const override;
  bool image_present(const std::string&) const override { return true; }
  base::Result<ImageAnswer> ensure_image(const ImageRequest& request) override;
  base::Result<std::string> prepare(const SandboxSpec& spec) override;
  base::Status update_volume(const std::string&, const VolumeSpec&) override { return {}; }
  DiskUse disk_use(const DiskPlaces& places, const std::atomic<bool>& cancelled) override {
    return measure_disk_use(folders_, places, cancelled);
  }
  base::Result<StartedContainer> start(const ContainerSpec& spec) override;
  std::optional<std::string> no_resize() const override {
    return "pods are plain processes here, which nothing holds to limits";
  }
  void signal(const std::string& pod_uid, const std::string& container_id, int signal) override;
  void remove(const std::string& pod_uid, bool logs_too) override;
  std::string termination_message(const std::string& pod_uid, const std::string& container_id,
                                  bool or_log) const override;
  std::vector<RecoveredContainer> containers_of(const std::string& pod_uid) const override;
  void close(bool leave_pods) override;
  std::unique_ptr<api::PodStreams> streams() const override { return make_pod_streams(options_, false); }
  std::string name() const override { return "process://1"; }

 private:
  Options options_;
  PodFolders folders_;
  Exits exits_;
  std::string monitor_;
};

base::Time wall_clock();

}  // namespace node
