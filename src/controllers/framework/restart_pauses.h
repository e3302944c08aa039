// How long does the place of a pod that ended young stay empty?
//
// COMPAT(restart-pauses): what ends as soon as it is made would be made again for ever, many times a second. The first
// one is replaced at once, the next after 10 s, then twice as long each time, up to five minutes. A place whose pods
// live for a minute begins anew.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/time.h"

namespace controllers {

// The pods of one owner have places, such as a node, an ordinal or a task; all pods of a place share its pause.
class RestartPauses {
 public:
  // One look at all pods of the owner: begin_look(), see() for each, end_look().
  void begin_look(base::Time now);
  void see(const std::string& place, const api::Json& pod);
  void end_look();
  // The owner deletes this pod because it does not want it any more.
  void forget(std::string_view uid);
  void clear();

  base::Duration left(const std::string& place, base::Time now) const;
  bool empty() const { return young_.empty() && levels_.empty(); }

 private:
  struct Young {
    std::string place;
    base::Time since;
    bool seen = false;
    bool settled = false;  // counted, or not to be counted
  };
  struct Level {
    int ended = 0;  // young, each of them made after the one before
    base::Time last;
  };

  void ended(const Young& young);

  base::Time now_;
  std::map<std::string, Young, std::less<>> young_;  // by uid
  std::map<std::string, Level> levels_;              // by place
};

// The pauses of all owners of one controller, for as long as they matter.
class PausesByOwner {
 public:
  // Valid until the next call.
  RestartPauses& of(const std::string& owner) {
    if (owners_.size() >= look_at_ && !owners_.contains(owner)) {
      std::erase_if(owners_, [](const auto& one) { return one.second.empty(); });
      look_at_ = owners_.size() * 2 + kLookAt;
    }
    return owners_[owner];
  }
  void forget(const std::string& owner) { owners_.erase(owner); }

 private:
  static constexpr std::size_t kLookAt = 256;

  std::map<std::string, RestartPauses> owners_;
  std::size_t look_at_ = kLookAt;  // the size at which those go that have nothing to say
};

}  // namespace controllers
