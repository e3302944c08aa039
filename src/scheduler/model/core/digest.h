// A number that tells whether two things say the same. Not for keys that others choose, and not across versions.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace scheduler {

class Digest {
 public:
  void add(std::uint64_t value) { value_ = (value_ ^ value) * 0x9e3779b97f4a7c15ull + (value_ >> 29); }
  void add(std::string_view text) { add(std::uint64_t{std::hash<std::string_view>{}(text)}); }
  // Never 0, so that 0 can mean that there is none.
  std::uint64_t value() const { return value_ | 1; }

 private:
  std::uint64_t value_ = 0;
};

}  // namespace scheduler
