// Placeholders of texts, such as {{$.inputs.parameters['x']}}, and what stands for them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/pipelines/values.h"

namespace controllers::pipelines {

// The text for an expression between "{{" and "}}"; nothing: the placeholder stays as it is.
using Meaning = std::function<std::optional<std::string>(std::string_view expression)>;

// In one pass: a value that looks like a placeholder is not replaced again.
std::string replaced(std::string_view text, const Meaning& meaning);
// A value as it stands in a command: a text without quotes, everything else as JSON.
std::string plain_text(const api::Json& value);

// {{$.inputs.parameters['x']}} alone, for constants of a task.
std::optional<std::string> meaning_of_input(std::string_view expression, const api::Json& parameters);
// Expressions about the run: {{$.pipeline_job_uuid}} and the like.
std::optional<std::string> meaning_of_run(std::string_view expression, const RunFacts& run);

// The things that a step's command may ask for.
struct StepTexts {
  const RunFacts& run;
  const api::Json& executor_input;
  std::string task_name;
  std::string task_id;
};
std::optional<std::string> meaning_of_step(std::string_view expression, const StepTexts& step);
// The words of a command or its arguments; {"Concat": ...} and {"IfPresent": ...} become texts, or several of them.
base::Result<std::vector<std::string>> words_of(const api::Json& list, const StepTexts& step);

}  // namespace controllers::pipelines
