// Opens a watch over the store.
#pragma once

#include "apiserver/pipeline/api.h"

namespace apiserver {

// Loop thread only. The references outlive the watch.
base::Result<std::unique_ptr<ApiWatch>> open_watch(rt::Env& env, store::Store& store, WatchSlices& slices,
                                                   KindBook& kinds, const Request& request, WatchSink sink);

}  // namespace apiserver
