// How much time and memory did this process use?
#pragma once

#include <cstdint>

#include "api/json/json.h"
#include "scheduler/one_shot/one_shot.h"

namespace volcano_main {

scheduler::Stopwatch stopwatch();
std::int64_t resident_bytes();
api::Json stats_json(const scheduler::OneShotStats& stats, std::int64_t rest_bytes);

}  // namespace volcano_main
