// Values that templates are given and give: parameters, artifacts, the turns of loops.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "pipelines/argo/text_template.h"

namespace pipelines::argo {

struct Inputs {
  Variables variables;
  api::Json values;  // as a node has them
};

// One turn of a loop, or the only one.
struct LoopTurn {
  std::string suffix;  // of the node's name: "(0:x)"
  Variables variables;
};

// `globals`: the values that every template knows; `arguments`: those of this use, filled in.
base::Result<Inputs> inputs_of(const Variables& globals, const api::Json& arguments, const api::Json& spec);
base::Result<std::vector<LoopTurn>> turns_of(const api::Json& spec, const Variables& variables);
base::Result<api::Json> arguments_of(const api::Json& spec, const Variables& variables);
// The outputs that a Steps or DAG takes from its parts.
base::Result<api::Json> outputs_of(const api::Json& spec, const Variables& variables);

}  // namespace pipelines::argo
