// The next step of a write.
//
// A write is a value with a state: told the answer to its last request, it says its next step. It calls nobody itself.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "api/json/json.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "client/client.h"
#include "scheduler/effects/retry.h"

namespace scheduler {

struct Step {
  enum class Kind { kCall, kPause, kDone, kFailed };
  Kind kind = Kind::kDone;
  client::Request request{};    // kCall
  std::string lane{};           // kCall: requests of one lane are made one after the other; empty: of none
  Retry retry = Retry::kNever;  // kCall
  base::Duration pause{};       // kPause: the write is then asked again, without an answer
  std::string waits_for{};      // kPause: a sentence for people, if they should hear of it
  base::Error error{};          // kFailed

  static Step call(client::Request request, std::string lane = {}, Retry retry = Retry::kNever) {
    return {.kind = Kind::kCall, .request = std::move(request), .lane = std::move(lane), .retry = retry};
  }
  static Step wait(base::Duration pause, std::string waits_for = {}) {
    return {.kind = Kind::kPause, .pause = pause, .waits_for = std::move(waits_for)};
  }
  static Step done() { return {}; }
  static Step failed(base::Error error) { return {.kind = Kind::kFailed, .error = std::move(error)}; }
};

// The facts that steps may look at besides their own state.
struct StepContext {
  base::Time now;
  base::Duration uptime;
  base::Random& random;
  // Whether there is a node of that name now; null or unset: there is none.
  const std::function<bool(std::string_view)>* has_node = nullptr;
  // Whether nobody needs a node for this pod ("ns/name") any more; null: somebody does.
  const std::function<bool(std::string_view key, std::string_view uid)>* pod_is_over = nullptr;
};

// The answer to the last request; null after a pause.
using Reply = const base::Result<api::Json>*;

}  // namespace scheduler
