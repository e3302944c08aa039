// The list of parts.
#include "sim/parts.h"

#include <array>

#include "base/check.h"
#include "controllers/all.h"

namespace sim {

namespace {

class RunningNodes final : public Running {
 public:
  explicit RunningNodes(const PartContext& at) : nodes_(at.env, at.client, at.machines, at.nodes) { nodes_.start(); }

 private:
  Nodes nodes_;
};

class RunningControllers final : public Running {
 public:
  explicit RunningControllers(const PartContext& at)
      : manager_(at.env, at.client, {.training = controllers::training::Options(), .with_cluster = true}) {
    manager_.start();
  }

 private:
  controllers::Manager manager_;
};

class RunningScheduler final : public Running {
 public:
  explicit RunningScheduler(const PartContext& at) : scheduler_(at.env, at.client, {}) {
    if (!at.scheduler_conf.empty())
      CHECK(scheduler_.configure(at.scheduler_conf).ok());  // World::build_world() tried it
    scheduler_.set_witness(at.witness);
    scheduler_.start();
  }

 private:
  scheduler::Scheduler scheduler_;
};

template <class Part>
std::unique_ptr<Running> start(const PartContext& context) {
  return std::make_unique<Part>(context);
}

constexpr std::array kParts = {
    PartKind{"nodes", "kubelet", start<RunningNodes>},
    PartKind{"scheduler", "vc-scheduler", start<RunningScheduler>},
    PartKind{"controllers", "vc-controller-manager", start<RunningControllers>},
};

}  // namespace

std::span<const PartKind> all_parts() { return kParts; }

}  // namespace sim
