// The network loses, delays and cuts.
#include "sim/faults/all.h"
#include "sim/world/network_client.h"
#include "sim/world/world.h"

namespace sim {

namespace {

// Sets one chance while the world is sick.
class NetworkFault final : public Fault {
 public:
  NetworkFault(World& world, double NetworkFaults::*chance, double value, base::Duration slow_max = {})
      : world_(world), chance_(chance), value_(value), slow_max_(slow_max) {}

  void begin() override {
    world_.network().faults.*chance_ = value_;
    if (slow_max_.ns > 0) world_.network().faults.slow_max = slow_max_;
  }
  void heal() override { world_.network().faults.*chance_ = 0; }

 private:
  World& world_;
  double NetworkFaults::*chance_;
  double value_;
  base::Duration slow_max_;
};

std::unique_ptr<Fault> make(World& world, double NetworkFaults::*chance, Settings& settings, base::Random& dice) {
  return std::make_unique<NetworkFault>(world, chance, settings.fraction("chance", 0.01, dice));
}

}  // namespace

std::unique_ptr<Fault> make_drop_request(World& world, Settings& settings, base::Random& dice) {
  return make(world, &NetworkFaults::drop_request, settings, dice);
}
std::unique_ptr<Fault> make_drop_answer(World& world, Settings& settings, base::Random& dice) {
  return make(world, &NetworkFaults::drop_answer, settings, dice);
}
std::unique_ptr<Fault> make_conflict(World& world, Settings& settings, base::Random& dice) {
  return make(world, &NetworkFaults::conflict, settings, dice);
}
std::unique_ptr<Fault> make_cut_watch(World& world, Settings& settings, base::Random& dice) {
  return make(world, &NetworkFaults::cut_watch, settings, dice);
}

std::unique_ptr<Fault> make_slow_network(World& world, Settings& settings, base::Random& dice) {
  const double chance = settings.fraction("chance", 0.01, dice);
  return std::make_unique<NetworkFault>(world, &NetworkFaults::slow, chance,
                                        settings.span("longest", base::seconds(5), dice));
}

}  // namespace sim
