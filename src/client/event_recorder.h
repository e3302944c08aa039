// Writes core/v1 Events, aggregating equal ones (same object, reason, message, component) into one with a count.
#pragma once

#include <memory>
#include <string>

#include "api/json.h"
#include "client/client.h"
#include "rt/env.h"

namespace client {

struct EventText {
  std::string type;    // Normal or Warning
  std::string reason;
  std::string message;
};

// Loop thread only. Events are a report, not state: one that cannot be written after retries is dropped and counted.
class EventRecorder {
 public:
  EventRecorder(Client& client, rt::Env& env, std::string component);
  ~EventRecorder();

  // `object` needs apiVersion, kind and metadata (name, namespace, uid, resourceVersion).
  void record(const api::Json& object, EventText text);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace client
