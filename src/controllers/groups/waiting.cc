// The newest condition, and what it says first.
#include "controllers/groups/waiting.h"

#include <string_view>

#include "base/utf8.h"

namespace controllers {

using api::Json;

const Json* trouble_of_group(const Json& group) {
  const Json& status = group["status"];
  const Json* newest = nullptr;
  for (const Json& condition : status["conditions"].items())
    if (condition["status"].as_string() == "True" &&
        (!newest || condition["lastTransitionTime"].as_string() >= (*newest)["lastTransitionTime"].as_string()))
      newest = &condition;
  // Times are whole seconds, and conditions stand in the order in which they first came: of two of one second the
  // phase says which is the newer one.
  const std::string_view phase = status["phase"].as_string();
  if (newest && (phase == "Running" || phase == "Completed"))
    for (const Json& condition : status["conditions"].items())
      if (condition["status"].as_string() == "True" && condition["type"].as_string() == "Scheduled" &&
          condition["lastTransitionTime"] == (*newest)["lastTransitionTime"])
        return nullptr;
  return newest && (*newest)["type"].as_string() != "Scheduled" ? newest : nullptr;
}

std::string waiting_sentence(const Json* trouble) {
  if (!trouble) return {};
  const std::string_view whole = (*trouble)["message"].as_string();
  const std::string_view sentence = whole.substr(0, whole.find(". "));
  return std::string(base::utf8_prefix(sentence.empty() ? (*trouble)["reason"].as_string() : sentence, 1024));
}

}  // namespace controllers
