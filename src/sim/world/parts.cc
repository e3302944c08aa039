// The list of parts.
#include "sim/world/parts.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "client/client.h"
#include "controllers/all.h"
#include "scheduler/scheduler.h"

namespace sim {

namespace {

class RunningNodes final : public Running {
 public:
  explicit RunningNodes(const PartContext& at) : nodes_(at.env, at.client, at.machines, at.settings.nodes) {
    nodes_.start();
  }

 private:
  Nodes nodes_;
};

class RunningControllers final : public Running {
 public:
  explicit RunningControllers(const PartContext& at) : manager_(at.env, at.client, options(at)) { manager_.start(); }

 private:
  // The batch scheduler gets the fuller half of the nodes, so that nodes go to and fro with what runs on them.
  static controllers::Options options(const PartContext& at) {
    controllers::Options out;
    out.with_cluster = true;
    out.pipelines.emplace();
    out.training = controllers::training::Options();
    out.training->mpi_version = at.settings.mpi.version;
    out.training->launcher_jobs = at.settings.mpi.launcher_jobs;
    if (at.settings.mpi.launcher_jobs) out.kubernetes = controllers::workloads::Options{.enabled = {"job"}};
    if (at.settings.notebooks) {
      out.notebooks.emplace();
      out.notebooks->istio = false;
      out.notebooks->makes_roles = out.notebooks->isolates = true;
      out.kubernetes = controllers::workloads::Options{.enabled = {"statefulset"}};
    }
    // The world is the same each time that it is made from one seed, and so are its keys.
    out.secret_bytes = [&env = at.env](std::size_t count) {
      std::string bytes;
      while (bytes.size() < count) bytes += env.random().uuid();
      return bytes;
    };
    if (at.settings.sharding == "none") return out;
    out.enabled = {"*"};
    const controllers::sharding::Policy rate{.name = "allocation-rate"};
    const controllers::sharding::Policy half{.name = "node-limit",
                                             .nodes_max = std::max(at.settings.nodes.nodes / 2, 1)};
    out.sharding.config = {.schedulers = {{.name = "volcano", .type = "batch", .policies = {rate, half}},
                                          {.name = "agent-scheduler", .type = "agent", .policies = {rate}}},
                           .sync_period = base::seconds(5)};
    return out;
  }

  controllers::Manager manager_;
};

scheduler::Options sharded(scheduler::Options options, const PartContext& at) {
  options.sharding_mode = at.settings.sharding;
  return options;
}

class RunningAgentScheduler final : public Running {
 public:
  explicit RunningAgentScheduler(const PartContext& at)
      : scheduler_(at.env, at.client, sharded(scheduler::agent_options(), at)) {
    scheduler_.set_witness(at.witness);
    scheduler_.start();
  }

 private:
  scheduler::Scheduler scheduler_;
};

class RunningScheduler final : public Running {
 public:
  explicit RunningScheduler(const PartContext& at) : scheduler_(at.env, at.client, sharded({}, at)) {
    if (!at.settings.scheduler_conf.empty())
      CHECK(scheduler_.configure(at.settings.scheduler_conf).ok());  // World::build_world() tried it
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
    PartKind{"agent-scheduler", "vc-agent-scheduler", start<RunningAgentScheduler>, false},
    PartKind{"controllers", "vc-controller-manager", start<RunningControllers>},
};

}  // namespace

std::span<const PartKind> all_parts() { return kParts; }

}  // namespace sim
