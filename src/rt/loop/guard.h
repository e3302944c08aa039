// Callbacks that run only while their owner lives.
#pragma once

#include <memory>
#include <utility>

namespace rt {

// Shared by the parts of one owner, so that none of them needs a weak pointer of its own. Loop thread only.
class Guard {
 public:
  Guard() = default;
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Names the owner of all callbacks, before the first of them is made.
  void belong_to(std::weak_ptr<const void> owner) { owner_ = std::move(owner); }

  // `done` as a callback that keeps the owner alive while it runs, and does nothing once the owner is gone.
  template <class F>
  auto while_alive(F done) const {
    return [owner = owner_, done = std::move(done)](auto&&... arguments) {
      if (const auto alive = owner.lock()) done(std::forward<decltype(arguments)>(arguments)...);
    };
  }

 private:
  std::weak_ptr<const void> owner_;
};

}  // namespace rt
