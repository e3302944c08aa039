// Steps and DAGs: which parts may begin, and what becomes of the whole.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/split.h"
#include "pipelines/argo/expressions.h"
#include "pipelines/argo/operation.h"

namespace pipelines::argo {

using api::Json;

namespace {

bool goes_on(const Json& spec, Phase phase) {
  return (phase == Phase::kFailed && spec["continueOn"]["failed"].as_bool()) ||
         (phase == Phase::kError && spec["continueOn"]["error"].as_bool());
}

// The `depends` of a task: the one it has, or its dependencies as one.
std::string depends_of(const Json& task) {
  if (task["depends"].is_string()) return task["depends"].str();
  std::string out;
  for (const Json& one : task["dependencies"].items())
    out += base::format("{}{}", out.empty() ? "" : " && ", one.as_string());
  return out;
}

// The call of a use, or of one turn of it.
Call call_of(const Use& use, const std::string& suffix) {
  return {.name = use.name + suffix,
          .display = use.display + suffix,
          .template_name = use.spec["template"].str(),
          .boundary = use.boundary,
          .depth = use.depth};
}

}  // namespace

const Node* Operation::one_turn(const Use& use, const LoopTurn& turn, const Variables& variables) {
  Call call = call_of(use, turn.suffix);
  if (const Node* known = nodes_.find(call.name); known != nullptr && known->is_over()) return known;
  Variables all = variables;
  all.take(turn.variables, "");
  if (nodes_.find(call.name) == nullptr && use.spec["when"].is_string()) {
    const auto when = fill(use.spec["when"].as_string(), all);
    const auto is_met = when.ok() ? holds(*when) : base::Result<bool>(base::Error(when.error()));
    if (!is_met.ok()) return nodes_.skip(call, Phase::kError, "when: " + is_met.error().message);
    if (!*is_met)
      return nodes_.skip(call, Phase::kSkipped, base::format("when '{}' evaluated false", when->substr(0, 200)));
  }
  auto arguments = arguments_of(use.spec, all);
  if (!arguments.ok()) return nodes_.skip(call, Phase::kError, arguments.error().message);
  call.arguments = *std::move(arguments);
  ++call.depth;
  return execute(call);
}

const Node* Operation::walk_use(const Use& use, const Variables& variables) {
  const bool loops = use.spec.has("withItems") || use.spec.has("withParam") || use.spec.has("withSequence");
  if (!loops) return one_turn(use, {}, variables);
  if (const Node* known = nodes_.find(use.name); known != nullptr && known->is_over()) return known;
  const auto turns = turns_of(use.spec, variables);
  if (!turns.ok()) return nodes_.skip(call_of(use, ""), Phase::kError, turns.error().message);
  if (turns->empty()) return nodes_.skip(call_of(use, ""), Phase::kSkipped, std::string(kEmptyLoop));
  if (nodes_.find(use.name) == nullptr) {
    if (is_stopping_) return nullptr;
    nodes_.begin(call_of(use, ""), "TaskGroup", Phase::kRunning);
  }
  bool all_over = true;
  Phase worst = Phase::kSucceeded;
  std::string message;
  for (const LoopTurn& turn : *turns) {
    const Node* child = one_turn(use, turn, variables);
    if (child != nullptr) nodes_.add_child(use.name, *child);
    all_over = all_over && child != nullptr && child->is_over();
    if (child == nullptr || !has_failed(child->phase)) continue;
    worst = child->phase;
    if (message.empty()) message = base::format("{}: {}", child->display, child->message);
  }
  Node* group = nodes_.find(use.name);
  return all_over ? nodes_.end(*group, worst, message) : group;
}

const Node* Operation::steps(const Call& call, const Json& spec, const Inputs& inputs) {
  Node* node = nodes_.find(call.name);
  if (node == nullptr) {
    if (is_stopping_) return nullptr;
    node = &nodes_.begin(call, "Steps", Phase::kRunning);
    node->inputs = inputs.values;
  }
  const std::string id = node->id;
  Variables variables = inputs.variables;
  std::size_t number = 0;
  for (const Json& group : spec["steps"].items()) {
    const std::string name = base::format("{}[{}]", call.name, number++);
    if (nodes_.find(name) == nullptr) {
      if (is_stopping_) break;
      nodes_.begin({.name = name,
                    .display = name.substr(call.name.size()),
                    .template_name = {},
                    .arguments = {},
                    .boundary = id,
                    .depth = call.depth},
                   "StepGroup", Phase::kRunning);
    }
    nodes_.add_child(call.name, *nodes_.find(name));
    bool all_over = true;
    Phase worst = Phase::kSucceeded;
    std::string message;
    for (const Json& step : group.items()) {
      const std::string own = step["name"].str();
      const Node* child = walk_use({step, base::format("{}.{}", name, own), own, id, call.depth}, variables);
      if (child != nullptr) nodes_.add_child(name, *child);
      all_over = all_over && child != nullptr && child->is_over();
      if (child == nullptr || !child->is_over()) continue;
      record_results(nodes_.all(), *child, "steps." + own, variables);
      if (!has_failed(child->phase) || goes_on(step, child->phase)) continue;
      worst = child->phase;
      if (message.empty()) message = base::format("child '{}' failed: {}", child->display, child->message);
    }
    Node* held = nodes_.find(name);
    if (!all_over && !is_stopping_) return nodes_.find(call.name);
    if (!held->is_over()) nodes_.end(*held, all_over ? worst : Phase::kFailed, message);
    if (has_failed(held->phase))
      return nodes_.end(*nodes_.find(call.name), Phase::kFailed, message.empty() ? held->message : message);
  }
  node = nodes_.find(call.name);
  if (is_stopping_) return nodes_.end(*node, Phase::kFailed, "it was stopped");
  auto outputs = outputs_of(spec, variables);
  if (!outputs.ok()) return nodes_.end(*node, Phase::kError, outputs.error().message);
  node->outputs = *std::move(outputs);
  return nodes_.end(*node, Phase::kSucceeded);
}

namespace {

bool is_result(const Node& node, const Json& spec, const std::string& result,
               const std::function<std::vector<const Node*>(const Node&)>& turns) {
  const Phase phase = node.phase;
  if (result.empty()) return phase == Phase::kSucceeded || phase == Phase::kSkipped || goes_on(spec, phase);
  if (result == "Succeeded") return phase == Phase::kSucceeded;
  if (result == "Failed") return phase == Phase::kFailed;
  if (result == "Errored") return phase == Phase::kError;
  if (result == "Skipped") return phase == Phase::kSkipped;
  if (result == "Omitted") return phase == Phase::kOmitted;
  if (result == "AnySucceeded")
    return std::ranges::any_of(turns(node), [](const Node* turn) { return turn->phase == Phase::kSucceeded; });
  return result == "AllFailed" &&
         std::ranges::all_of(turns(node), [](const Node* turn) { return has_failed(turn->phase); });
}

}  // namespace

// A graph while it is walked.
struct Operation::Graph {
  struct Task {
    const Json* spec = nullptr;
    std::string depends = {};
    std::set<std::string> parents = {};
    const Node* node = nullptr;
    std::optional<Phase> branch = {};  // its own phase, or of one that did not run, the worst of those before it
  };
  const Call& call;
  std::string id;
  bool fails_fast;
  Variables variables;
  std::map<std::string, Task> tasks = {};
  std::vector<std::string> order = {};
  std::set<std::string> handled = {};  // tasks for whose failure another task waits
  std::string problem = {};            // of its target
  bool has_failed_task = false;

