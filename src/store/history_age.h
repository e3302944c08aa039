// The age of revisions: which of them are older than a limit. One mark for each stretch of time, not for each write.
// Pure.
#pragma once

#include <cstdint>
#include <deque>

#include "base/time.h"

namespace store {

class HistoryAge {
 public:
  explicit HistoryAge(base::Duration limit) : limit_(limit) {}

  // `revision` is the newest one at `uptime`. Uptimes and revisions never fall.
  void record(base::Duration uptime, std::int64_t revision) {
    if (marks_.empty() || uptime - marks_.back().uptime >= kStretch)
      marks_.push_back({uptime, revision});
    else
      marks_.back().revision = revision;
  }
  // The newest revision that is older than the limit; 0: none is. It may be a stretch older.
  std::int64_t aged(base::Duration uptime) {
    while (!marks_.empty() && uptime - marks_.front().uptime >= limit_ + kStretch) {
      aged_ = marks_.front().revision;
      marks_.pop_front();
    }
    return aged_;
  }

  // The longest time that revisions stay beyond the limit.
  static constexpr base::Duration kStretch = base::seconds(30);

 private:
  // All revisions behind those of the mark before, up to this one, are of the stretch that begins at `uptime`.
  struct Mark {
    base::Duration uptime;
    std::int64_t revision;
  };
  base::Duration limit_;
  std::deque<Mark> marks_;
  std::int64_t aged_ = 0;
};

}  // namespace store
