// Events of the agent about pods and their containers, about other objects, and about its own Node.
#pragma once

#include <string>

#include "client/events/event_recorder.h"
#include "node/pod/pod_state.h"

namespace node {

// Owns the recorder. Loop thread only.
class PodEvents {
 public:
  PodEvents(client::Client& client, rt::Env& env, const std::string& node_name);

  // `container` is the part of the pod that is meant; null: the whole object.
  void record(const api::Json& object, const char* type, const char* reason, const std::string& message,
              const ContainerState* container = nullptr);
  void record(const api::Json& pod, const char* type, const char* reason, const std::string& message,
              const ContainerState& container) {
    record(pod, type, reason, message, &container);
  }
  void warn_about_node(const char* reason, const std::string& message);

 private:
  client::EventRecorder recorder_;
  std::string node_name_;
};

}  // namespace node
