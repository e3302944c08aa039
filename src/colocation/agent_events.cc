// How events of the agent are recorded.
#include "colocation/agent_events.h"

#include <utility>

#include "base/log.h"

namespace colocation {

using api::Json;

void AgentEvents::record(const Json& object, const char* type, const char* reason, std::string message) {
  recorder_.record(object, {.type = type, .reason = reason, .message = std::move(message)});
}

void AgentEvents::record_own(const char* type, const char* reason, std::string message) {
  record(view_.own_object(), type, reason, std::move(message));
}

void AgentEvents::warn_once(const std::string& key, const char* reason, std::string message) {
  if (!is_first(key)) return;
  base::log_warning("colocation", message);
  record_own("Warning", reason, std::move(message));
}

void AgentEvents::bound(std::size_t keys_max) {
  if (recorded_.size() > keys_max) recorded_.clear();
}

}  // namespace colocation
