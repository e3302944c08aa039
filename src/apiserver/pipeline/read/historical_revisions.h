// The objects as they were at an older revision, as far as history reaches back.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.h"
#include "store/store.h"

namespace apiserver {

// As Store::for_each(), of the durable state of `revision`. kExpired: history does not know it any more. Loop thread
// only; costs a step for each change since then.
base::Status for_each_at(const store::Store& store, std::uint32_t resource, std::string_view ns, std::string_view after,
                         std::int64_t revision, const std::function<bool(const store::ObjectPtr&)>& visit);

}  // namespace apiserver
