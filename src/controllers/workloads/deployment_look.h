// One look at a Deployment, from what is seen to the plan. Used by deployment*.cc only.
#pragma once

#include <string>
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

class Rollout {
 public:
  Rollout(const View& view, const api::Json& deployment, const Turn& turn);
  Plan take();

 private:
  void find_newest();
  void number_newest();
  void carry_revision();
  void make_newest();
  void roll();
  void recreate();
  void rescale();
  void share_out(std::vector<const api::Json*> active);
  void shrink_old();
  void scale(const api::Json& set, std::int64_t count);
  void change(const api::Json& set, api::Json patch);
  void clean_up();
  void write_sets();
  std::int64_t total() const;
  std::int64_t wanted_of_newest() const;
  // deployment_status.cc
  void note_pause();
  bool is_complete() const;
  api::Json counts() const;
  void say();
  void note_progress(const api::Json& status);
  void note_deadline();
  void note_replica_failure();
  void note_availability(const api::Json& status);

  const View& view_;
  const api::Json& deployment_;
  const Turn& turn_;
  std::int64_t replicas_;
  Bounds bounds_;
  api::Json conditions_;  // as they will be
  Plan plan_;
  std::vector<const api::Json*> sets_;  // oldest first
  const api::Json* newest_ = nullptr;   // that has the template; null: none yet
  std::vector<const api::Json*> old_;   // the others
  std::int64_t revision_ = 0;
  api::Json collisions_;
  std::string made_;             // the set that this plan makes
  bool changes_itself_ = false;  // the plan writes the Deployment's metadata
  std::vector<std::pair<const api::Json*, api::Json>> patches_;
  std::vector<std::pair<const api::Json*, std::string>> scaled_;  // and the event
};

}  // namespace controllers::workloads
