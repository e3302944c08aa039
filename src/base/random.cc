// xoshiro256** seeded by splitmix64.
#include "base/random.h"

#include <bit>

#include "base/check.h"

namespace base {

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

std::uint64_t Random::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::below(std::uint64_t limit) {
  CHECK(limit > 0);
  const std::uint64_t threshold = (0 - limit) % limit;  // rejects the biased tail
  for (;;) {
    const std::uint64_t value = next();
    if (value >= threshold) return value % limit;
  }
}

double Random::fraction() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

std::string Random::text(std::size_t length, std::string_view alphabet) {
  std::string result;
  for (std::size_t i = 0; i < length; ++i) result += alphabet[below(alphabet.size())];
  return result;
}

std::string Random::uuid() {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  std::uint64_t bits = 0;
  for (int i = 0; i < 32; ++i) {
    if (i % 16 == 0) bits = next();
    unsigned digit = static_cast<unsigned>(bits & 15);
    bits >>= 4;
    if (i == 12) digit = 4;
    if (i == 16) digit = 8 | (digit & 3);
    if (i == 8 || i == 12 || i == 16 || i == 20) result += '-';
    result += kHex[digit];
  }
  return result;
}

}  // namespace base
