// A JobFlow's graph, read once: its nodes, what they wait for, and which of them can never start.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "controllers/framework/controller.h"

namespace controllers::jobflow {

inline constexpr std::string_view kOfTemplate = "volcano.sh/createdByJobTemplate";
inline constexpr std::string_view kOfFlow = "volcano.sh/createdByJobFlow";

struct Node {
  std::string name;  // of the JobTemplate, too
  std::string job;   // "<jobflow>-<name>"
  std::vector<std::string> targets;
  api::Json probe;              // null: there is nothing in it
  api::Json patch;              // of the Job's spec; null: none
  std::string impossible = {};  // why it can never start; empty: it can
};

// In the order of the spec. The last of two nodes with one name counts, at the place of the first.
std::vector<Node> read_nodes(const api::Json& flow);

// The keys of the JobTemplates and of the Jobs of a flow.
Keys template_keys(const api::Json& flow);
Keys job_keys(const api::Json& flow);

}  // namespace controllers::jobflow
