// A queue of keys to look at again: a key waits once, is not worked on twice at a time, and comes back after a
// failure with exponential back-off.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/time.h"
#include "rt/env.h"

namespace client {

struct BackOff {
  base::Duration first = base::milliseconds(5);
  base::Duration max = base::seconds(1000);
};

// Loop thread only.
class WorkQueue {
 public:
  // `work` gets one key; it must call done(key) or retry(key) once, now or later.
  using Work = std::function<void(const std::string& key)>;

  WorkQueue(rt::Env& env, Work work, int in_flight_max = 16, BackOff back_off = {});
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  void add(const std::string& key);
  void add_after(const std::string& key, base::Duration delay);
  void done(const std::string& key);   // also forgets the key's failures
  void pause(const std::string& key);  // is done with it for now; its failures count on
  void retry(const std::string& key);  // works on it again after its back-off
  int failures(const std::string& key) const;
  std::size_t size() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace client
