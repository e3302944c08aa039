// Files that containers and runtimes leave behind (message files, logs, exits), as they become a pod's status.
#include "api/json/json.h"
#include "base/utf8.h"
#include "node/machine/container_text.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_status.h"
#include "targets.h"

namespace fuzz {

using api::Json;

void termination(std::string_view input) {
  const std::string message = node::message_text(input);
  const std::string reason = node::reason_text(input);
  const std::string tail = node::log_tail_text(input);
  const std::string reported = node::reason_in_runtime_log(input);
  promise(base::is_utf8(message) && message.size() <= node::kMessageBytesMax, "a message is bounded text", message);
  promise(base::is_utf8(reason) && reason.size() <= node::kReasonBytesMax, "a reason is bounded text", reason);
  promise(base::is_utf8(tail) && tail.size() <= node::kLogTailBytesMax, "a log's end is bounded text", tail);
  promise(base::is_utf8(reported) && reported.size() <= node::kReasonBytesMax, "a runtime's reason is bounded text",
          reported);
  promise(!base::is_utf8(input) || input.size() > node::kMessageBytesMax || message == input,
          "a short message that is text is kept");
  const Json pod = Json::object(
      {{"metadata", Json::object({{"name", "p"}, {"namespace", "ns"}, {"uid", "u"}})},
       {"spec", Json::object({{"restartPolicy", "Never"},
                              {"containers", Json::array({Json::object({{"name", "a"}, {"image", "i"}})})}})}});
  node::PodState state = node::initial_state(pod);
  state.containers[0].phase = node::RunPhase::kEnded;
  state.containers[0].ended = {"id", {}, {}, 1, "Error", message + tail};
  const Json status = node::status_for(pod, state, "10.0.0.1", {});
  promise(api::parse_json(status.dump()).ok(), "the status can be read", status.dump());
}

}  // namespace fuzz
