// When does a busy connection look for more? Each look wakes threads and costs system calls, whatever it finds; where
// answers come one by one all the time, a few are awaited and taken together.
#pragma once

#include <algorithm>
#include <chrono>
#include <utility>

namespace rt {

// One thread. Without a clock of its own.
class ReadPace {
 public:
  using Clock = std::chrono::steady_clock;

  // Called for each read: how many answers ended with it, or 1. Answers that were all there count each, so that a pause
  // in which all arrive that are awaited makes the next one shorter.
  void took(int answers) { pieces_ += std::max(1, answers); }
  // All that came has been taken. How long to wait before the next look; zero: not at all.
  Clock::duration pause(Clock::time_point now) {
    // Sums in which what was lately weighs most: a look that finds many answers says more than one that finds one.
    time_ = time_ * 7 / 8 + std::min<Clock::duration>(now - begun_, kForget);
    begun_ = now;
    answers_ = answers_ * 7 / 8 + std::exchange(pieces_, 0);
    // A pause is a part of the time that the next answers take, so it does not lengthen what it is made of.
    const auto each = std::chrono::duration_cast<Clock::duration>(time_ / std::max(1.0, answers_));
    if (each > kSeldom) return {};
    return std::min<Clock::duration>(each * kTogether, kPauseMax);
  }

 private:
  static constexpr int kTogether = 8;
  static constexpr std::chrono::milliseconds kPauseMax{10};
  static constexpr std::chrono::milliseconds kSeldom{4};  // pieces that come less often are taken as they come
  static constexpr std::chrono::milliseconds kForget{100};

  int pieces_ = 0;
  Clock::time_point begun_{};
  Clock::duration time_ = 8 * kForget;
  double answers_ = 8;
};

}  // namespace rt
