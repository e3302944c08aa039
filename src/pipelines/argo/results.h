// The values that the end of a node gives to those after it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "pipelines/argo/text_template.h"
#include "pipelines/argo/workflow_node.h"

namespace pipelines::argo {

using Nodes = std::map<std::string, Node>;

inline constexpr std::string_view kEmptyLoop = "Skipped, empty params";  // Argo's words for a loop without items

// The turns of a loop; its children in the picture are also the tasks that wait for it.
std::vector<const Node*> turns_of_group(const Nodes& nodes, const Node& group);
// The results of a node under "tasks.a" or "steps.a"; of a loop, those of its turns as arrays.
void record_results(const Nodes& nodes, const Node& node, const std::string& prefix, Variables& variables);
// {{workflow.failures}}: the nodes that failed, as a list in JSON inside of quotes, as Argo has it.
std::string failures_text(const Nodes& nodes);

}  // namespace pipelines::argo
