// Opens a watch over the store.
#pragma once

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/read/api_watch.h"
#include "apiserver/pipeline/read/watch_slices.h"
#include "apiserver/pipeline/turns/side_work.h"

namespace apiserver {

// The state that outlives each watch.
struct WatchWorld {
  rt::Env& env;
  store::Store& store;
  SideWork& side_work;
  WatchSlices& slices;
  KindBook& kinds;
};

// Loop thread only.
base::Result<std::unique_ptr<ApiWatch>> open_watch(const WatchWorld& world, const Request& request, WatchSink sink);

}  // namespace apiserver
