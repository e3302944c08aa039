// Which reports become one event: equal ones are counted, many that differ in their text alone are combined, and an
// object about which too much is said is heard less often. The rules and numbers are those of Kubernetes' client
// libraries, so that `kubectl describe` shows the same.
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace client {

// A text by its hash: what is remembered of events stays small, however long their texts are.
struct TextHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const TextHash&) const = default;
};
TextHash hash_text(std::string_view text);

// The values used last, by key.
template <class Value>
class RecentlyUsed {
 public:
  explicit RecentlyUsed(std::size_t size_max) : size_max_(size_max) {}

  // The value of `key`, a new one if it is not remembered; the value used least recently is forgotten for it. Good
  // until the next call.
  Value& use(const TextHash& key) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end()) {
      values_.splice(values_.begin(), values_, found->second);
      return values_.front().second;
    }
    if (values_.size() >= size_max_) {
      by_key_.erase(values_.back().first);
      values_.pop_back();
    }
    values_.emplace_front(key, Value());
    by_key_[key] = values_.begin();
    return values_.front().second;
  }
  std::size_t size() const { return values_.size(); }

 private:
  using Values = std::list<std::pair<TextHash, Value>>;
  std::size_t size_max_;
  Values values_;  // most recently used first
  std::map<TextHash, typename Values::iterator> by_key_;
};

// Loop thread of its owner.
class EventCorrelator {
 public:
  struct Report {
    std::string_view object;  // all that tells the object apart: namespace, kind, name, uid
    std::string_view kind;    // all that tells its events apart but for the text: part of the object, type, reason
    std::string_view message;
  };
  struct Verdict {
    TextHash event;          // reports with equal hashes are one event
    bool combined = false;   // of many messages; the text says so and changes with each
    bool is_written = true;  // false: counted, but not written now
  };
  Verdict judge(const Report& report, base::Time now);

 private:
  // Messages of one object, type and reason.
  struct Similar {
    std::vector<std::uint64_t> messages;  // hashes of different ones
    base::Time last;
  };
  // A token bucket.
  struct Allowance {
    double tokens = -1;  // below zero: new
    base::Time filled;
  };
  static constexpr std::size_t kRemembered = 4096;

  RecentlyUsed<Similar> similar_{kRemembered};
  RecentlyUsed<Allowance> allowances_{kRemembered};
};

}  // namespace client
