// One function for each message of the document.
#include "pipelines/ir/read_graph.h"

#include <algorithm>

#include "base/format.h"
#include "pipelines/ir/values.h"

namespace pipelines {

using api::Json;

namespace {

base::Result<std::vector<Json>> selector_of(const Field& input) {
  const Field field = input["parameterExpressionSelector"];
  TRY(const std::string text, field.text());
  if (text.empty()) return std::vector<Json>();
  auto members = read_selector(text);
  if (!members.ok()) return field.error(members.error().message);
  return members;
}

base::Result<Selector> read_selector_of(const Field& from, std::string_view task, std::string_view key) {
  Selector read;
  TRY(read.task, from[task].name());
  TRY(read.key, from[key].name());
  return read;
}

base::Result<Source> read_parameter_source(const Field& input) {
  TRY_VOID(input.check_object());
  Source source;
  TRY(source.members, selector_of(input));
  if (input.json().has("runtimeValue")) {
    const Field value = input["runtimeValue"];
    TRY_VOID(value.check_object());
    if (!value.json().has("constant")) return value.error("constant is required");
    source.constant = value.json()["constant"];
  } else if (input.json().has("componentInputParameter")) {
    source.kind = Source::Kind::kInputOfGraph;
    TRY(source.input, input["componentInputParameter"].name());
  } else if (input.json().has("taskOutputParameter")) {
    source.kind = Source::Kind::kOutputOfTask;
    TRY(source.output, read_selector_of(input["taskOutputParameter"], "producerTask", "outputParameterKey"));
  } else if (input.json().has("taskFinalStatus")) {
    source.kind = Source::Kind::kFinalStatus;
    TRY(source.output.task, input["taskFinalStatus"]["producerTask"].name());
  } else {
    return input.error("it comes from nowhere: a constant, an input of the graph, or an output of a task is required");
  }
  return source;
}

base::Result<Source> read_artifact_source(const Field& input) {
  TRY_VOID(input.check_object());
  Source source;
  if (input.json().has("componentInputArtifact")) {
    source.kind = Source::Kind::kInputOfGraph;
    TRY(source.input, input["componentInputArtifact"].name());
  } else if (input.json().has("taskOutputArtifact")) {
    source.kind = Source::Kind::kOutputOfTask;
    TRY(source.output, read_selector_of(input["taskOutputArtifact"], "producerTask", "outputArtifactKey"));
  } else {
    return input.error("it comes from nowhere: an input of the graph or an output of a task is required");
  }
  return source;
}

base::Status read_inputs(const Field& inputs, Task& task) {
  for (const char* kind : {"parameters", "artifacts"}) {
    const Field all = inputs[kind];
    TRY_VOID(all.check_object());
    const bool parameters = std::string_view(kind) == "parameters";
    for (const Json::Member& member : all.json().members()) {
      const Field one = all[member.name()];
      TRY(Source source, parameters ? read_parameter_source(one) : read_artifact_source(one));
      (parameters ? task.parameters : task.artifacts).emplace(member.name(), std::move(source));
    }
  }
  return {};
}

base::Status read_trigger(const Field& policy, Task& task) {
  TRY_VOID(policy.check_object());
  TRY(const std::string condition, policy["condition"].text());
  if (!condition.empty()) {
    auto compiled = api::cel::Expression::compile(condition, {"inputs"});
    if (!compiled.ok()) return policy["condition"].error(compiled.error().message);
    task.condition = *std::move(compiled);
  }
  const Field strategy = policy["strategy"];
  TRY(const std::string name, strategy.text());
  if (name == "ALL_UPSTREAM_TASKS_COMPLETED")
    task.runs_in_any_case = true;
  else if (!name.empty() && name != "ALL_UPSTREAM_TASKS_SUCCEEDED" && name != "TRIGGER_STRATEGY_UNSPECIFIED")
    return strategy.error(base::format("{} is not a strategy", shown(strategy.json())));
  return {};
}

base::Result<std::optional<Iterator>> read_iterator(const Field& task) {
  if (!task.json().has("parameterIterator") && !task.json().has("artifactIterator")) return std::optional<Iterator>();
  Iterator read;
  read.is_of_artifacts = task.json().has("artifactIterator");
  const Field field = task[read.is_of_artifacts ? "artifactIterator" : "parameterIterator"];
  TRY(read.item_input, field["itemInput"].name());
  const Field items = field["items"];
  if (!read.is_of_artifacts && items.json().has("raw")) {
    TRY(const std::string raw, items["raw"].text());
    auto parsed = api::parse_json(raw);
    if (!parsed.ok() || !parsed->is_array()) return items["raw"].error("it is not the JSON text of a list");
    read.raw = *std::move(parsed);
  } else {
    TRY(read.input, items[read.is_of_artifacts ? "inputArtifact" : "inputParameter"].name());
  }
  const Field limit = task["iteratorPolicy"]["parallelismLimit"];
  TRY(read.limit, limit.number());
  if (read.limit < 0) return limit.error("it is negative");
  return std::optional<Iterator>(std::move(read));
}

base::Result<RetryPolicy> read_retry(const Field& policy) {
  TRY_VOID(policy.check_object());
  RetryPolicy read;
  TRY(read.count_max, policy["maxRetryCount"].number());
  if (read.count_max < 0 || read.count_max > kRetriesMax)
    return policy["maxRetryCount"].error(base::format("it is not between 0 and {}", kRetriesMax));
  TRY(read.pause, policy["backoffDuration"].duration());
  TRY(const base::Duration pause_max, policy["backoffMaxDuration"].duration());
  if (pause_max > base::Duration{}) read.pause_max = pause_max;
  const Json& factor = policy.json()["backoffFactor"];
  if (!factor.is_null()) {
    if (!factor.is_number() || factor.as_double() < 0) return policy["backoffFactor"].error("it is not a factor");
    if (factor.as_double() > 0) read.factor = factor.as_double();
  }
  return read;
}

base::Result<Task> read_task(const std::string& name, const Field& field) {
  TRY_VOID(field.check_object());
  Task task;
  task.name = name;
  TRY(task.display_name, field["taskInfo"]["name"].text());
  TRY(task.component, field["componentRef"]["name"].name());
  TRY_VOID(read_inputs(field["inputs"], task));
  const Field depends = field["dependentTasks"];
  TRY_VOID(depends.check_array());
  for (const Json& one : depends.json().items()) {
    TRY(std::string on, Field(one, depends.path()).name());
    task.depends.push_back(std::move(on));
  }
  for (const Sources* sources : {&task.parameters, &task.artifacts})
    for (const auto& [input, source] : *sources)
      if (!source.output.task.empty()) task.depends.push_back(source.output.task);
  std::ranges::sort(task.depends);
  task.depends.erase(std::unique(task.depends.begin(), task.depends.end()), task.depends.end());
  TRY_VOID(read_trigger(field["triggerPolicy"], task));
  TRY(task.iterator, read_iterator(field));
  TRY(task.retry, read_retry(field["retryPolicy"]));
  TRY(task.may_be_cached, field["cachingOptions"]["enableCache"].boolean());
  TRY(task.cache_key, field["cachingOptions"]["cacheKey"].text());
  return task;
}

base::Result<GraphOutput> read_parameter_output(const Field& field) {
  TRY_VOID(field.check_object());
  GraphOutput output;
  if (field.json().has("valueFromOneof")) {
    output.is_one_of = true;
    const Field selectors = field["valueFromOneof"]["parameterSelectors"];
    TRY_VOID(selectors.check_array());
    for (const Json& one : selectors.json().items()) {
      TRY(Selector read, read_selector_of(Field(one, selectors.path()), "producerSubtask", "outputParameterKey"));
      output.selectors.push_back(std::move(read));
    }
  } else {
    TRY(Selector read, read_selector_of(field["valueFromParameter"], "producerSubtask", "outputParameterKey"));
    output.selectors.push_back(std::move(read));
  }
  return output;
}

base::Result<GraphOutput> read_artifact_output(const Field& field) {
  TRY_VOID(field.check_object());
  const Field selectors = field["artifactSelectors"];
  TRY_VOID(selectors.check_array());
  GraphOutput output;
  for (const Json& one : selectors.json().items()) {
    TRY(Selector read, read_selector_of(Field(one, selectors.path()), "producerSubtask", "outputArtifactKey"));
    output.selectors.push_back(std::move(read));
  }
  output.is_one_of = output.selectors.size() > 1;
  return output;
}

}  // namespace

base::Result<ParameterType> read_type(const Field& field) {
  for (const ParameterType type :
       {ParameterType::kDouble, ParameterType::kInteger, ParameterType::kString, ParameterType::kBoolean,
        ParameterType::kList, ParameterType::kStruct, ParameterType::kFinalStatus, ParameterType::kTaskConfig})
    if (field.json().as_string() == type_name(type)) return type;
  return field.error(base::format("{} is not a type of parameters", shown(field.json())));
}

const Task* Graph::find(std::string_view name) const {
  const auto found = std::ranges::find(tasks, name, &Task::name);
  return found == tasks.end() ? nullptr : &*found;
}

base::Result<Graph> read_graph(const Field& dag) {
  TRY_VOID(dag.check_object());
  Graph graph;
  const Field tasks = dag["tasks"];
  TRY_VOID(tasks.check_object());
  for (const Json::Member& member : tasks.json().members()) {
    if (member.name().empty() || member.name().size() > kNameBytesMax)
      return tasks.error(base::format("a task's name has 1 to {} bytes", kNameBytesMax));
    TRY(Task task, read_task(std::string(member.name()), tasks[member.name()]));
    graph.tasks.push_back(std::move(task));
  }
  const Field outputs = dag["outputs"];
  for (const char* kind : {"parameters", "artifacts"}) {
    const Field all = outputs[kind];
    TRY_VOID(all.check_object());
    const bool parameters = std::string_view(kind) == "parameters";
    for (const Json::Member& member : all.json().members()) {
      const Field one = all[member.name()];
      TRY(GraphOutput output, parameters ? read_parameter_output(one) : read_artifact_output(one));
      (parameters ? graph.parameters : graph.artifacts).emplace(member.name(), std::move(output));
    }
  }
  return graph;
}

}  // namespace pipelines
