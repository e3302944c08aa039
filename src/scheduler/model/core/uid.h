// How does the model keep the uid of an object in few bytes?
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "scheduler/model/core/text.h"

namespace scheduler {

// Sixteen bytes where API servers write uids: as UUIDs of RFC 9562 in lower case. Any other text is kept as it is.
// Copies may be held on any thread.
class Uid {
 public:
  Uid() : high_(0) {}
  explicit Uid(std::string_view text);
  Uid(const Uid& other) : high_(0) { copy(other); }
  Uid(Uid&& other) noexcept : high_(0) { take(other); }
  ~Uid() { clear(); }
  Uid& operator=(const Uid& other) {
    if (this != &other) clear(), copy(other);
    return *this;
  }
  Uid& operator=(Uid&& other) noexcept {
    if (this != &other) clear(), take(other);
    return *this;
  }

  bool empty() const { return low_ == 0; }
  std::string str() const;

  friend bool operator==(const Uid& a, const Uid& b) {
    return a.low_ == b.low_ && (a.is_text() ? a.text_ == b.text_ : a.high_ == b.high_);
  }
  friend bool operator==(const Uid& a, std::string_view b) { return a == Uid(b); }
  // In the order of the texts.
  friend std::strong_ordering operator<=>(const Uid& a, const Uid& b);

 private:
  // The lower half: 0 of an empty one, 1 of a text, or that of the UUID, whose two upper bits are 1 and 0.
  static constexpr std::uint64_t kText = 1;
  bool is_text() const { return low_ == kText; }
  void clear() {
    if (is_text()) std::destroy_at(&text_);
    low_ = high_ = 0;
  }
  void copy(const Uid& other) {
    if (other.is_text())
      std::construct_at(&text_, other.text_);
    else
      high_ = other.high_;
    low_ = other.low_;
  }
  void take(Uid& other) {
    if (other.is_text())
      std::construct_at(&text_, std::move(other.text_));
    else
      high_ = other.high_;
    low_ = other.low_;
  }

  union {
    std::uint64_t high_;
    Text text_;
  };
  std::uint64_t low_ = 0;
};
static_assert(sizeof(Uid) == 16);

}  // namespace scheduler
