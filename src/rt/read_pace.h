// When does a busy connection look for more? Each look wakes threads and costs system calls, whatever it finds; where
// answers come one by one all the time, a few are awaited and taken together.
#pragma once

#include <algorithm>
#include <chrono>

namespace rt {

// One thread. Without a clock of its own.
class ReadPace {
 public:
  using Clock = std::chrono::steady_clock;

  // Called for each piece that was read.
  void took() { ++pieces_; }
  // All that came has been taken. How long to wait before the next look; zero: not at all.
  Clock::duration pause(Clock::time_point now) {
    const Clock::duration since = std::min<Clock::duration>(now - begun_, kForget);
    begun_ = now;
    const Clock::duration each = since / std::max(1, pieces_);
    pieces_ = 0;
    // A pause is a part of the time that the next pieces take, so it does not lengthen what it is made of.
    each_ = (each_ * 7 + each) / 8;
    if (each_ > kSeldom) return {};
    return std::min<Clock::duration>(each_ * kTogether, kPauseMax);
  }

 private:
  static constexpr int kTogether = 8;
  static constexpr std::chrono::milliseconds kPauseMax{10};
  static constexpr std::chrono::milliseconds kSeldom{4};  // pieces that come less often are taken as they come
  static constexpr std::chrono::milliseconds kForget{100};

  int pieces_ = 0;
  Clock::time_point begun_{};
  Clock::duration each_ = kForget;  // between two pieces, as it was lately
};

}  // namespace rt
