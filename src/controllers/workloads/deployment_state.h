// One look at a Deployment, as functions from values to values. Used by deployment*.cc only.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "controllers/workloads/deployment.h"
#include "controllers/workloads/pods.h"

namespace controllers::workloads {

inline constexpr std::string_view kTemplateHash = "pod-template-hash";
inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesired = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMax = "deployment.kubernetes.io/max-replicas";

std::int64_t wanted_of(const api::Json& set);
std::int64_t available_of(const api::Json& set);

// All that a look at a Deployment may see.
struct ObservedDeployment {
  const api::Json& deployment;
  Claim claimed;                                        // its ReplicaSets
  std::set<const api::Json*> sets_at_work = {};         // of Recreate: those whose pods are not all over
  std::function<bool(std::string_view name)> is_taken;  // whether some ReplicaSet of its namespace has a name
};

// The facts that a rollout goes by.
struct Rollout {
  const ObservedDeployment& seen;
  const api::Json& deployment;
  const Turn& turn;
  std::int64_t replicas;
  Bounds bounds;
  std::vector<const api::Json*> sets = {};  // oldest first
  const api::Json* newest = nullptr;        // that has the template; null: none yet
  std::vector<const api::Json*> old = {};   // the others
};

// The writes of one look, as far as they are decided.
struct RolloutDraft {
  Plan plan = {};
  api::Json conditions = {};
  api::Json collisions = {};
  std::string made = {};       // the set that this plan makes
  bool writes_itself = false;  // the plan writes the Deployment's metadata
  std::vector<std::pair<const api::Json*, api::Json>> patches = {};
  std::vector<std::pair<const api::Json*, std::string>> scaled = {};  // and the event
};

std::int64_t total(const Rollout& at);

// deployment_status.cc
void record_pause(const Rollout& at, RolloutDraft& draft);
bool is_complete(const Rollout& at, const RolloutDraft& draft);
void write_sets(RolloutDraft& draft);
void write_status(const Rollout& at, RolloutDraft& draft);

}  // namespace controllers::workloads
