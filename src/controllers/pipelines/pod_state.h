// How a step's pod stands, in the words that a task's status has for it.
#pragma once

#include <string>

#include "api/json/json.h"
#include "base/time.h"

namespace controllers::pipelines {

struct PodState {
  enum class Phase : std::uint8_t { kWaiting, kRunning, kSucceeded, kFailed };

  Phase phase = Phase::kWaiting;
  std::string message = {};  // why it waits
  std::string error = {};    // why it failed
  std::string report = {};   // of the launcher
  base::Time ended = {};
};

PodState state_of(const api::Json& pod);

}  // namespace controllers::pipelines
