// The processes of a world: the API server and the parts. Each may crash, and starts with a new environment and client.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/world/chronicle.h"
#include "sim/world/decisions.h"
#include "sim/world/network_client.h"
#include "sim/world/parts.h"

namespace sim {

class Processes {
 public:
  // The parts of the world that a crash leaves as they are. They outlive the processes.
  struct Surroundings {
    std::uint64_t seed;
    Clock& clock;
    Chronicle& chronicle;
    ExternalWorld& outside;
    Server& server;
    Network& network;
    Decisions& decisions;
    const ClusterSettings& settings;
  };

  explicit Processes(const Surroundings& at) : at_(at) {}

  void add(const PartKind& kind);  // it is down until it is started
  // "apiserver" and the parts, in the order in which they start.
  std::vector<std::string> names() const;
  bool is_up(const std::string& name) const;
  void crash(const std::string& name);  // if it is up
  void start(const std::string& name);  // if it is down

 private:
  struct Process {
    const PartKind* kind;
    std::unique_ptr<SimEnv> env;
    std::unique_ptr<client::Client> client;
    std::unique_ptr<Running> component;
    int incarnation = 0;
  };

  Surroundings at_;
  Machines machines_;
  std::map<std::string, Process> processes_;
  std::vector<std::string> start_order_;
};

}  // namespace sim
