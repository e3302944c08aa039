// When were statuses written last?
#pragma once

#include <algorithm>
#include <map>
#include <string>

#include "base/time.h"

namespace controllers {

// When the status of each key was written last; a key that may be written again is forgotten in time.
class StatusTimes {
 public:
  explicit StatusTimes(base::Duration interval) : interval_(interval) {}

  base::Duration wait(const std::string& key, base::Duration now) const {
    const auto found = times_.find(key);
    return found == times_.end() ? base::Duration{} : std::max(base::Duration{}, found->second + interval_ - now);
  }
  void wrote(const std::string& key, base::Duration now) {
    if (interval_ <= base::Duration{}) return;
    times_[key] = now;
    if (times_.size() < look_at_) return;
    std::erase_if(times_, [&](const auto& one) { return one.second + interval_ <= now; });
    look_at_ = std::max<std::size_t>(1024, times_.size() * 2);
  }

 private:
  base::Duration interval_;
  std::map<std::string, base::Duration> times_;  // on env.uptime()
  std::size_t look_at_ = 1024;                   // the size at which old entries go
};

}  // namespace controllers
