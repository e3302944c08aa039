// The memory of a key between its steps, for as long as it matters.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "controllers/framework/execution.h"

namespace controllers {

// After these a key is decided on what the view shows.
inline constexpr base::Duration kCreationLagMax = base::seconds(2);
inline constexpr base::Duration kViewLagMax = base::minutes(2);

struct KeyState {
  int failures = 0;
  std::string error;             // the last failure
  std::vector<Written> awaited;  // what the last plan wrote
  base::Time awaited_since;
  base::Duration rest_until;  // on env.uptime(): a costly key is looked at less often
};

// Most keys are looked at once or twice and then never again, such as pods that got their group: what is known of them
// goes in time.
class KeyStates {
 public:
  // Valid until the next call.
  KeyState& of(const std::string& key, base::Time now, base::Duration uptime) {
    KeyState& state = states_[key];
    if (states_.size() < look_at_) return state;
    std::erase_if(states_, [&](const auto& one) { return one.first != key && is_over(one.second, now, uptime); });
    look_at_ = std::max<std::size_t>(kLookAt, states_.size() * 2);
    return state;
  }
  void forget(const std::string& key) { states_.erase(key); }
  std::size_t size() const { return states_.size(); }

 private:
  static constexpr std::size_t kLookAt = 1024;

  static bool is_over(const KeyState& state, base::Time now, base::Duration uptime) {
    return state.failures == 0 && state.rest_until <= uptime &&
           (state.awaited.empty() || now - state.awaited_since >= kViewLagMax);
  }

  std::map<std::string, KeyState> states_;
  std::size_t look_at_ = kLookAt;  // the size at which those go that are over
};

}  // namespace controllers
