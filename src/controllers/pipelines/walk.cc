// A graph is walked in the order of its tasks, so that each sees how those stand that it depends on.
#include "controllers/pipelines/walk.h"

#include <map>
#include <utility>

#include "base/format.h"
#include "controllers/pipelines/inputs.h"
#include "controllers/pipelines/leaf.h"
#include "controllers/pipelines/loop_gang.h"
#include "controllers/pipelines/task_objects.h"

namespace controllers::pipelines {

using api::Json;
using ::pipelines::Component;
using ::pipelines::Task;

namespace {

// Tasks that one look makes; the next look goes on.
constexpr std::size_t kBegunMax = 256;

class Walk {
 public:
  explicit Walk(RunLook& look) : look_(look) {}

  Standing root(const Values& parameters) {
    const Task task{.name = look_.pipeline.name};
    const Values nothing;
    const Producers none = [](const std::string&) { return Producer{}; };
    return visit({.task = task, .component = look_.pipeline.root, .path = "root", .parent = ""},
                 {.graph = nothing, .producers = none}, &parameters);
  }

 private:
  // `known`: the inputs, where they are not to be resolved.
  Standing visit(const Place& place, const Surroundings& around, const Values* known = nullptr) {
    const auto found = look_.tasks.find(place.path);
    const Json* task = found == look_.tasks.end() ? nullptr : found->second;
    const std::string state = task == nullptr ? std::string() : (*task)["status"]["state"].str();
    if (is_final(state))
      return {.is_over = true,
              .is_settled = true,
              .state = state,
              .error = (*task)["status"]["error"].str(),
              .outputs = Values::of((*task)["status"]["outputs"])};
    if (state.empty()) return begin(place, task, around, known);
    if (!is_inner(place)) return attend_leaf(look_, place, *task, around);
    return finish(*task, inside(place, Values::of((*task)["status"]["inputs"])));
  }

  static bool is_inner(const Place& place) { return place.component.graph || (place.task.iterator && !place.turn); }

  Standing begin(const Place& place, const Json* task, const Surroundings& around, const Values* known) {
    if (look_.ends) {
      if (task != nullptr) write_task(look_, *task, {.state = "CANCELED"});
      return {.is_over = true, .is_settled = task == nullptr, .state = "CANCELED"};
    }
    if (look_.begun >= kBegunMax) {
      look_.making.requeue_after({});
      return {};
    }
    if (const auto refused = look_.memory.refused.find(place.path);
        refused != look_.memory.refused.end() && task == nullptr)
      return end(place, task, {.state = "FAILED", .error = refused->second});
    auto inputs = known != nullptr
                      ? base::Result<Values>(*known)
                      : resolve_inputs(place.component, place.task, around.graph, around.producers, look_.facts);
    if (!inputs.ok()) return end(place, task, {.state = "FAILED", .error = inputs.error().message});
    if (place.task.condition && !place.turn) {
      const auto holds = condition_holds(place.task, *inputs);
      if (!holds.ok()) return end(place, task, {.state = "FAILED", .error = holds.error().message, .inputs = *inputs});
      if (!*holds) return end(place, task, {.state = "SKIPPED", .inputs = *inputs});
    }
    if (!is_inner(place)) return begin_leaf(look_, place, task, *inputs, around);
    const Change change{.state = "RUNNING", .inputs = *inputs};
    if (task == nullptr)
      begin_task(look_, place, {}, change);
    else
      write_task(look_, *task, change);
    // Its end is written when its beginning is.
    inside(place, *inputs);
    return {};
  }

  Standing end(const Place& place, const Json* task, const Change& change) {
    if (task == nullptr)
      begin_task(look_, place, {}, change);
    else
      write_task(look_, *task, change);
    return {.is_over = true, .state = change.state, .error = change.error};
  }

  Standing inside(const Place& place, const Values& inputs) {
    return place.task.iterator && !place.turn ? loop(place, inputs) : graph(place, inputs);
  }

  // Writes the end of a graph or loop whose tasks have ended.
  Standing finish(const Json& task, Standing inner) {
    if (!inner.is_over) return inner;
    if (look_.ends && !inner.has_succeeded()) inner.state = "CANCELED";
    if (!std::exchange(inner.is_settled, false)) return inner;
    write_task(look_, task, {.state = inner.state, .error = inner.error, .outputs = inner.outputs});
    return inner;
  }

