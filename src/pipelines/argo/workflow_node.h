// A node of a Workflow: what became of one use of a template, as status.nodes has it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"

namespace pipelines::argo {

enum class Phase : std::uint8_t { kPending, kRunning, kSucceeded, kSkipped, kFailed, kError, kOmitted };

std::string_view text_of(Phase phase);
std::optional<Phase> phase_of(std::string_view text);

// Nothing follows.
inline bool is_over(Phase phase) { return phase != Phase::kPending && phase != Phase::kRunning; }
inline bool has_failed(Phase phase) { return phase == Phase::kFailed || phase == Phase::kError; }
// It ran to an end.
inline bool is_completed(Phase phase) { return phase == Phase::kSucceeded || has_failed(phase); }

struct Node {
  std::string id;
  std::string name;     // of the whole way to it: "wf.a(0:x)", "wf[1].b"
  std::string display;  // its last part
  std::string type;     // Pod, Steps, StepGroup, DAG, TaskGroup, Retry, Skipped, Suspend
  std::string template_name;
  std::string boundary;  // the id of the Steps or DAG that holds it
  Phase phase = Phase::kPending;
  std::string message;
  base::Time started, finished;
  api::Json inputs, outputs;  // {parameters: [{name, value}], artifacts: [...], exitCode}
  std::vector<std::string> children;

  bool is_over() const { return argo::is_over(phase); }
  bool operator==(const Node& other) const = default;
};

api::Json to_json(const Node& node);
// Null fields and those of other types count as absent. No node where the name, the type or the phase is not there.
std::optional<Node> node_of(const api::Json& object);

// The id of the node with this name: that of the Workflow's own node is the Workflow's name.
std::string node_id(std::string_view workflow, std::string_view name);

}  // namespace pipelines::argo
