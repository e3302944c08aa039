// Opens a watch over the store.
#pragma once

#include "apiserver/custom/served_kinds.h"
#include "apiserver/pipeline/api.h"
#include "apiserver/pipeline/side_work.h"
#include "apiserver/pipeline/watch_slices.h"

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
