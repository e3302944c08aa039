// Events of the agent, also those that are recorded once.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "client/events/event_recorder.h"
#include "colocation/node_view.h"

namespace colocation {

// Owns the recorder, and the keys of what was recorded once. Asks the view for the object that the agent's own events
// are about. Loop thread only.
class AgentEvents {
 public:
  AgentEvents(const AgentMeans& means, const NodeView& view)
      : view_(view), recorder_(means.client, means.env, "volcano-agent", means.options.node_name) {}

  void record(const api::Json& object, const char* type, const char* reason, std::string message);
  void record_own(const char* type, const char* reason, std::string message);
  // A warning about the agent, also in the log.
  void warn_once(const std::string& key, const char* reason, std::string message);
  // Whether the key is new.
  bool is_first(const std::string& key) { return recorded_.insert(key).second; }
  void forget(const std::string& key) { recorded_.erase(key); }
  // Forgets all keys, if there are more.
  void bound(std::size_t keys_max);

 private:
  const NodeView& view_;
  client::EventRecorder recorder_;
  std::set<std::string> recorded_;
};

}  // namespace colocation
