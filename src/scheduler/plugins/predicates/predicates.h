// The shared declarations of the predicates plugin's parts.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "scheduler/model/model.h"
#include "scheduler/plugins/predicates/node_facts.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {

struct PredicateSwitches {
  bool node_affinity = true;
  bool node_ports = true;
  bool taint_toleration = true;
  bool pod_affinity = true;
  bool volume_limits = true;
  bool volume_zone = true;
  bool topology_spread = true;
  bool volume_binding = true;
  bool resource_claims = true;
  std::uint64_t claim_steps_max = 1'000'000;  // of one search for devices on one node
};

// The nodes one evaluation started with, and what became of them: a plain refusal is noted and the node looked at by
// the later filters too; an unresolvable one ends it for the node.
class Sieve {
 public:
  Sieve(const NodeSet& nodes, FitErrors* errors)
      : alive_(nodes), failed_(nodes), unresolvable_(nodes), errors_(errors) {
    failed_.clear();
    unresolvable_.clear();
  }
  const NodeSet& alive() const { return alive_; }
  const NodeSet& failed() const { return failed_; }
  const NodeSet& unresolvable() const { return unresolvable_; }
  void refuse(const NodeSet& bad, FitCode code, std::string_view reason) {
    NodeSet hit = alive_;
    hit &= bad;
    record(hit, code, reason);
  }
  void keep(const NodeSet& good, FitCode code, std::string_view reason) {
    NodeSet hit = alive_;
    record(hit.subtract(good), code, reason);
  }

 private:
  void record(const NodeSet& hit, FitCode code, std::string_view reason) {
    if (errors_ != nullptr) errors_->add(reason, hit.count());
    failed_ |= hit;
    if (code == FitCode::kUnschedulable) return;
    unresolvable_ |= hit;
    alive_.subtract(hit);
  }

  NodeSet alive_, failed_, unresolvable_;
  FitErrors* errors_;
};

// A filter whose answer depends on what runs elsewhere.
class ClusterFilter {
 public:
  virtual ~ClusterFilter() = default;
  virtual void apply(Sieve& sieve) = 0;
};

// Adds the filters that matter for the task, in their order: pod affinity, volume limits and zones, spread, volume
// binding.
void add_pod_filters(const Model& model, DomainCache& domains, const PredicateSwitches& on, const Task& task,
                     std::vector<std::unique_ptr<ClusterFilter>>& out);

}  // namespace scheduler
