// The walk: from the entrypoint down, each use of a template becomes a node, and what is over stays as it is.
#include "pipelines/argo/operation.h"

#include <algorithm>
#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "pipelines/argo/globals.h"
#include "pipelines/argo/pod_gc.h"
#include "pipelines/argo/retry.h"
#include "pipelines/argo/workflow_retry.h"

namespace pipelines::argo {

using api::Json;

namespace {

// The strategy of the template; a step without one has the Workflow's.
const Json& strategy_of(const Json& spec, const Json& workflow_spec) {
  const bool is_leaf = !spec.has("steps") && !spec.has("dag");
  return spec.has("retryStrategy") || !is_leaf ? spec["retryStrategy"] : workflow_spec["retryStrategy"];
}

std::int64_t number_of(const Json& value, std::int64_t fallback) {
  if (value.is_number()) return value.as_int(fallback);
  return base::parse_number<std::int64_t>(value.as_string()).value_or(fallback);
}

}  // namespace

Operation::Operation(const WorkflowLook& look)
    : look_(look),
      spec_(look.workflow["spec"]),
      workflow_(api::name_of(look.workflow)),
      ns_(api::namespace_of(look.workflow)),
      nodes_(look.workflow, look.now) {}

WorkflowDecision Operation::run() {
  const Json& status = look_.workflow["status"];
  out_.status = status.is_object() ? status : Json::object();
  out_.status.erase("nodes");
  if (const auto phase = phase_of(status["phase"].as_string()); phase && argo::is_over(*phase)) {
    expire();
    out_.nodes = nodes_.take();
    return std::move(out_);
  }
  globals_ = globals_of(look_);
  const base::Time began = base::parse_rfc3339(status["startedAt"].as_string()).value_or(look_.now);
  out_.status.set("startedAt", base::format_rfc3339(began));
  make_claims(spec_);
  const std::string_view shutdown = spec_["shutdown"].as_string();
  if (!shutdown.empty()) stop_all(base::format("Stopped with strategy '{}'", shutdown));
  if (const std::int64_t deadline = number_of(spec_["activeDeadlineSeconds"], 0); deadline > 0) {
    const base::Time due = began + base::seconds(deadline);
    if (look_.now >= due) stop_all("Step exceeded its deadline");
    if (look_.now < due) look_within(due - look_.now);
  }
  const Node* root = execute({.name = workflow_,
                              .display = workflow_,
                              .template_name = spec_["entrypoint"].str(),
                              .arguments = spec_["arguments"]});
  if (root == nullptr && is_stopping_)
    root = nodes_.fail({.name = workflow_, .display = workflow_, .template_name = spec_["entrypoint"].str()},
                       "it was stopped before it began");
  if (is_too_large_) {
    const std::string why = base::format("the workflow has more than {} nodes", kNodesMax);
    stop_all(why);
    out_.pods.clear();
    out_.manifests.clear();
    root = nodes_.end(*nodes_.find(workflow_), Phase::kError, why);
  }
  const Node* exit = nullptr;
  const std::string handler = spec_["onExit"].str();
  if (root != nullptr && root->is_over() && !handler.empty() && shutdown != "Terminate") {
    globals_.set("workflow.status", std::string(has_failed(root->phase) ? text_of(root->phase) : "Succeeded"));
    globals_.set("workflow.failures", failures_text(nodes_.all()));
    is_stopping_ = false;
    const std::string name = workflow_ + ".onExit";
    exit = execute({.name = name, .display = name, .template_name = handler, .arguments = spec_["arguments"]});
    if (exit == nullptr || !exit->is_over()) root = nullptr;
  }
  if (root != nullptr && root->is_over())
    finish(*root, exit);
  else
    out_.status.set("phase", "Running");
  std::size_t over = 0;
  for (const auto& [id, node] : nodes_.all()) over += node.is_over() ? 1 : 0;
  out_.status.set("progress", base::format("{}/{}", over, nodes_.size()));
  out_.nodes = nodes_.take();
  return std::move(out_);
}

void Operation::finish(const Node& root, const Node* exit) {
  // An exit handler that fails makes a success a failure; a failure stays what it was.
  const Node& deciding = exit != nullptr && has_failed(exit->phase) && !has_failed(root.phase) ? *exit : root;
  const Phase phase = deciding.phase;
  // A root that was skipped did what it was asked for.
  out_.status.set("phase", has_failed(phase) ? text_of(phase) : "Succeeded");
  if (!deciding.message.empty()) out_.status.set("message", deciding.message);
  if (!root.outputs.is_null()) out_.status.set("outputs", root.outputs);
  out_.status.set("finishedAt", base::format_rfc3339(look_.now));
  const bool spends = !has_failed(phase) || spec_["volumeClaimGC"]["strategy"].as_string() == "OnWorkflowCompletion";
  if (spends && !out_.status["persistentVolumeClaims"].empty()) {
    for (const Json& claim : spec_["volumeClaimTemplates"].items())
      out_.spent_claims.push_back(claim_name(workflow_, claim));
    out_.status.set("persistentVolumeClaims", Json::array());
  }
  expire();
}

// The time to live after the end.
void Operation::expire() {
  const bool failed = out_.status["phase"].as_string() != "Succeeded";
  const Json& ttl = spec_["ttlStrategy"];
  Json seconds = ttl["secondsAfterCompletion"];
  const Json& of_phase = ttl[failed ? "secondsAfterFailure" : "secondsAfterSuccess"];
  if (!of_phase.is_null()) seconds = of_phase;
  if (seconds.is_null()) seconds = spec_["ttlSecondsAfterFinished"];
  if (!seconds.is_number()) return;
  const auto finished = base::parse_rfc3339(out_.status["finishedAt"].as_string());
  const base::Time due = finished.value_or(look_.now) + base::seconds(seconds.as_int());
  if (look_.now >= due)
    out_.remove = true;
  else
    look_within(due - look_.now);
}

void Operation::look_within(base::Duration delay) {
  out_.look_again = out_.look_again ? std::min(*out_.look_again, delay) : delay;
}

const Json* template_in(const Json& spec, std::string_view name) {
  for (const Json& one : spec["templates"].items())
    if (one["name"].as_string() == name) return &one;
  return nullptr;
}

bool Operation::may_start() const {
  if (is_stopping_ || spec_["suspend"].as_bool()) return false;
  const std::int64_t most = spec_["parallelism"].as_int(0);
  return most <= 0 || nodes_.active_pods() < static_cast<std::size_t>(most);
}

// Whether so many parts of a Steps or DAG run as its template lets run at once.
bool Operation::is_full(const std::string& boundary) const {
  const Node* around = nodes_.by_id(boundary);
  const Json* spec = around == nullptr ? nullptr : template_in(spec_, around->template_name);
  const std::int64_t most = spec == nullptr ? 0 : number_of((*spec)["parallelism"], 0);
  return most > 0 && nodes_.active_in(boundary) >= static_cast<std::size_t>(most);
}

const Node* Operation::execute(const Call& call) {
  if (const Node* known = nodes_.find(call.name); known != nullptr && known->is_over()) return known;
  if (call.depth > kDepthMax)
    return nodes_.fail(call, base::format("templates use each other deeper than {}", kDepthMax));
  if (nodes_.size() >= kNodesMax) {
    is_too_large_ = true;
    return nullptr;
  }
  const Json* spec = template_in(spec_, call.template_name);
  if (spec == nullptr) return nodes_.fail(call, base::format("template {:?} is not there", call.template_name));
  if (nodes_.find(call.name) == nullptr && is_full(call.boundary)) return nullptr;
  const Json& strategy = strategy_of(*spec, spec_);
  return strategy.is_object() ? retry(call, strategy) : execute_once(call);
}

const Node* Operation::retry(const Call& call, const Json& strategy) {
  Node* node = nodes_.find(call.name);
  if (node == nullptr) {
    if (!may_start()) return nullptr;
    node = &nodes_.begin(call, "Retry", Phase::kRunning);
  }
  for (std::int64_t attempt = 0;; ++attempt) {
    Call child = call;
    child.name = base::format("{}({})", call.name, attempt);
    child.display = base::format("{}({})", call.display, attempt);
    ++child.depth;
    if (attempt > 0 && nodes_.find(child.name) == nullptr) {
      const Node& last = *nodes_.find(base::format("{}({})", call.name, attempt - 1));
      const RetryChoice choice = choice_after({strategy, *nodes_.find(call.name + "(0)"), last, attempt, look_.now});
      if (choice.end || is_stopping_) return nodes_.end(*node, last.phase, choice.end.value_or(last.message));
      if (nodes_.size() >= kNodesMax) return nodes_.end(*node, Phase::kError, "too many attempts");
      if (choice.wait > base::Duration{}) {
        look_within(choice.wait);
        return node;
      }
    }
    globals_.set("retries", base::format("{}", attempt));
    const Node* last = execute_once(child);
    node = nodes_.find(call.name);
    if (last == nullptr) return node;
    nodes_.add_child(call.name, *last);
    if (!last->is_over()) return node;
    if (has_failed(last->phase)) continue;
    node->outputs = last->outputs;
    return nodes_.end(*node, last->phase, last->message);
  }
}

const Node* Operation::execute_once(const Call& call) {
  if (const Node* known = nodes_.find(call.name); known != nullptr && known->is_over()) return known;
  const Json* spec = template_in(spec_, call.template_name);
  auto inputs = inputs_of(globals_, call.arguments, *spec);
  if (!inputs.ok()) return nodes_.fail(call, inputs.error().message);
  inputs->variables.set("node.name", call.name);
  if (spec->has("steps")) return steps(call, *spec, *inputs);
  if (spec->has("dag")) return dag(call, *spec, *inputs);
  if (spec->has("suspend")) return pause(call, *spec);
  if (spec->has("resource")) return manifest(call, *spec, *inputs);
  return pod(call, *spec, *inputs);
}

// Its end, or a person that takes `suspend` away: a person sets the node's phase, or `resume` of the tools does.
const Node* Operation::pause(const Call& call, const Json& spec) {
  Node* node = nodes_.find(call.name);
  if (node == nullptr) {
    if (is_stopping_) return nullptr;
    node = &nodes_.begin(call, "Suspend", Phase::kRunning);
  }
  const std::string text = text_of(spec["suspend"]["duration"]);
  const std::int64_t seconds = base::parse_number<std::int64_t>(text).value_or(0);
  const base::Duration wait =
      seconds > 0 ? base::seconds(seconds) : base::parse_go_duration(text).value_or(base::Duration{});
  if (wait.ns <= 0) return node;
  const base::Time due = node->started + wait;
  if (look_.now >= due) return nodes_.end(*node, Phase::kSucceeded);
  look_within(due - look_.now);
  return node;
}

// Pods are ended; nodes end with them, or at once where there is none.
void Operation::stop_all(const std::string& why) {
  is_stopping_ = true;
  const std::string handler = workflow_ + ".onExit";
  for (Node* node : nodes_.active()) {
    if (node->name.starts_with(handler)) continue;
    if (node->type == "Pod" && look_.pod(node->id) != nullptr) out_.ended_pods.push_back(node->id);
    if (node->type == "Pod" || node->type == "Suspend") nodes_.end(*node, Phase::kFailed, why);
  }
}

WorkflowDecision decide(const WorkflowLook& look) {
  if (asks_for_retry(look.workflow)) return begin_retry(look);
  WorkflowDecision decision = Operation(look).run();
  collect_pods(look, decision);
  return decision;
}

}  // namespace pipelines::argo
