// The constant regular expressions of rules that belong together (of one definition, of one policy): equal ones are
// compiled once, and what all of them are compiled to is bounded, for a few bytes can take very long (`\pL{29}`).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace api::cel {

struct Pattern;

// For one thread; what it hands out is for any.
class Patterns {
 public:
  // Steps of RE2's programs; of those for classes of Unicode, 100,000 take 30 ms to compile.
  static constexpr std::size_t kStepsMax = 200'000, kStepsOfOneMax = 60'000;

  explicit Patterns(std::size_t steps_max = kStepsMax) : steps_max_(steps_max) {}

  // Null where the text is none, or where there are too many already.
  std::shared_ptr<const Pattern> read(const std::string& text);
  bool is_full() const { return steps_ > steps_max_; }

 private:
  std::size_t steps_max_;
  std::size_t steps_ = 0;
  std::map<std::string, std::shared_ptr<const Pattern>> known_;
};

}  // namespace api::cel
