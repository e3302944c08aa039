// The inputs of a task, from where the document says that they come.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "controllers/pipelines/values.h"
#include "pipelines/ir/pipeline.h"

namespace controllers::pipelines {

// How a task of the same graph stands.
struct Producer {
  std::string state;  // empty: it does not run, because of one before it
  std::string error = {};
  Values outputs = {};
};
using Producers = std::function<Producer(const std::string& task)>;

// One turn of a loop.
struct Item {
  std::string input;
  api::Json value;  // of a parameter, or one artifact
  bool is_artifact = false;
};

// `graph`: the inputs of the graph that holds the task. A loop as a whole has no item. Errors name the input.
base::Result<Values> resolve_inputs(const ::pipelines::Component& component, const ::pipelines::Task& task,
                                    const Values& graph, const Producers& producers, const RunFacts& run);
// The inputs of one turn, of those of the loop.
base::Result<Values> with_item(const ::pipelines::Component& component, const Values& loop, const Item& item);
// The items of a loop, from its inputs.
base::Result<std::vector<api::Json>> items_of(const ::pipelines::Iterator& iterator, const Values& loop);
// The parameters of a run, by the pipeline's definitions.
base::Result<Values> root_inputs(const ::pipelines::Component& root, const api::Json& parameters);
// Whether the task's condition holds.
base::Result<bool> condition_holds(const ::pipelines::Task& task, const Values& inputs);

// The outputs of a graph whose tasks have ended, or of all turns of a loop.
Values graph_outputs(const ::pipelines::Graph& graph, const Producers& producers);
Values loop_outputs(const ::pipelines::Component& component, const std::vector<Values>& turns);

}  // namespace controllers::pipelines
