// Constants come last: their texts may name the other inputs.
#include "controllers/pipelines/inputs.h"

#include "base/format.h"
#include "controllers/pipelines/placeholders.h"
#include "pipelines/ir/fields.h"
#include "pipelines/ir/values.h"

namespace controllers::pipelines {

using api::Json;
using ::pipelines::Component;
using ::pipelines::Source;
using ::pipelines::Task;

namespace {

constexpr std::size_t kItemsMax = 10'000;

base::Error wrong(std::string_view kind, std::string_view name, std::string_view why) {
  return base::make_error(base::Code::kInvalid, base::format("inputs.{}.{}: {}", kind, name, why));
}

Json with_texts(const Json& constant, const Meaning& meaning) {
  if (constant.is_string()) return Json(replaced(constant.as_string(), meaning));
  if (constant.is_array()) {
    Json out = Json::array();
    for (const Json& one : constant.items()) out.push_back(with_texts(one, meaning));
    return out;
  }
  if (constant.is_object()) {
    Json out = Json::object();
    for (const Json::Member& one : constant.members()) out.set(one.name(), with_texts(one.value, meaning));
    return out;
  }
  return constant;
}

Json final_status(const std::string& task, const Producer& producer, const RunFacts& run) {
  Json status = Json::object({{"state", producer.state.empty() ? "SKIPPED" : producer.state},
                              {"pipelineJobResourceName", run.name},
                              {"pipelineJobName", run.display_name},
                              {"pipelineJobUuid", run.uid},
                              {"pipelineTaskName", task},
                              {"error", Json::object()}});  // the SDK before 2.8 looks into it in any case
  if (status["state"].as_string() == "CACHED") status.set("state", "SUCCEEDED");
  if (!producer.error.empty()) status.set("error", Json::object({{"code", 2}, {"message", producer.error}}));
  return status;
}

class Resolution {
 public:
  Resolution(const Component& component, const Task& task, const Values& graph, const Producers& producers,
             const RunFacts& run)
      : component_(component), task_(task), graph_(graph), producers_(producers), run_(run) {}

  base::Result<Values> run() {
    for (const auto& [name, source] : task_.parameters)
      if (source.kind != Source::Kind::kConstant) TRY_VOID(put(name, source, value_of(source)));
    for (const auto& [name, source] : task_.parameters)
      if (source.kind == Source::Kind::kConstant)
        TRY_VOID(put(name, source, with_texts(source.constant, [this](std::string_view expression) {
                       if (expression == "$.pipeline_task_name") return std::optional(task_.name);
                       auto value = meaning_of_input(expression, values_.parameters);
                       return value ? value : meaning_of_run(expression, run_);
                     })));
    for (const auto& [name, source] : task_.artifacts) TRY_VOID(put_artifacts(name, source));
    for (const auto& [name, spec] : component_.input_parameters)
      if (!values_.parameters.has(name) && spec.default_value) values_.parameters.set(name, *spec.default_value);
    return std::move(values_);
  }

 private:
  std::optional<Json> value_of(const Source& source) const {
    if (source.kind == Source::Kind::kFinalStatus)
      return final_status(source.output.task, producers_(source.output.task), run_);
    const Json given = source.kind == Source::Kind::kInputOfGraph ? graph_.parameters
                                                                  : producers_(source.output.task).outputs.parameters;
    const Json* value = given.find(source.kind == Source::Kind::kInputOfGraph ? source.input : source.output.key);
    return value == nullptr ? std::nullopt : std::optional<Json>(*value);
  }

  std::string nothing_from(const Source& source) const {
    return source.kind == Source::Kind::kInputOfGraph
               ? base::format("the graph has no value of {}", source.input)
               : base::format("the task {} gave no output {}", source.output.task, source.output.key);
  }

  base::Status put(const std::string& name, const Source& source, std::optional<Json> given) {
    const auto spec = component_.input_parameters.find(name);
    const bool is_known = spec != component_.input_parameters.end();
    if (!given || (given->is_null() && source.kind == Source::Kind::kConstant)) {
      if (is_known && spec->second.is_required()) return wrong("parameters", name, nothing_from(source));
      return {};  // the default value, if there is one
    }
    auto value = ::pipelines::select_members(*given, source.members);
    if (value.ok() && is_known) value = ::pipelines::fit(*value, spec->second.type);
    if (!value.ok()) return wrong("parameters", name, value.error().message);
    if (is_known)
      if (const auto listed = ::pipelines::check_literals(*value, spec->second.literals); !listed.ok())
        return wrong("parameters", name, listed.error().message);
    values_.parameters.set(name, *std::move(value));
    return {};
  }

  base::Status put_artifacts(const std::string& name, const Source& source) {
    const bool of_graph = source.kind == Source::Kind::kInputOfGraph;
    const Json given = of_graph ? graph_.artifacts : producers_(source.output.task).outputs.artifacts;
    const Json& list = given[of_graph ? source.input : source.output.key];
    const auto spec = component_.input_artifacts.find(name);
    if (list.is_array()) {
      values_.artifacts.set(name, list);
      return {};
    }
    if (spec != component_.input_artifacts.end() && (spec->second.is_optional || spec->second.is_list)) return {};
    return wrong("artifacts", name, nothing_from(source));
  }

