// Start-time fair queuing: each user has a clock of its own that runs while it is served.
#include "apiserver/pipeline/turns/fair_turns.h"

#include <algorithm>

namespace apiserver {

std::optional<FairTurns::Ticket> FairTurns::add(const std::string& name) {
  const auto [user, is_new] = users_.try_emplace(name);
  if (is_new) user->second.used = reached_;
  if (at_.size() >= limits_.of_all || user->second.tickets.size() >= limits_.of_a_user) {
    if (is_new) users_.erase(user);
    return {};
  }
  std::list<Ticket>& tickets = user->second.tickets;
  if (tickets.empty()) {
    in_advance_.erase({user->second.used, name});
    user->second.used = std::max(user->second.used, reached_);
    if (!held_.contains(name)) in_order_.emplace(user->second.used, name);
  }
  tickets.push_back(++last_);
  at_.emplace(last_, std::pair(user, std::prev(tickets.end())));
  return last_;
}

FairTurns::Ticket FairTurns::next() {
  if (in_order_.empty()) {
    if (!at_.empty()) return 0;
    // The crowd is over.
    users_.clear();
    in_advance_.clear();
    return 0;
  }
  const auto user = users_.find(in_order_.begin()->second);
  reached_ = user->second.used;
  last_user_ = user->first;
  const Ticket ticket = user->second.tickets.front();
  remove(ticket);
  forget_caught_up();
  return ticket;
}

void FairTurns::used_by(const std::string& name, base::Duration time) {
  const auto user = users_.find(name);
  if (user == users_.end()) return;
  const bool waits = !user->second.tickets.empty();
  std::set<Key>& kept = waits ? in_order_ : in_advance_;
  kept.erase({user->second.used, name});
  user->second.used += std::max<std::int64_t>(time.ns, 1);
  if (!waits || !held_.contains(name)) kept.emplace(user->second.used, name);
}

void FairTurns::hold(const std::string& name) {
  held_.insert(name);
  if (const auto user = users_.find(name); user != users_.end()) in_order_.erase({user->second.used, name});
}

void FairTurns::release(const std::string& name) {
  if (held_.erase(name) == 0) return;
  const auto user = users_.find(name);
  if (user == users_.end() || user->second.tickets.empty()) return;
  user->second.used = std::max(user->second.used, reached_);
  in_order_.emplace(user->second.used, name);
}

bool FairTurns::remove(Ticket ticket) {
  const auto found = at_.find(ticket);
  if (found == at_.end()) return false;
  const auto [user, at] = found->second;
  at_.erase(found);
  user->second.tickets.erase(at);
  drop_if_empty(user);
  return true;
}

void FairTurns::drop_if_empty(Users::iterator user) {
  if (!user->second.tickets.empty()) return;
  const Key key(user->second.used, user->first);
  in_order_.erase(key);
  in_advance_.insert(key);  // what it uses now is still to be said
}

void FairTurns::forget_caught_up() {
  while (!in_advance_.empty() && in_advance_.begin()->first < reached_) {
    users_.erase(in_advance_.begin()->second);
    in_advance_.erase(in_advance_.begin());
  }
}

}  // namespace apiserver
