// The pieces that a definition can name: workloads, faults and checks. Each is one file and one row in all.cc.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/random.h"
#include "sim/world/definition.h"

namespace sim {

class World;

// Asks the world for things, as users do, from the start until it is told to stop.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual void start() = 0;
  // No new requests; what was asked for is still seen through, and what was closed is opened.
  virtual void stop() = 0;
  // True once every request of its own was answered.
  virtual bool done() const = 0;
};

// Breaks things until it is healed.
class Fault {
 public:
  virtual ~Fault() = default;
  virtual void begin() = 0;
  // Undoes what lasts; nothing breaks after this.
  virtual void heal() = 0;
};

// Watches from outside. Violations go to the chronicle.
class Check {
 public:
  virtual ~Check() = default;
  virtual void begin() = 0;
  // Why the healed world is not at rest yet, as far as this check is concerned; empty if it is.
  virtual std::string unrest() { return {}; }
  // Once, when the healed world is at rest or its time is over.
  virtual void finish() {}
};

// Reads its settings in the constructor; the world checks afterwards that all keys were used.
template <class Piece>
struct PieceKind {
  std::string_view name;
  std::unique_ptr<Piece> (*make)(World& world, Settings& settings, base::Random& dice);
};

std::span<const PieceKind<Workload>> all_workloads();
std::span<const PieceKind<Fault>> all_faults();
std::span<const PieceKind<Check>> all_checks();

}  // namespace sim
