// The processes of a world, each as production runs it, apart from its client and its environment.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sim/world/machines.h"
#include "sim/world/nodes.h"

namespace client {
class Client;
}
namespace rt {
class Env;
}
namespace scheduler {
class CycleWitness;
}

namespace sim {

// A component that runs. Its destruction is its crash.
class Running {
 public:
  virtual ~Running() = default;
};

// Which MPIJobs a world has.
struct MpiSettings {
  std::string version = "v1";
  bool launcher_jobs = false;  // launchers of v2beta1 are Jobs of Kubernetes, and their controller runs
};

// The settings of a world that its parts are started with.
struct ClusterSettings {
  NodeSettings nodes = {};
  std::string scheduler_conf = {};  // empty: the built-in one
  std::string sharding = "none";    // none, hard or soft
  MpiSettings mpi = {};
  bool notebooks = false;  // whether the controllers of notebooks run, and that of StatefulSets
};

struct PartContext {
  rt::Env& env;
  client::Client& client;
  Machines& machines;
  const ClusterSettings& settings;
  scheduler::CycleWitness& witness;
};

struct PartKind {
  std::string_view name;    // "scheduler"
  std::string_view client;  // the name it is known by at the server: "vc-scheduler"
  std::unique_ptr<Running> (*start)(const PartContext& context);
  bool by_default = true;  // in worlds that do not say which parts they have
};

// Besides the API server, in the order in which they start.
std::span<const PartKind> all_parts();

}  // namespace sim
