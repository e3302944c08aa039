// A watch as its holder sees it.
#pragma once

#include <cstdint>
#include <functional>

#include "apiserver/pipeline/read/watch_slices.h"
#include "base/result.h"

namespace apiserver {

struct WatchSink {
  // Events in order, as they were stored. False: no more of them until ApiWatch::resume().
  std::function<bool(const WatchSlicePtr&)> on_events;
  std::function<void(std::int64_t revision, bool initial_end)> on_bookmark;
  // The kind is another one now, or gone: whoever watches begins anew. Nothing follows; may be unset.
  std::function<void()> on_end = {};
};

// Ends the watch when destroyed. Loop thread only.
class ApiWatch {
 public:
  virtual ~ApiWatch() = default;
  // Begins to tell, or goes on after an on_events() that returned false; what happened meanwhile is read from history,
  // so that a watcher who waits costs nothing. kExpired: history does not reach back that far.
  virtual base::Status resume() = 0;
};

}  // namespace apiserver
