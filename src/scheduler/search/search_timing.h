// How long did one search take?
#pragma once

#include <functional>
#include <utility>

namespace scheduler {

// In seconds of wall time.
struct SearchTime {
  double filters = 0;
  double scores = 0;
};

// Splits the time of one search between filters and scores; without a clock nothing is measured.
class SearchTiming {
 public:
  explicit SearchTiming(const std::function<double()>& clock) : clock_(clock), last_(clock ? clock() : 0) {}
  void filtered() { lap(&SearchTime::filters); }
  void scored() { lap(&SearchTime::scores); }
  const SearchTime& time() const { return time_; }

 private:
  void lap(double SearchTime::*part) {
    if (!clock_) return;
    const double now = clock_();
    time_.*part += now - std::exchange(last_, now);
  }

  const std::function<double()>& clock_;
  SearchTime time_;
  double last_;
};

}  // namespace scheduler
