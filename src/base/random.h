// Seeded randomness: the only dice of the program. Two generators with equal seeds agree for ever,
// on every platform (splitmix64 seeding xoshiro256**; Blackman and Vigna, 2018).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace base {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t next();
  // Uniform in [0, limit); limit must be above zero.
  std::uint64_t below(std::uint64_t limit);
  // Uniform in [0, 1).
  double fraction();
  bool chance(double probability) { return fraction() < probability; }
  // `length` characters drawn from `alphabet`, which must not be empty.
  std::string text(std::size_t length, std::string_view alphabet);
  // A version 4 UUID in lower case.
  std::string uuid();

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace base
