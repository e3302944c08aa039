// One function per fault; all.cc has the names.
#pragma once

#include <memory>

#include "sim/world/pieces.h"

namespace sim {

std::unique_ptr<Fault> make_conflict(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_cut_watch(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_disk_error(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_drop_answer(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_drop_request(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_refuse(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_restart(World& world, Settings& settings, base::Random& dice);
std::unique_ptr<Fault> make_slow_network(World& world, Settings& settings, base::Random& dice);

}  // namespace sim
