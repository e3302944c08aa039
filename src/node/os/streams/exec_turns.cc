// A count, and those that wait for it to fall.
#include "node/os/streams/exec_turns.h"

#include <chrono>

namespace node {

namespace {

constexpr auto kLook = std::chrono::milliseconds(100);  // between two looks whether who waits has given up

}  // namespace

bool ExecTurns::is_free(Who who) const {
  if (users_ + nodes_ >= limits_.all) return false;
  return who == Who::kNode || (nodes_waiting_ == 0 && users_ < limits_.of_users);
}

void ExecTurns::give_back(Who who) {
  const std::lock_guard lock(mutex_);
  --(who == Who::kUser ? users_ : nodes_);
  changed_.notify_all();
}

ExecTurns::Turn ExecTurns::wait(Who who, const std::function<bool()>& given_up) {
  const auto began = std::chrono::steady_clock::now();
  const auto until = began + std::chrono::nanoseconds(limits_.wait_max.ns);
  std::unique_lock lock(mutex_);
  nodes_waiting_ += who == Who::kNode ? 1 : 0;
  bool free = is_free(who);
  while (!free && !given_up() && std::chrono::steady_clock::now() < until) {
    changed_.wait_for(lock, kLook);
    // A probe that waits does not hold up itself.
    free = is_free(who);
  }
  nodes_waiting_ -= who == Who::kNode ? 1 : 0;
  if (free) ++(who == Who::kUser ? users_ : nodes_);
  lock.unlock();
  changed_.notify_all();
  if (metrics_ != nullptr) {
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - began;
    metrics_->histogram("volcano_node_exec_wait_seconds", {who == Who::kUser ? "user" : "node"})
        .observe(waited.count());
  }
  if (!free) return nullptr;
  return {this, [self = shared_from_this(), who](const void*) { self->give_back(who); }};
}

}  // namespace node
