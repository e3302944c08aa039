// Deletes Events that nobody has written for a while, as Kubernetes' storage lets them expire. Work follows the writes
// of Events: they stand in the order of their last write, and only the oldest are looked at, a batch at a time.
// API server's loop only.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.h"
#include "base/time.h"
#include "rt/env.h"
#include "store/store.h"

namespace apiserver {

class EventExpiry {
 public:
  // `store` must outlive it. `ttl` counts from the last write of an Event; for those that are there already, from the
  // last time that they speak of.
  static base::Result<std::unique_ptr<EventExpiry>> start(rt::Env& env, store::Store& store, base::Duration ttl);
  ~EventExpiry();

  std::size_t pending() const;  // Events that will expire

 private:
  struct State;
  explicit EventExpiry(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

}  // namespace apiserver