  Task& operator[](const std::string& name) { return tasks[name]; }

  // How it goes on from here, as seen by what waits for the task.
  Phase branch(const std::string& name) {
    Task& task = tasks[name];
    if (task.branch) return *task.branch;
    task.branch = Phase::kSucceeded;
    if (task.node != nullptr && is_completed(task.node->phase)) {
      if (!goes_on(*task.spec, task.node->phase)) task.branch = task.node->phase;
      return *task.branch;
    }
    Phase inherited = task.node == nullptr ? Phase::kFailed : Phase::kSucceeded;
    for (const std::string& parent : task.parents)
      if (const Phase phase = branch(parent); has_failed(phase)) inherited = phase;
    task.branch = inherited;
    return inherited;
  }

  // Leaves out what none of the targets waits for.
  void reduce_to(const std::string& targets) {
    std::vector<std::string> open;
    for (const std::string_view one : base::split(targets, ' '))
      if (!one.empty()) open.emplace_back(one);
    if (open.empty()) return;
    std::set<std::string> wanted;
    while (!open.empty()) {
      const std::string name = std::move(open.back());
      open.pop_back();
      if (!tasks.contains(name)) problem = base::format("dag.target: no task is called {:?}", name);
      if (!tasks.contains(name) || !wanted.insert(name).second) continue;
      open.insert(open.end(), tasks[name].parents.begin(), tasks[name].parents.end());
    }
    std::erase_if(order, [&](const std::string& name) { return !wanted.contains(name); });
    std::erase_if(tasks, [&](const auto& one) { return !wanted.contains(one.first); });
  }

