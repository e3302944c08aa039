// A runtime that runs nothing and forgets nothing: what it was told to run stands in a machine that outlives it. Tests
// add to both what they look at.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "node/machine/runtime.h"
#include "rt/env.h"

namespace node {

struct LastingMachine {
  std::map<std::string, RecoveredPod> pods;  // by uid
  Runtime::OnExit on_exit;                   // of the agent that lives
  rt::Env* env = nullptr;
};

class LastingRuntime : public Runtime {
 public:
  // `machine` outlives it.
  explicit LastingRuntime(LastingMachine& machine) : lasting_(machine) {}

  base::Result<std::vector<RecoveredPod>> open(OnExit on_exit) override {
    lasting_.on_exit = std::move(on_exit);
    std::vector<RecoveredPod> pods;
    for (const auto& [uid, pod] : lasting_.pods) pods.push_back(pod);
    return pods;
  }
  std::optional<std::string> refusal(const api::Json&) const override { return {}; }
  bool image_present(const std::string&) const override { return true; }
  base::Result<ImageAnswer> ensure_image(const ImageRequest&) override { return ImageAnswer{"sha256:1"}; }
  base::Result<std::string> prepare(const SandboxSpec& spec) override {
    RecoveredPod& pod = lasting_.pods[spec.uid];
    pod.uid = spec.uid;
    pod.ns = spec.ns;
    pod.name = spec.name;
    pod.prepared = true;
    pod.first_attempts = spec.first_attempts;
    return pod.ip = "10.0.0.9";
  }
  base::Status update_volume(const std::string&, const VolumeSpec&) override { return {}; }
  base::Result<StartedContainer> start(const ContainerSpec& spec) override {
    lasting_.pods[spec.pod_uid].containers.push_back({.name = spec.name,
                                                      .attempt = spec.attempt,
                                                      .id = spec.id,
                                                      .started = true,
                                                      .running = true,
                                                      .started_at = lasting_.env->now()});
    return StartedContainer{lasting_.env->now()};
  }
  void remove(const std::string& uid, bool logs_too) override {
    if (logs_too) lasting_.pods.erase(uid);
  }
  std::string termination_message(const std::string&, const std::string&, bool) const override { return {}; }
  std::vector<RecoveredContainer> containers_of(const std::string& uid) const override {
    const auto found = lasting_.pods.find(uid);
    return found == lasting_.pods.end() ? std::vector<RecoveredContainer>() : found->second.containers;
  }
  void close(bool) override {}
  std::string name() const override { return "fake://1"; }

 private:
  LastingMachine& lasting_;
};

}  // namespace node
