// env: each container learns its pod's index in the task.
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

base::Status edit_env(const Job&, const Args&, const Task&, std::int64_t index, api::Json& pod) {
  const std::string text = std::to_string(index);
  for_containers(pod, true, [&](api::Json& container) {
    add_env(container, "VK_TASK_INDEX", text);
    add_env(container, "VC_TASK_INDEX", text);
  });
  return {};
}

}  // namespace controllers::job
