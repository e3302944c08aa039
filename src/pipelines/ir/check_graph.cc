// The references of a graph, and the order of its tasks.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/format.h"
#include "pipelines/ir/read_graph.h"
#include "pipelines/ir/values.h"

namespace pipelines {

using api::Json;

namespace {

base::Error wrong(std::string_view path, std::string text) {
  return base::make_error(base::Code::kInvalid, base::format("{}: {}", path, text));
}

class GraphCheck {
 public:
  GraphCheck(const Pipeline& pipeline, const Component& owner, const std::string& path)
      : pipeline_(pipeline), owner_(owner), graph_(*owner.graph), path_(path) {
    for (const Task& task : graph_.tasks) tasks_.emplace(task.name, &task);
  }

  base::Status run() const {
    for (const Task& task : graph_.tasks) TRY_VOID(check(task));
    for (const auto& [name, output] : graph_.parameters) TRY_VOID(check(name, output, true));
    for (const auto& [name, output] : graph_.artifacts) TRY_VOID(check(name, output, false));
    return {};
  }

 private:
  base::Status check(const Task& task) const {
    const std::string path = base::format("{}.tasks.{}", path_, task.name);
    const auto component = pipeline_.components.find(task.component);
    if (component == pipeline_.components.end())
      return wrong(path + ".componentRef", base::format("there is no component {}", shown(Json(task.component))));
    for (const std::string& on : task.depends) {
      if (on == task.name) return wrong(path, "the task waits for itself");
      if (!tasks_.contains(on))
        return wrong(path + ".dependentTasks", base::format("there is no task {} in this graph", shown(Json(on))));
    }
    for (const auto& [name, source] : task.parameters)
      TRY_VOID(check_parameter(component->second, task, name, source, path + ".inputs.parameters." + name));
    for (const auto& [name, source] : task.artifacts)
      TRY_VOID(check_artifact(component->second, task, name, source, path + ".inputs.artifacts." + name));
    TRY_VOID(check_iterator(component->second, task, path));
    return check_missing(component->second, task, path);
  }

  // A loop's own input need not be one of its component: the items are. Texts of constants name inputs of their own.
  // The compiler hands an image and amounts that are known late both to the task, under these names, and to the
  // executor.
  static bool is_for_the_task(const Task& task, const std::string& name) {
    static constexpr std::array<std::string_view, 7> kKnownLate = {
        "base_image",     "cpu_limit",        "cpu_request",      "memory_limit",
        "memory_request", "accelerator_type", "accelerator_count"};
    return (task.iterator && task.iterator->input == name) || name.starts_with("pipelinechannel--") ||
           std::find(kKnownLate.begin(), kKnownLate.end(), name) != kKnownLate.end();
  }

  base::Status check_parameter(const Component& component, const Task& task, const std::string& name,
                               const Source& source, const std::string& path) const {
    const auto expected = component.input_parameters.find(name);
    if (expected == component.input_parameters.end()) {
      if (is_for_the_task(task, name)) return {};
      return wrong(path, base::format("the component {} has no such parameter", component.name));
    }
    const ParameterType type = expected->second.type;
    if (source.kind == Source::Kind::kConstant) {
      if (source.constant.is_null() && !expected->second.is_required()) return {};
      auto value = select_members(source.constant, source.members);
      if (value.ok()) value = fit(*value, type);
      if (!value.ok()) return wrong(path, value.error().message);
      const base::Status listed = check_literals(*value, expected->second.literals);
      return listed.ok() ? listed : wrong(path, listed.error().message);
    }
    TRY(const std::optional<ParameterType> given, type_of(source, path));
    if (given && source.members.empty() && !may_fit(*given, type))
      return wrong(path, base::format("a {} is given where a {} is expected", type_name(*given), type_name(type)));
    return {};
  }

  // The type of a value that comes from elsewhere; none: the final status of a task, or the list of what turns gave,
  // which the SDK before 2.1 declares with the type of one turn.
  base::Result<std::optional<ParameterType>> type_of(const Source& source, const std::string& path) const {
    if (source.kind == Source::Kind::kFinalStatus) return std::optional<ParameterType>();
    if (source.kind == Source::Kind::kInputOfGraph) {
      const auto input = owner_.input_parameters.find(source.input);
      if (input == owner_.input_parameters.end())
        return wrong(path, base::format("the graph has no parameter {}", shown(Json(source.input))));
      return std::optional(input->second.type);
    }
    TRY(const Component* producer, producer_of(source.output, path));
    const bool is_loop = tasks_.find(source.output.task)->second->iterator.has_value();
    const auto output = producer->output_parameters.find(source.output.key);
    if (output == producer->output_parameters.end())
      return wrong(path, base::format("the task {} has no output parameter {}", source.output.task,
                                      shown(Json(source.output.key))));
    return is_loop ? std::nullopt : std::optional(output->second.type);
  }

  base::Result<const Component*> producer_of(const Selector& from, const std::string& path) const {
    const auto producer = tasks_.find(from.task);
    if (producer == tasks_.end())
      return wrong(path, base::format("there is no task {} in this graph", shown(Json(from.task))));
    const auto component = pipeline_.components.find(producer->second->component);
    if (component == pipeline_.components.end())
      return wrong(path, base::format("the task {} has no component", from.task));
    return &component->second;
  }

