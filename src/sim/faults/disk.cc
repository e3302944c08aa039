// The API server's disk refuses to keep what it is given.
#include "sim/faults/all.h"
#include "sim/world/server.h"
#include "sim/world/world.h"

namespace sim {

namespace {

class DiskError final : public Fault {
 public:
  DiskError(World& world, double chance) : world_(world), chance_(chance) {}

  void begin() override { world_.server().disk().fails = chance_; }
  void heal() override { world_.server().disk().fails = 0; }

 private:
  World& world_;
  double chance_;
};

}  // namespace

std::unique_ptr<Fault> make_disk_error(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<DiskError>(world, settings.fraction("chance", 0.05, dice));
}

}  // namespace sim
