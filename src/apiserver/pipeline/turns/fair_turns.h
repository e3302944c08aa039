// The next user's turn, if many wait for one thing. Fair queuing by what each has used so far: the user who has used
// the least goes next, whatever the others have waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/time.h"

namespace apiserver {

// Knows tickets, not what they stand for. A user's tickets keep their order. A user who comes back after a pause has
// neither saved anything up nor a debt that others have not waited for.
class FairTurns {
 public:
  using Ticket = std::uint64_t;  // 0 is none

  struct Limits {
    std::size_t of_a_user = SIZE_MAX;  // tickets that wait
    std::size_t of_all = SIZE_MAX;
  };
  FairTurns() = default;
  explicit FairTurns(Limits limits) : limits_(limits) {}

  // Nothing: as many wait as may, of this user or of all.
  std::optional<Ticket> add(const std::string& user);
  // The next one, which waits no more; 0: nobody waits but who is held.
  Ticket next();
  // Adds the time that the ticket given last by next() has used, beyond what was said before.
  void used(base::Duration time) { used_by(last_user_, time); }
  // The same of a user, later: nothing happens if the others have caught up meanwhile.
  void used_by(const std::string& user, base::Duration time);
  // The user's tickets wait until release(), whoever else does not.
  void hold(const std::string& user);
  void release(const std::string& user);
  // Whether next() has one.
  bool ready() const { return !in_order_.empty(); }
  // False: it does not wait.
  bool remove(Ticket ticket);
  // The user of the ticket given last.
  const std::string& user() const { return last_user_; }
  std::size_t waiting() const { return at_.size(); }

 private:
  struct User {
    std::int64_t used = 0;  // nanoseconds, from the beginning of this crowd on; never below reached_ while waiting
    std::list<Ticket> tickets = {};
  };
  using Users = std::map<std::string, User>;
  using Key = std::pair<std::int64_t, std::string>;  // what was used, and by whom

  void forget_caught_up();
  void drop_if_empty(Users::iterator user);

  Limits limits_;
  Users users_;  // those who wait, and those who have used more than others
  std::set<std::string> held_;
  std::set<Key> in_order_;    // those who wait and are not held
  std::set<Key> in_advance_;  // those of whom nothing waits
  std::unordered_map<Ticket, std::pair<Users::iterator, std::list<Ticket>::iterator>> at_;
  std::int64_t reached_ = 0;  // what the one who went last had used
  Ticket last_ = 0;
  std::string last_user_;
};

}  // namespace apiserver
