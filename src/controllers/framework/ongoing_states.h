// A state that holds from one look to the next is said once: an event when it begins, and none while it lasts.
#pragma once

#include <set>
#include <string>
#include <utility>

namespace controllers {

// The messages of one look at one object. A controller keeps all() for the next look.
class OngoingStates {
 public:
  explicit OngoingStates(std::set<std::string> before) : before_(std::move(before)) {}

  // Whether it did not hold at the last look.
  bool is_new(const std::string& what) {
    now_.insert(what);
    return !before_.contains(what);
  }
  const std::set<std::string>& all() const { return now_; }

 private:
  std::set<std::string> before_;
  std::set<std::string> now_;
};

}  // namespace controllers
