// A whole cluster in one thread on virtual time: from one definition and one seed, always the same run.
//
// First the workloads ask and the faults break (safety: the checks watch every change); then the faults are healed and
// the workloads end (progress: everything must come to rest in time).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/world/chronicle.h"
#include "sim/world/definition.h"
#include "sim/world/external_world.h"
#include "sim/world/parts.h"
#include "sim/world/pieces.h"
#include "sim/world/truth.h"

namespace sim {

class Decisions;
class Processes;
class Server;
class SimEnv;
struct Network;

struct Outcome {
  std::uint64_t hash = 0;
  base::Duration span;        // virtual
  std::uint64_t changes = 0;  // objects added, changed, deleted
  std::uint64_t steps = 0;    // callbacks run
  std::vector<std::string> violations;
};

// Somebody outside the cluster with a client: a user, an observer. Does not crash.
struct Person {
  Person();
  ~Person();
  std::unique_ptr<SimEnv> env;
  std::unique_ptr<client::Client> client;
};

class World {
 public:
  // Errors are problems of the definition and name its line.
  static base::Result<std::unique_ptr<World>> make(std::string_view definition, std::uint64_t seed,
                                                   Chronicle::Print print);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Outcome run();
  // All objects as they are, one JSON document a line.
  std::string objects_text() const;

  // --- for pieces ---
  Clock& clock() { return clock_; }
  Chronicle& chronicle() { return chronicle_; }
  Truth& truth() { return truth_; }
  Decisions& decisions() { return *decisions_; }
  Server& server() { return *server_; }
  Network& network() { return *network_; }
  Processes& processes() { return *processes_; }
  const ClusterSettings& settings() const { return settings_; }
  bool is_healed() const { return healed_; }
  std::unique_ptr<Person> make_person(const std::string& name);
  // Runs `task` in the world's own time, outside any process.
  void after(base::Duration delay, rt::Task task) { clock_.add(director_, delay, std::move(task)); }

  // Hosts that processes can call, and disks.
  ExternalWorld& outside() { return outside_; }

 private:
  World(std::uint64_t seed, Chronicle::Print print);
  base::Status build(Definition& definition);
  base::Status build_world(Settings& settings);
  template <class Piece>
  base::Status build_pieces(std::vector<Settings>& tables, std::span<const PieceKind<Piece>> kinds,
                            std::vector<std::unique_ptr<Piece>>& pieces);
  void bring_to_rest();
  void stay_at_rest();
  // Empty at rest, else why not.
  std::string wait_for_rest(base::Duration limit);
  std::string unrest();

  std::uint64_t seed_;
  Clock clock_;
  ExternalWorld outside_;
  Chronicle chronicle_;
  Truth truth_;
  std::unique_ptr<Decisions> decisions_;
  ClusterSettings settings_;
  base::Random dice_;
  Owner director_ = clock_.make_owner();
  bool healed_ = false;
  base::Duration duration_ = base::minutes(2);
  base::Duration rest_within_ = base::minutes(10);
  static constexpr base::Duration kRestWatched = base::minutes(2);
  base::Duration quiet_ = base::seconds(30);
  std::unique_ptr<Server> server_;
  std::unique_ptr<Network> network_;
  std::unique_ptr<Processes> processes_;
  std::vector<std::unique_ptr<Workload>> workloads_;
  std::vector<std::unique_ptr<Fault>> faults_;
  std::vector<std::unique_ptr<Check>> checks_;
};

}  // namespace sim