  base::Status check_artifact(const Component& component, const Task& task, const std::string& name,
                              const Source& source, const std::string& path) const {
    const auto expected = component.input_artifacts.find(name);
    if (expected == component.input_artifacts.end()) {
      if (is_for_the_task(task, name)) return {};
      return wrong(path, base::format("the component {} has no such artifact", component.name));
    }
    const ArtifactSpec* given = nullptr;
    if (source.kind == Source::Kind::kInputOfGraph) {
      const auto input = owner_.input_artifacts.find(source.input);
      if (input == owner_.input_artifacts.end())
        return wrong(path, base::format("the graph has no artifact {}", shown(Json(source.input))));
      given = &input->second;
    } else {
      TRY(const Component* producer, producer_of(source.output, path));
      const auto output = producer->output_artifacts.find(source.output.key);
      if (output == producer->output_artifacts.end())
        return wrong(path, base::format("the task {} has no output artifact {}", source.output.task,
                                        shown(Json(source.output.key))));
      given = &output->second;
    }
    const std::string_view have = given->type["schemaTitle"].as_string();
    const std::string_view want = expected->second.type["schemaTitle"].as_string();
    if (have == want || have.empty() || want.empty() || have == "system.Artifact" || want == "system.Artifact")
      return {};
    return wrong(path, base::format("a {} is given where a {} is expected", have, want));
  }

  base::Status check_iterator(const Component& component, const Task& task, const std::string& path) const {
    if (!task.iterator) return {};
    const Iterator& iterator = *task.iterator;
    const Sources& sources = iterator.is_of_artifacts ? task.artifacts : task.parameters;
    const std::string at = path + (iterator.is_of_artifacts ? ".artifactIterator" : ".parameterIterator");
    if (!iterator.raw && !sources.contains(iterator.input))
      return wrong(at + ".items", base::format("the task has no input {}", shown(Json(iterator.input))));
    const bool known = iterator.is_of_artifacts ? component.input_artifacts.contains(iterator.item_input)
                                                : component.input_parameters.contains(iterator.item_input);
    if (!known)
      return wrong(at + ".itemInput",
                   base::format("the component {} has no input {}", component.name, shown(Json(iterator.item_input))));
    return {};
  }

  base::Status check_missing(const Component& component, const Task& task, const std::string& path) const {
    const auto is_item = [&](const std::string& name) { return task.iterator && task.iterator->item_input == name; };
    for (const auto& [name, input] : component.input_parameters)
      if (input.is_required() && !task.parameters.contains(name) && !is_item(name))
        return wrong(path + ".inputs.parameters." + name, "a value is required");
    for (const auto& [name, input] : component.input_artifacts)
      if (!input.is_optional && !task.artifacts.contains(name) && !is_item(name))
        return wrong(path + ".inputs.artifacts." + name, "an artifact is required");
    return {};
  }

  base::Status check(const std::string& name, const GraphOutput& output, bool is_parameter) const {
    const char* kind = is_parameter ? "parameters" : "artifacts";
    const std::string path = base::format("{}.outputs.{}.{}", path_, kind, name);
    if (!(is_parameter ? owner_.output_parameters.contains(name) : owner_.output_artifacts.contains(name)))
      return wrong(path, "the component does not declare this output");
    for (const Selector& from : output.selectors) {
      TRY(const Component* producer, producer_of(from, path));
      if (!(is_parameter ? producer->output_parameters.contains(from.key)
                         : producer->output_artifacts.contains(from.key)))
        return wrong(path, base::format("the task {} has no output {}", from.task, shown(Json(from.key))));
    }
    return {};
  }

  const Pipeline& pipeline_;
  const Component& owner_;
  const Graph& graph_;
  const std::string& path_;
  std::map<std::string, const Task*> tasks_;
};

// Each task after those that it waits for; of tasks that could come next, the first by the document's order.
base::Status sort_tasks(Graph& graph, const std::string& path) {
  std::map<std::string_view, std::size_t> left;
  std::map<std::string_view, std::vector<std::size_t>> waiting;
  std::set<std::size_t> ready;
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    left[graph.tasks[i].name] = graph.tasks[i].depends.size();
    if (graph.tasks[i].depends.empty()) ready.insert(i);
    for (const std::string& on : graph.tasks[i].depends) waiting[on].push_back(i);
  }
  std::vector<std::size_t> order;
  while (!ready.empty()) {
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    order.push_back(next);
    for (const std::size_t one : waiting[graph.tasks[next].name])
      if (--left[graph.tasks[one].name] == 0) ready.insert(one);
  }
  if (order.size() < graph.tasks.size()) {
    std::string names;
    for (const Task& task : graph.tasks)
      if (left[task.name] > 0 && names.size() < kNameBytesMax) names += (names.empty() ? "" : ", ") + task.name;
    return wrong(path + ".tasks", base::format("these tasks wait for each other: {}", names));
  }
  std::vector<Task> sorted;
  sorted.reserve(order.size());
  for (const std::size_t one : order) sorted.push_back(std::move(graph.tasks[one]));
  graph.tasks = std::move(sorted);
  return {};
}

}  // namespace

base::Status check_graph(const Pipeline& pipeline, Component& owner, const std::string& path) {
  TRY_VOID(GraphCheck(pipeline, owner, path).run());
  return sort_tasks(*owner.graph, path);
}

}  // namespace pipelines
