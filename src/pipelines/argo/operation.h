// The walk of one look along the templates of a Workflow. Inside of argo only.
#pragma once

#include <string>
#include <string_view>

#include "pipelines/argo/node_book.h"
#include "pipelines/argo/text_template.h"
#include "pipelines/argo/values.h"
#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

// A task or a step, as much of it as both have.
struct Use {
  const api::Json& spec;
  std::string name;  // of its node, without the turn
  std::string display;
  std::string boundary;
  int depth;
};

class Operation {
 public:
  explicit Operation(const WorkflowLook& look);
  WorkflowDecision run();

 private:
  // Each gives the node of the call; null while it has not begun.
  const Node* execute(const Call& call);
  const Node* retry(const Call& call, const api::Json& strategy);
  const Node* execute_once(const Call& call);
  const Node* steps(const Call& call, const api::Json& spec, const Inputs& inputs);
  const Node* dag(const Call& call, const api::Json& spec, const Inputs& inputs);
  struct Graph;
  Graph read_graph(const Call& call, const api::Json& spec, const Inputs& inputs);
  void record_end(Graph& graph, const std::string& name) const;
  void walk_task(Graph& graph, const std::string& name);
  const Node* pod(const Call& call, const api::Json& spec, const Inputs& inputs);
  const Node* manifest(const Call& call, const api::Json& spec, const Inputs& inputs);
  const Node* pause(const Call& call, const api::Json& spec);
  // The node of one task or step: its only call, or the TaskGroup of its loop.
  const Node* walk_use(const Use& use, const Variables& variables);
  const Node* one_turn(const Use& use, const LoopTurn& turn, const Variables& variables);

  bool may_start() const;
  bool is_full(const std::string& boundary) const;
  void sync_pod(Node& node, const api::Json& spec);
  base::Result<api::Json> outputs_of_pod(const api::Json& pod, const api::Json& spec, const Node& node) const;
  // Whether the steps or tasks beside it ask for what it prints.
  bool keeps_result(std::string_view display, const std::string& boundary) const;
  void stop_all(const std::string& why);
  void make_claims(const api::Json& spec);
  void finish(const Node& root, const Node* exit);
  void expire();
  void look_within(base::Duration delay);

  const WorkflowLook& look_;
  const api::Json& spec_;
  const std::string workflow_;
  const std::string ns_;
  NodeBook nodes_;
  WorkflowDecision out_;  // its nodes come at the end
  Variables globals_;
  bool is_stopping_ = false;  // nothing new begins
  bool is_too_large_ = false;
};

// The template of a Workflow with this name; null: there is none.
const api::Json* template_in(const api::Json& spec, std::string_view name);

// pods.cc: the pod of a container or script; an error names what cannot be filled in. `name` is also the node's id.
struct PodRequest {
  const WorkflowLook& look;
  const api::Json& spec;    // of the template, filled in
  const api::Json& inputs;  // as the node has them
  std::string name, node_name;
  bool keeps_result = false;  // what it prints is an output
};
api::Json pod_of(const PodRequest& request);
std::string account_of(const api::Json& workflow, const api::Json& spec);
api::Json owner_of(const api::Json& workflow);
std::string claim_name(std::string_view workflow, const api::Json& claim_template);

// manifests.cc: whether a condition such as "status.phase in (A, B), status.n > 2" holds of an object.
base::Result<bool> meets(std::string_view condition, const api::Json& object);
base::Result<api::Json> manifest_outputs(const api::Json& spec, const api::Json& object);

}  // namespace pipelines::argo