  Standing graph(const Place& place, const Values& inputs) {
    std::map<std::string, Standing> all;
    const Producers producers = [&all](const std::string& name) {
      const Standing& one = all[name];
      return Producer{.state = one.state, .error = one.error, .outputs = one.outputs};
    };
    const Surroundings around{.graph = inputs, .producers = producers};
    Standing whole{.is_over = true, .is_settled = true, .state = "SUCCEEDED"};
    for (const Task& task : place.component.graph->tasks) {
      bool ready = true, wanted = true;
      for (const std::string& name : task.depends) {
        const Standing& before = all[name];
        ready = ready && before.is_over;
        wanted = wanted && (task.runs_in_any_case || before.has_succeeded());
      }
      Standing& one = all[task.name];
      if (ready && wanted)
        one = visit({.task = task,
                     .component = look_.pipeline.component_of(task),
                     .path = base::format("{}.{}", place.path, task.name),
                     .parent = place.path,
                     .retry_around = &place.retry(),
                     .loop = place.loop},
                    around);
      else
        one = {.is_over = ready, .is_settled = ready};
      add(whole, one, task.name);
    }
    if (whole.is_over) whole.outputs = graph_outputs(*place.component.graph, producers);
    return whole;
  }

  Standing loop(const Place& place, const Values& inputs) {
    const ::pipelines::Iterator& iterator = *place.task.iterator;
    const auto items = items_of(iterator, inputs);
    if (!items.ok()) return {.is_over = true, .is_settled = true, .state = "FAILED", .error = items.error().message};
    Values shared = inputs;
    if (!iterator.raw && !is_read(place.component, iterator))
      (iterator.is_of_artifacts ? shared.artifacts : shared.parameters).erase(iterator.input);
    const std::vector<std::string>& gangs = gangs_of(place.component);
    const bool has_gangs = !gangs.empty();
    if (has_gangs && iterator.limit > 0 && static_cast<std::size_t>(iterator.limit) < items->size())
      return {.is_over = true,
              .is_settled = true,
              .state = "FAILED",
              .error = base::format("a gang of {} turns never starts where {} turns run at once: parallelism is less "
                                    "than the number of items, and a step has the annotation {}",
                                    items->size(), iterator.limit, kLoopGang)};
    Standing whole{.is_over = true, .is_settled = true, .state = "SUCCEEDED"};
    std::vector<Standing> turns;
    std::int64_t running = 0;
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (iterator.limit > 0 && running >= iterator.limit) {
        whole.is_over = false;
        break;
      }
      const Item item{.input = iterator.item_input, .value = (*items)[i], .is_artifact = iterator.is_of_artifacts};
      const Standing one = turn(place, i, item, shared);
      add(whole, one, base::format("{}[{}]", place.task.name, i));
      running += one.is_over ? 0 : 1;
      turns.push_back(one);
    }
    if (has_gangs && (!whole.is_over || look_.ends)) hold_gangs(look_, {place.path, gangs, turns, items->size()});
    if (whole.is_over) whole.outputs = loop_outputs(place.component, outputs_of(turns));
    return whole;
  }

  // Found once for a document.
  const std::vector<std::string>& gangs_of(const Component& turn) {
    const auto [known, is_new] = look_.memory.gang_steps.try_emplace(&turn);
    if (is_new) known->second = gang_steps(look_.pipeline, turn);
    return known->second;
  }

  static std::vector<Values> outputs_of(const std::vector<Standing>& turns) {
    std::vector<Values> out;
    for (const Standing& one : turns) out.push_back(one.outputs);
    return out;
  }

  // Whether the turns of a loop read the list of its items: a thousand turns need not have a thousand copies of it.
  static bool is_read(const Component& component, const ::pipelines::Iterator& iterator) {
    if (!component.graph) return true;
    for (const Task& task : component.graph->tasks)
      for (const auto& [name, source] : iterator.is_of_artifacts ? task.artifacts : task.parameters)
        if (source.kind == ::pipelines::Source::Kind::kInputOfGraph && source.input == iterator.input) return true;
    return false;
  }

  Standing turn(const Place& place, std::size_t index, const Item& item, const Values& inputs) {
    const Values nothing;
    const Producers none = [](const std::string&) { return Producer{}; };
    const Place at{.task = place.task,
                   .component = place.component,
                   .path = base::format("{}[{}]", place.path, index),
                   .parent = place.path,
                   .turn = static_cast<std::int64_t>(index),
                   .retry_around = place.retry_around,
                   .loop = place.path};
    const auto own = with_item(place.component, inputs, item);
    if (!own.ok() && !look_.tasks.contains(at.path))
      return end(at, nullptr, {.state = "FAILED", .error = own.error().message});
    return visit(at, {.graph = inputs, .producers = none}, own.ok() ? &*own : &nothing);
  }

  static void add(Standing& whole, const Standing& one, const std::string& name) {
    whole.is_over = whole.is_over && one.is_over;
    whole.is_settled = whole.is_settled && one.is_settled;
    if (!one.is_over || (one.state != "FAILED" && one.state != "CANCELED")) return;
    if (whole.state != "FAILED") whole.state = one.state;
    if (one.state == "FAILED" && whole.error.empty()) whole.error = base::format("{}: {}", name, one.error);
  }

  RunLook& look_;
};

}  // namespace

Standing walk(RunLook& look, const Values& parameters) { return Walk(look).root(parameters); }

}  // namespace controllers::pipelines
