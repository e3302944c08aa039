// podFailurePolicy: the first rule that matches a failed pod decides.
#include <algorithm>

#include "base/format.h"
#include "controllers/workloads/batch_job_state.h"

namespace controllers::workloads {

using api::Json;

namespace {

// The exit code that matches, and whose it is; null: none does.
const Json* match_exit_code(const Json& rule, const Json& pod) {
  const bool in = rule["operator"].as_string() == "In";
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][list].items()) {
      const Json& terminated = status["state"]["terminated"];
      if (terminated.is_null()) continue;
      if (const Json& name = rule["containerName"]; name.is_string() && name != status["name"]) continue;
      const std::int64_t code = terminated["exitCode"].as_int();
      const bool listed =
          std::ranges::any_of(rule["values"].items(), [&](const Json& value) { return value.as_int() == code; });
      if (code != 0 && listed == in) return &status;
    }
  return nullptr;
}

const Json* match_condition(const Json& patterns, const Json& pod) {
  for (const Json& pattern : patterns.items()) {
    const Json& condition = condition_of(pod["status"], pattern["type"].as_string());
    if (!condition.is_null() && condition["status"].as_string() == pattern["status"].as_string("True"))
      return &condition;
  }
  return nullptr;
}

}  // namespace

Verdict judge_failure(const Json& policy, const Json& pod) {
  std::size_t at = 0;
  for (const Json& rule : policy["rules"].items()) {
    const std::size_t index = at++;
    const std::string action = rule["action"].str();
    if (rule["onExitCodes"].is_object()) {
      const Json* status = match_exit_code(rule["onExitCodes"], pod);
      if (!status) continue;
      return {action, base::format("Container {} for pod {} failed with exit code {} matching {} rule at index {}",
                                   (*status)["name"].as_string(), api::key_of(pod),
                                   (*status)["state"]["terminated"]["exitCode"].as_int(), action, index)};
    }
    if (const Json* condition = match_condition(rule["onPodConditions"], pod))
      return {action, base::format("Pod {} has condition {} matching {} rule at index {}", api::key_of(pod),
                                   (*condition)["type"].as_string(), action, index)};
  }
  return {"Count", ""};
}

}  // namespace controllers::workloads
