// A process is killed now and then, and started again a while later.
#include <algorithm>

#include "sim/faults/all.h"
#include "sim/world/processes.h"
#include "sim/world/world.h"

namespace sim {

namespace {

std::vector<std::string> who_there_is(World& world) {
  std::vector<std::string> names = world.processes().names();
  names.insert(names.begin(), "any");
  return names;
}

class Restart final : public Fault {
 public:
  Restart(World& world, Settings& settings, base::Random& dice)
      : world_(world),
        dice_(dice.next()),
        who_(settings.one_of("who", "any", who_there_is(world))),
        every_(settings.pause_range("every", {20'000'000'000, 60'000'000'000})),
        down_(settings.span_range("down", {100'000'000, 5'000'000'000})) {}

  void begin() override { arm(); }
  void heal() override { healed_ = true; }

 private:
  void arm() {
    world_.after({every_.draw(dice_)}, [this] {
      if (healed_) return;
      strike();
      arm();
    });
  }

  void strike() {
    const std::vector<std::string> names = world_.processes().names();
    const std::string name = who_ == "any" ? names[dice_.below(names.size())] : who_;
    if (!world_.processes().is_up(name)) return;
    world_.processes().crash(name);
    world_.after({down_.draw(dice_)}, [this, name] { world_.processes().start(name); });
  }

  World& world_;
  base::Random dice_;
  std::string who_;
  Settings::Range every_;
  Settings::Range down_;
  bool healed_ = false;
};

}  // namespace

std::unique_ptr<Fault> make_restart(World& world, Settings& settings, base::Random& dice) {
  return std::make_unique<Restart>(world, settings, dice);
}

}  // namespace sim
