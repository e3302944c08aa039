// Writes core/v1 Events: equal ones are counted up in one object, and no object is talked about too much
// (client/events/event_correlator.h). Events wait behind every other request.
#pragma once

#include <memory>
#include <string>

#include "api/json/json.h"
#include "client/client.h"
#include "rt/env.h"

namespace client {

struct EventText {
  std::string type;  // Normal or Warning
  std::string reason;
  std::string message;
  std::string field_path = {};  // the part of the object that is meant: "spec.containers{main}"
};

// Loop thread only. Events are a report, not state: one that cannot be written after retries is dropped and counted.
// The last 4,096 leave names and counts; texts and objects only until they are written.
class EventRecorder {
 public:
  // `host` is the node an agent speaks for; empty for cluster components.
  EventRecorder(Client& client, rt::Env& env, std::string component, std::string host = {});
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // `object` needs apiVersion, kind and metadata (name, namespace, uid, resourceVersion).
  void record(const api::Json& object, EventText text);
  // Events given up on so far.
  std::size_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace client
