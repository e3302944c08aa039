// Does a controller come to what was asked for, whatever fails on the way?
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "controllers/framework/world_for_tests.h"

namespace controllers {

// One controller in a world where writes fail and processes end, by the dice.
class Trial {
 public:
  using Make = std::function<std::unique_ptr<Controller>()>;

  Trial(std::uint64_t seed, Make make) : world(seed), make_(std::move(make)) {
    restart();
    world.use_indexes_of(*controller);
    world.refuse = [this](const Action& action) -> std::optional<base::Error> {
      const bool harmless = action.verb == Action::Verb::kFetch || action.verb == Action::Verb::kProbe;
      if (harmless || !faults || !world.dice.chance(0.2)) return std::nullopt;
      return base::make_error(world.dice.chance(0.5) ? base::Code::kConflict : base::Code::kForbidden, "a fault");
    };
  }
  void restart() { controller = make_(); }

  // True: nothing is left to write.
  bool look(const std::string& key) {
    if (faults && world.dice.chance(0.1)) restart();
    const Plan plan = controller->step(world, key, {.now = world.now});
    // A crash between two writes: what is done is done, and nobody hears of it.
    Ending ending = world.apply(plan);
    if (faults && world.dice.chance(0.1))
      restart();
    else
      controller->finished(key, std::move(ending));
    return writes_nothing(plan) && !(plan.look_again() && *plan.look_again() <= base::Duration{});
  }
  bool comes_to_rest(const std::string& key) {
    faults = false;
    for (int round = 0; round < 20; ++round)
      if (look(key)) return true;
    return false;
  }

  TestWorld world;
  std::unique_ptr<Controller> controller;
  bool faults = true;

 private:
  Make make_;
};

}  // namespace controllers