  const Component& component_;
  const Task& task_;
  const Values& graph_;
  const Producers& producers_;
  const RunFacts& run_;
  Values values_;
};

}  // namespace

base::Result<Values> resolve_inputs(const Component& component, const Task& task, const Values& graph,
                                    const Producers& producers, const RunFacts& run) {
  return Resolution(component, task, graph, producers, run).run();
}

base::Result<Values> with_item(const Component& component, const Values& loop, const Item& item) {
  Values turn = loop;
  if (item.is_artifact) {
    turn.artifacts.set(item.input, Json::array({item.value}));
    return turn;
  }
  Json value = item.value;
  if (const auto spec = component.input_parameters.find(item.input); spec != component.input_parameters.end()) {
    auto fitted = ::pipelines::fit(value, spec->second.type);
    if (!fitted.ok()) return wrong("parameters", item.input, fitted.error().message);
    value = *std::move(fitted);
  }
  turn.parameters.set(item.input, std::move(value));
  return turn;
}

base::Result<std::vector<Json>> items_of(const ::pipelines::Iterator& iterator, const Values& loop) {
  Json list = iterator.raw               ? *iterator.raw
              : iterator.is_of_artifacts ? loop.artifacts[iterator.input]
                                         : loop.parameters[iterator.input];
  if (list.is_string()) {
    auto parsed = api::parse_json(list.as_string());
    if (parsed.ok()) list = *std::move(parsed);
  }
  const char* kind = iterator.is_of_artifacts ? "artifacts" : "parameters";
  if (!list.is_array()) return wrong(kind, iterator.input, base::format("{} is not a list", ::pipelines::shown(list)));
  if (list.size() > kItemsMax)
    return wrong(kind, iterator.input,
                 base::format("the loop has {} items, which is more than {}", list.size(), kItemsMax));
  const auto items = list.items();
  return std::vector<Json>(items.begin(), items.end());
}

base::Result<Values> root_inputs(const Component& root, const Json& parameters) {
  Values values;
  for (const Json::Member& one : parameters.members()) {
    const auto spec = root.input_parameters.find(std::string(one.name()));
    if (spec == root.input_parameters.end())
      return base::make_error(
          base::Code::kInvalid,
          base::format("runtimeConfig.parameters.{}: the pipeline has no such parameter", one.name()));
    if (one.value.is_null() && !spec->second.is_required()) continue;
    auto value = ::pipelines::fit(one.value, spec->second.type);
    base::Status fits = value.ok() ? ::pipelines::check_literals(*value, spec->second.literals) : value.error();
    if (!fits.ok())
      return base::make_error(base::Code::kInvalid,
                              base::format("runtimeConfig.parameters.{}: {}", one.name(), fits.error().message));
    values.parameters.set(one.name(), *std::move(value));
  }
  for (const auto& [name, spec] : root.input_parameters) {
    if (values.parameters.has(name)) continue;
    if (spec.default_value) values.parameters.set(name, *spec.default_value);
    if (spec.is_required())
      return base::make_error(base::Code::kInvalid,
                              base::format("runtimeConfig.parameters.{}: a value is required", name));
  }
  return values;
}

base::Result<bool> condition_holds(const Task& task, const Values& inputs) {
  const Json variable = Json::object({{"parameter_values", inputs.parameters}});
  const api::cel::Value value = task.condition->evaluate({{"inputs", api::cel::Value::from_json(variable)}});
  if (const bool* holds = value.get<bool>()) return *holds;
  const std::string why =
      value.is_error() ? value.error()->message : std::string("its value is neither true nor false");
  return base::make_error(base::Code::kInvalid, base::format("triggerPolicy.condition: {}", why));
}

Values graph_outputs(const ::pipelines::Graph& graph, const Producers& producers) {
  Values out;
  for (const auto& [name, output] : graph.parameters)
    for (const ::pipelines::Selector& from : output.selectors)
      if (const Values given = producers(from.task).outputs; given.parameters.has(from.key)) {
        out.parameters.set(name, given.parameters[from.key]);
        break;
      }
  for (const auto& [name, output] : graph.artifacts)
    for (const ::pipelines::Selector& from : output.selectors)
      if (const Values given = producers(from.task).outputs; given.artifacts.has(from.key)) {
        out.artifacts.set(name, given.artifacts[from.key]);
        break;
      }
  return out;
}

Values loop_outputs(const Component& component, const std::vector<Values>& turns) {
  Values out;
  for (const auto& [name, spec] : component.output_parameters) {
    Json list = Json::array();
    for (const Values& turn : turns)
      if (turn.parameters.has(name)) list.push_back(turn.parameters[name]);
    out.parameters.set(name, std::move(list));
  }
  for (const auto& [name, spec] : component.output_artifacts) {
    Json list = Json::array();
    for (const Values& turn : turns)
      for (const Json& one : turn.artifacts[name].items()) list.push_back(one);
    out.artifacts.set(name, std::move(list));
  }
  return out;
}

}  // namespace controllers::pipelines
