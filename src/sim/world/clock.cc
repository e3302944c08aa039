// The queue of virtual time.
#include "sim/world/clock.h"

#include <algorithm>
#include <vector>

namespace sim {

std::uint64_t Clock::add(Owner owner, base::Duration delay, rt::Task task) {
  const std::uint64_t id = next_id_++;
  if (dropped_.contains(owner)) return id;
  const base::Time due = now_ + std::max(delay, base::Duration{});
  queue_.emplace(Key{due, id}, Entry{owner, std::move(task)});
  due_.emplace(id, due);
  return id;
}

void Clock::cancel(std::uint64_t id) {
  const auto due = due_.find(id);
  if (due == due_.end()) return;
  // The callback may own things whose destruction comes back here, so it goes last.
  const auto dropped = queue_.extract(Key{due->second, id});
  due_.erase(due);
}

void Clock::drop(Owner owner) {
  dropped_.insert(owner);
  // Destroying a callback may cancel others, so all of them leave the queue first.
  std::vector<rt::Task> tasks;
  for (auto at = queue_.begin(); at != queue_.end();) {
    if (at->second.owner != owner) {
      ++at;
      continue;
    }
    due_.erase(at->first.second);
    tasks.push_back(std::move(at->second.task));
    at = queue_.erase(at);
  }
}

bool Clock::step(base::Time until) {
  if (queue_.empty() || queue_.begin()->first.first > until) {
    now_ = std::max(now_, until);
    return false;
  }
  auto next = queue_.extract(queue_.begin());
  now_ = next.key().first;
  due_.erase(next.key().second);
  ++steps_;
  next.mapped().task();
  return true;
}

}  // namespace sim
