// One look at a Job, from what is seen to the plan. Used by batch_job*.cc only.
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "controllers/framework/restart_pauses.h"
#include "controllers/workloads/batch_job.h"
#include "controllers/workloads/pods.h"
#include "controllers/workloads/replica_set.h"

namespace controllers::workloads {

// The verdict of a podFailurePolicy on a failed pod.
struct Verdict {
  std::string action;   // "Count" where no rule matches
  std::string message;  // of FailJob
};
Verdict judge_failure(const api::Json& policy, const api::Json& pod);

class JobLook {
 public:
  JobLook(const View& view, const api::Json& job, const Turn& turn, RestartPauses& pauses);
  Plan take();

 private:
  struct Owned {
    const api::Json* pod;
    std::int64_t number;  // -1: it has none
  };
  struct Running {
    const api::Json* pod;
    std::int64_t number;
    std::int64_t index;  // of an indexed Job; -1: none
  };

  void sort_out();
  void adopt();
  void count_ended();
  void count_failure(const api::Json& pod);
  void suspend_or_resume();
  void judge();
  void plan_pods();
  void give_up(const Running& one);
  void finish();
  void write();
  void create_pods();
  void create_pod(std::size_t at);
  std::int64_t index_of(const api::Json& pod) const;
  std::int64_t restarts() const;
  base::Duration pause_left() const;
  void set_condition(std::string_view type, std::string_view status, std::string_view reason, std::string message);

  const View& view_;
  const api::Json& job_;
  const api::Json& spec_;
  const Turn& turn_;
  RestartPauses& pauses_;  // of all its pods together, for those that vanish
  Plan plan_;
  api::Json status_;  // as it will be
  bool indexed_;
  std::int64_t completions_;  // -1: until one pod succeeds
  std::int64_t failed_;
  std::int64_t succeeded_;
  NumberSet done_;     // indexes
  NumberSet settled_;  // numbers of pods
  std::int64_t next_ = 0;
  Claim claimed_;
  std::vector<Owned> pods_;
  std::vector<Running> running_;
  std::vector<const api::Json*> abandoned_;  // to delete
  std::vector<base::Time> failures_;         // when pods failed that are still there
  base::Time last_success_;
  std::int64_t terminating_ = 0;
  std::int64_t held_ = 0;  // on their way out, and not replaced before they are over
  bool suspended_ = false;
  bool renumbers_ = false;  // pods get numbers; more pods are made once these show
  std::string verdict_;     // why the Job fails at once
  std::string ending_;      // FailureTarget or SuccessCriteriaMet; empty: neither
  std::size_t make_ = 0;
  std::vector<std::int64_t> indexes_;  // of the pods to make
  std::vector<std::tuple<std::string, std::string, std::string>> events_;
};

}  // namespace controllers::workloads
