// A random cluster of the few features that decide_by_the_book() knows: queues, gangs, priorities, shares.
#include <string>

#include "base/format.h"
#include "base/random.h"
#include "random_cluster.h"

namespace scenario {
namespace {

std::string amounts(base::Random& dice, const char* field, double chance, std::uint64_t most) {
  if (!dice.chance(chance)) return "";
  std::string out = base::format(" {}=cpu:{}", field, 1 + dice.below(most));
  if (dice.chance(0.3)) out += base::format(",memory:{}Gi", 1 + dice.below(2 * most));
  return out;
}

std::string random_tiers(base::Random& dice) {
  std::string first = "gang", second = "predicates";
  if (dice.chance(0.6)) first = dice.chance(0.7) ? "priority gang" : "gang priority";
  if (dice.chance(0.5)) second = dice.chance(0.5) ? "drf predicates" : "predicates drf";
  const std::uint64_t sharing = dice.below(3);
  if (sharing > 0) second += sharing == 1 ? " proportion" : " capacity";
  if (dice.chance(0.4)) second += " binpack";
  return first + (dice.chance(0.8) ? " | " : " ") + second;
}

}  // namespace

std::string random_allocation(std::uint64_t seed) {
  base::Random dice(seed);
  std::string out = base::format(
      "conf actions=allocate tiers=\"{}\"\nshow order\nclass high value=10\nclass low value=1\n", random_tiers(dice));
  const std::uint64_t queues = 1 + dice.below(4), nodes = 1 + dice.below(6);
  for (std::uint64_t q = 0; q < queues; ++q) {
    out += base::format("queue q{} weight={}", q, 1 + dice.below(4));
    out += amounts(dice, "capability", 0.3, 12);
    out += amounts(dice, "deserved", 0.5, 8);
    if (dice.chance(0.2) && out.find("capability", out.rfind('\n')) == std::string::npos)
      out += amounts(dice, "guarantee", 1, 3);
    if (dice.chance(0.2)) out += base::format(" priority={}", dice.below(3));
    out += dice.chance(0.03) ? " state=Closed\n" : "\n";
  }
  for (std::uint64_t n = 0; n < nodes; ++n) {
    out += base::format("node n{} cpu={}", n, 1 + dice.below(8));
    if (dice.chance(0.5)) out += base::format(" memory={}Gi", 1 + dice.below(12));
    if (dice.chance(0.3)) out += base::format(" pods={}", 1 + dice.below(6));
    out += dice.chance(0.5) ? base::format(" labels=zone:z{}\n", dice.below(2)) : "\n";
  }
  int next = 10;
  for (std::uint64_t phases = 1 + dice.below(4); phases > 0; --phases) {
    for (std::uint64_t groups = dice.below(5); groups > 0; --groups, ++next) {
      const std::uint64_t size = 1 + dice.below(7), min = dice.chance(0.15) ? 0 : 1 + dice.below(size);
      out += base::format("group a/g{} queue=q{} min={}", next, dice.below(queues), min);
      if (dice.chance(0.6)) out += dice.chance(0.5) ? " class=high" : " class=low";
      out += "\n";
      for (std::uint64_t at = 0; at < size;) {
        const std::uint64_t last = at + dice.below(size - at);
        out += base::format("pod a/g{}-x-{{{}..{}}} group=g{}", next, at, last, next);
        if (!dice.chance(0.08)) {
          out += base::format(" cpu={}m", 250 * (1 + dice.below(10)));
          if (dice.chance(0.5)) out += base::format(" memory={}Mi", 512 * (1 + dice.below(6)));
        }
        if (dice.chance(0.3)) out += base::format(" priority={}", dice.below(4));
        if (dice.chance(0.15)) out += base::format(" selector=zone:z{}", dice.below(2));
        out += "\n";
        at = last + 1;
      }
    }
    if (next > 10 && dice.chance(0.6)) {
      const std::uint64_t group = 10 + dice.below(static_cast<std::uint64_t>(next) - 10);
      out += base::format("delete a/g{}-x-{} maybe\n", group, dice.below(4));
    }
    out += "cycle\n\n";
  }
  return out;
}

}  // namespace scenario
