// Other names are left to the moment in which they are asked for: which of them have a value depends on what ran.
#include "pipelines/argo/name_check.h"

#include <set>
#include <string>
#include <string_view>

#include "base/format.h"
#include "pipelines/argo/text_template.h"

namespace pipelines::argo {

using api::FieldErrors;
using api::Json;

namespace {

using Names = std::set<std::string, std::less<>>;

Names names_of(const Json& list) {
  Names out;
  for (const Json& one : list.items()) out.insert(one["name"].str());
  return out;
}

struct Known {
  Names arguments;              // of the Workflow
  Names parameters, artifacts;  // that the template is given
  Names tasks, steps;           // of the template
};

// The part of a name behind the prefix; up to its next dot where `first_word`.
bool begins(std::string_view name, std::string_view prefix, bool first_word, std::string_view& rest) {
  if (!name.starts_with(prefix)) return false;
  rest = name.substr(prefix.size());
  if (first_word) rest = rest.substr(0, rest.find('.'));
  return true;
}

// Why the name has no value in this template; empty: it may have one.
std::string problem_of(std::string_view name, const Known& known) {
  struct Row {
    std::string_view prefix;
    const Names& names;
    std::string_view sentence;
    bool first_word;
  };
  const Row rows[] = {
      {"workflow.parameters.", known.arguments, "the Workflow has no parameter", false},
      {"inputs.parameters.", known.parameters, "the template has no input parameter", false},
      {"inputs.artifacts.", known.artifacts, "the template has no input artifact", true},
      {"tasks.", known.tasks, "the template has no task", true},
      {"steps.", known.steps, "the template has no step", true},
  };
  std::string_view rest;
  for (const Row& row : rows) {
    if (!begins(name, row.prefix, row.first_word, rest)) continue;
    const bool is_whole = rest == "json" || (row.first_word && rest == "name");
    return is_whole || row.names.contains(rest) ? std::string() : base::format("{} {:?}", row.sentence, rest);
  }
  return {};
}

void check_texts(const Json& value, const std::string& path, const Known& known, FieldErrors& errors) {
  if (errors.is_full()) return;
  if (value.is_string() && value.as_string().find("{{") != std::string_view::npos)
    if (const auto names = names_in(value.as_string()); names.ok())
      for (const std::string& name : *names)
        if (const std::string problem = problem_of(name, known); !problem.empty()) {
          errors.invalid(path, base::format("{{{{{}}}}}", name), problem);
          return;
        }
  for (std::size_t i = 0; i < value.items().size(); ++i) check_texts(value[i], api::at(path, i), known, errors);
  for (const Json::Member& one : value.members()) check_texts(one.value, api::in(path, one.name()), known, errors);
}

}  // namespace

void check_names(const Json& spec, FieldErrors& errors) {
  Known known{.arguments = names_of(spec["arguments"]["parameters"])};
  for (std::size_t i = 0; i < spec["templates"].size(); ++i) {
    const Json& one = spec["templates"][i];
    known.parameters = names_of(one["inputs"]["parameters"]);
    known.artifacts = names_of(one["inputs"]["artifacts"]);
    known.tasks = names_of(one["dag"]["tasks"]);
    known.steps.clear();
    for (const Json& group : one["steps"].items()) known.steps.merge(names_of(group));
    check_texts(one, api::at("spec.templates", i), known, errors);
  }
}

void check_values(const Json& spec, FieldErrors& errors) {
  const Json& parameters = spec["arguments"]["parameters"];
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string path = api::at("spec.arguments.parameters", i);
    if (!parameters[i].has("value")) errors.required(api::in(path, "value"));
    if (parameters[i]["enum"].empty()) continue;
    bool is_one = false;
    for (const Json& one : parameters[i]["enum"].items())
      is_one = is_one || text_of(one) == text_of(parameters[i]["value"]);
    if (!is_one) errors.invalid(api::in(path, "value"), parameters[i]["value"], "is none of the parameter's enum");
  }
}

}  // namespace pipelines::argo