  // The phase of the whole: that of the tasks that no other waits for.
  Phase phase(std::string& message) {
    Phase worst = Phase::kSucceeded;
    std::set<std::string> waited_for;
    for (const auto& [name, task] : tasks) waited_for.insert(task.parents.begin(), task.parents.end());
    for (const std::string& name : order) {
      const Phase own = branch(name);
      const Node* node = tasks[name].node;
      if (message.empty() && node != nullptr && has_failed(node->phase) && has_failed(own))
        message = base::format("task '{}' failed: {}", node->display, node->message);
      if (!waited_for.contains(name) && has_failed(own)) worst = own;
    }
    if (!has_failed(worst)) message.clear();
    return worst;
  }
};

Operation::Graph Operation::read_graph(const Call& call, const Json& spec, const Inputs& inputs) {
  Graph graph{.call = call,
              .id = node_id(workflow_, call.name),
              .fails_fast = spec["dag"]["failFast"].as_bool(true),
              .variables = inputs.variables};
  for (const Json& one : spec["dag"]["tasks"].items()) {
    const std::string name = one["name"].str();
    Graph::Task& task = graph[name];
    graph.order.push_back(name);
    task.spec = &one;
    task.depends = depends_of(one);
    task.node = nodes_.find(base::format("{}.{}", call.name, name));
    if (task.depends.empty()) continue;
    const auto results = results_in(task.depends);
    if (!results.ok()) continue;
    for (const TaskResult& one_result : *results) {
      task.parents.insert(one_result.task);
      const std::string& result = one_result.result;
      if (result == "Failed" || result == "Errored" || result == "AllFailed" || result == "AnySucceeded")
        graph.handled.insert(one_result.task);
    }
  }
  auto targets = fill(spec["dag"]["target"].as_string(), inputs.variables);
  if (!targets.ok()) graph.problem = "dag.target: " + targets.error().message;
  if (targets.ok()) graph.reduce_to(*targets);
  for (const std::string& name : graph.order)
    if (const Node* node = graph[name].node; node != nullptr && node->is_over()) record_end(graph, name);
  return graph;
}

void Operation::record_end(Graph& graph, const std::string& name) const {
  const Graph::Task& task = graph[name];
  record_results(nodes_.all(), *task.node, "tasks." + name, graph.variables);
  const bool is_handled = goes_on(*task.spec, task.node->phase) || graph.handled.contains(name);
  if (has_failed(task.node->phase) && !is_handled) graph.has_failed_task = true;
}

// One look at a task that is not over.
void Operation::walk_task(Graph& graph, const std::string& name) {
  Graph::Task& task = graph[name];
  const auto is_over = [&](const std::string& parent) {
    const Node* node = graph[parent].node;
    return node != nullptr && node->is_over();
  };
  if (!std::ranges::all_of(task.parents, is_over)) return;
  const Use one{*task.spec, base::format("{}.{}", graph.call.name, name), name, graph.id, graph.call.depth};
  if (task.node == nullptr && !task.depends.empty()) {
    const auto met = holds(task.depends, [&](const TaskResult& wanted) {
      const Graph::Task& parent = graph[wanted.task];
      return is_result(*parent.node, *parent.spec, wanted.result,
                       [this](const Node& node) { return turns_of_group(nodes_.all(), node); });
    });
    if (!met.ok()) {
      task.node = nodes_.skip(call_of(one, ""), Phase::kError, "depends: " + met.error().message);
    } else if (!*met) {
      const std::string why = base::format("omitted: depends condition not met: {}", task.depends);
      task.node = nodes_.skip(call_of(one, ""), Phase::kOmitted, why);
    }
  }
  if (task.node == nullptr && graph.fails_fast && graph.has_failed_task) return;
  if (task.node == nullptr || !task.node->is_over()) task.node = walk_use(one, graph.variables);
  if (task.node == nullptr) return;
  if (task.parents.empty()) nodes_.add_child(graph.call.name, *task.node);
  for (const std::string& parent : task.parents)
    nodes_.add_child(base::format("{}.{}", graph.call.name, parent), *task.node);
}

const Node* Operation::dag(const Call& call, const Json& spec, const Inputs& inputs) {
  if (nodes_.find(call.name) == nullptr) {
    if (is_stopping_) return nullptr;
    nodes_.begin(call, "DAG", Phase::kRunning).inputs = inputs.values;
  }
  Graph graph = read_graph(call, spec, inputs);
  if (!graph.problem.empty()) return nodes_.end(*nodes_.find(call.name), Phase::kError, graph.problem);
  bool all_over = true, is_running = false;
  // A task that ends in this look may let others begin, whatever their order in the text.
  for (bool changed = true; std::exchange(changed, false);) {
    all_over = true, is_running = false;
    for (const std::string& name : graph.order) {
      const Node* known = graph[name].node;
      if (known != nullptr && known->is_over()) continue;
      walk_task(graph, name);
      const Node* node = graph[name].node;
      all_over = all_over && node != nullptr && node->is_over();
      is_running = is_running || (node != nullptr && !node->is_over());
      if (node == nullptr || !node->is_over()) continue;
      record_end(graph, name);
      changed = true;
    }
  }
  Node* node = nodes_.find(call.name);
  const bool is_cut_off = !is_running && (is_stopping_ || (graph.fails_fast && graph.has_failed_task));
  if (!all_over && !is_cut_off) return node;
  std::string message;
  const Phase phase = graph.phase(message);
  if (is_stopping_ || has_failed(phase))
    return nodes_.end(*node, Phase::kFailed, message.empty() ? "it was stopped" : message);
  auto outputs = outputs_of(spec, graph.variables);
  if (!outputs.ok()) return nodes_.end(*node, Phase::kError, outputs.error().message);
  node->outputs = *std::move(outputs);
  return nodes_.end(*node, Phase::kSucceeded);
}

}  // namespace pipelines::argo
