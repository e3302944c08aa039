// Expressions are paths: names after dots, and quoted names in brackets.
#include "controllers/pipelines/placeholders.h"

#include "base/format.h"
#include "base/time.h"
#include "controllers/pipelines/executor_input.h"
#include "controllers/pipelines/run_settings.h"

namespace controllers::pipelines {

using api::Json;

namespace {

constexpr std::size_t kDepthMax = 16;                    // of structures in structures
constexpr std::size_t kWordsMax = 10'000;                // of one command
constexpr std::size_t kBytesMax = std::size_t{1} << 20;  // of one command

// Takes "['name']" off the front of `rest`.
std::optional<std::string_view> bracketed(std::string_view& rest) {
  for (const std::string_view quote : {"'", "\""}) {
    const std::string begin = base::format("[{}", quote), end = base::format("{}]", quote);
    if (!rest.starts_with(begin)) continue;
    const std::size_t at = rest.find(end, begin.size());
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view name = rest.substr(begin.size(), at - begin.size());
    rest.remove_prefix(at + end.size());
    return name;
  }
  return std::nullopt;
}

bool take(std::string_view& rest, std::string_view word) {
  if (!rest.starts_with(word)) return false;
  rest.remove_prefix(word.size());
  return true;
}

std::optional<std::string> meaning_of_artifact(std::string_view rest, const Json& artifacts) {
  const auto name = bracketed(rest);
  if (!name) return std::nullopt;
  const Json& list = artifacts[*name]["artifacts"];
  if (rest.empty()) return list.is_null() ? std::optional<std::string>() : list.dump();
  const Json& artifact = list[std::size_t{0}];
  if (artifact.is_null()) return std::string();
  if (rest == ".uri") return artifact["uri"].str();
  if (rest == ".path") return local_path(artifact);
  if (rest == ".name") return artifact["name"].str();
  if (take(rest, ".metadata")) {
    if (rest.empty()) return artifact["metadata"].dump();
    if (const auto key = bracketed(rest); key && rest.empty()) return plain_text(artifact["metadata"][*key]);
  }
  return std::nullopt;
}

// One argument as the SDK compiled it: a text, or a structure of texts in one.
class Argument {
 public:
  explicit Argument(const StepTexts& step) : step_(step) {}

  base::Status add(const Json& part, std::vector<std::string>& words, std::size_t depth = 0) const {
    if (depth > kDepthMax || words.size() > kWordsMax)
      return base::make_error(base::Code::kInvalid, "the command has too many words");
    if (part.is_string()) {
      words.push_back(text(part.as_string()));
      return {};
    }
    if (part.is_array()) {
      for (const Json& one : part.items()) TRY_VOID(add(one, words, depth + 1));
      return {};
    }
    if (part.has("Concat")) {
      std::vector<std::string> parts;
      TRY_VOID(add(part["Concat"], parts, depth + 1));
      std::string whole;
      for (const std::string& one : parts) whole += one;
      words.push_back(std::move(whole));
      return {};
    }
    if (const Json& choice = part["IfPresent"]; choice.is_object()) {
      const std::string_view name = choice["InputName"].as_string();
      const Json& inputs = step_.executor_input["inputs"];
      const bool present = inputs["parameterValues"].has(name) || inputs["artifacts"].has(name);
      const Json& chosen = choice[present ? "Then" : "Else"];
      return chosen.is_null() ? base::Status() : add(chosen, words, depth + 1);
    }
    words.push_back(text(part.dump()));
    return {};
  }

  std::string text(std::string_view part) const {
    return replaced(part, [this](std::string_view expression) { return meaning_of_step(expression, step_); });
  }

 private:
  const StepTexts& step_;
};

bool is_structure(std::string_view text) {
  return text.starts_with("{\"Concat\"") || text.starts_with("{\"IfPresent\"");
}

}  // namespace

std::string plain_text(const Json& value) { return value.is_string() ? value.str() : value.dump(); }

std::string replaced(std::string_view text, const Meaning& meaning) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find("{{$");
    const std::size_t end = begin == std::string_view::npos ? begin : text.find("}}", begin);
    if (end == std::string_view::npos) return out += text;
    const auto value = meaning(text.substr(begin + 2, end - begin - 2));
    out += text.substr(0, begin);
    out += value ? *value : std::string(text.substr(begin, end + 2 - begin));
    text.remove_prefix(end + 2);
  }
}

std::optional<std::string> meaning_of_input(std::string_view expression, const Json& parameters) {
  if (!take(expression, "$.inputs.parameters")) return std::nullopt;
  const auto name = bracketed(expression);
  if (!name || !expression.empty()) return std::nullopt;
  const Json* value = parameters.find(*name);
  return value == nullptr ? std::string() : plain_text(*value);
}

std::optional<std::string> meaning_of_run(std::string_view expression, const RunFacts& run) {
  if (expression == "$.pipeline_job_uuid") return run.uid;
  if (expression == "$.pipeline_job_name") return run.display_name;
  if (expression == "$.pipeline_job_resource_name") return run.name;
  if (expression == "$.pipeline_root") return run.root;
  if (expression == "$.workspace_path") return kWorkspacePath;
  if (expression == "$.pipeline_job_create_time_utc") return base::format_rfc3339(run.created);
  if (expression == "$.pipeline_job_schedule_time_utc")
    return base::format_rfc3339(run.scheduled.is_set() ? run.scheduled : run.created);
  return std::nullopt;
}

std::optional<std::string> meaning_of_step(std::string_view expression, const StepTexts& step) {
  const Json& input = step.executor_input;
  if (expression == "$") return input.dump();
  if (expression == "$.outputs.output_file" || expression == "$.outputs.output_metadata_uri")
    return input["outputs"]["outputFile"].str();
  if (expression == "$.pipeline_task_name") return step.task_name;
  if (expression == "$.pipeline_task_uuid") return step.task_id;
  if (auto known = meaning_of_run(expression, step.run)) return known;
  if (auto known = meaning_of_input(expression, input["inputs"]["parameterValues"])) return known;
  std::string_view rest = expression;
  if (take(rest, "$.inputs.artifacts")) return meaning_of_artifact(rest, input["inputs"]["artifacts"]);
  if (take(rest, "$.outputs.artifacts")) return meaning_of_artifact(rest, input["outputs"]["artifacts"]);
  if (take(rest, "$.outputs.parameters")) {
    const auto name = bracketed(rest);
    if (name && rest == ".output_file") return input["outputs"]["parameters"][*name]["outputFile"].str();
  }
  return std::nullopt;
}

base::Result<std::vector<std::string>> words_of(const Json& list, const StepTexts& step) {
  const Argument argument(step);
  std::vector<std::string> words;
  for (const Json& one : list.items()) {
    const std::string_view text = one.as_string();
    auto structure = is_structure(text) ? api::parse_json(text) : base::Result<Json>(Json());
    if (structure.ok() && structure->is_object())
      TRY_VOID(argument.add(*structure, words));
    else
      words.push_back(argument.text(text));
  }
  std::size_t bytes = 0;
  for (const std::string& one : words) bytes += one.size();
  if (words.size() > kWordsMax || bytes > kBytesMax)
    return base::make_error(base::Code::kInvalid,
                            base::format("the command has {} words of {} bytes, which is more than {} or {}",
                                         words.size(), bytes, kWordsMax, kBytesMax));
  return words;
}

}  // namespace controllers::pipelines
