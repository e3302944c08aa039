// One look at one training job: what its parts share while they decide.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/framework/ongoing_states.h"
#include "controllers/training/pods.h"
#include "controllers/training/step.h"
#include "controllers/training/verdict.h"

namespace controllers::training {

class TrainingStep {
 public:
  TrainingStep(const Framework& framework, const Observed& seen, Memory memory, const Turn& turn,
               const Options& options);

  Decision take();

 private:
  using Buckets = std::map<std::int64_t, std::vector<const api::Json*>>;

  // step.cc: the order of things.
  void decide();
  void note_created();
  bool tell_refusal();
  bool has_all_pods() const;
  bool exceeds_limits();
  void write_status();
  void fail_at_limit(const std::string& message);
  bool has_failed_at_limit() const;
  bool has_negative_counts() const;
  void end_verdict();
  std::int64_t restarts_due() const;
  std::int64_t containers_restarted() const;

  // endings.cc: what is not wanted any more goes.
  void clean_up();
  void remove_after_limit();
  void count_active_as_succeeded();
  void suspend();
  bool resume();
  void remove_all();
  void remove_pod(const api::Json& pod);
  void remove_service(const api::Json& service);
  void remove_group();
  void end_time_to_live();

  // autoscaler.cc: who changes the number of workers.
  void keep_autoscaler();
  void remove_autoscaler();

  // replicas.cc: the pods, what became of them, and those that are missing.
  void sort_pods();
  void look_at_launcher_job();
  // `all_end`: those that run end, too.
  std::int64_t failed_launchers(bool all_end) const;
  void look_at_pods();
  void remove_surplus_services();
  void look_at(const Replica& replica, const api::Json& pod);
  bool is_taken_away(const api::Json& pod) const;
  void make_up_for(const api::Json& pod);
  bool is_made_again(const Replica& replica) const;
  bool is_permanent(const Replica& replica, const api::Json& failed) const;
  bool is_restart_counted(const api::Json& pod) const;
  void restart_or_fail(const Replica& replica, const api::Json& pod);
  void remove_failed();
  void mirror_trouble(const api::Json& pod);
  void mirror_waiting_for_master(const api::Json& pod);
  void say_how_it_ended(const api::Json& pod, std::optional<std::int64_t> exit_code);
  bool are_priorities_known();
  bool admit_group();
  bool make_own_objects();
  bool are_workers_ready() const;
  void make_launcher_job(const Replica& replica);
  void patch_suspend(bool suspend);
  void make_missing();
  void make_replicas(const Replica& replica);
  std::optional<std::size_t> bytes_of(const api::Json& pod);
  void make(const api::ResourceId& resource, api::Json object, std::string_view kind);
  void warn_of_template(const Replica& replica);
  const api::Json* service_named(std::string_view name);
  api::Json replica_status(const Replica& replica, const Counts& counts) const;
  void say_once(std::string_view type, std::string_view reason, const std::string& text, std::string_view about = {});
  void count(std::string_view metric, int amount = 1) { decision_.counted.emplace_back(metric, amount); }
  std::string key(std::string_view name) const { return job_.ns + "/" + std::string(name); }
  bool is_valid() const { return reading_->problem.empty(); }
  // The launcher is a Job on this server.
  bool has_launcher_job() const { return options_.launcher_jobs && job_.framework->launcher_is_a_job; }
  bool has_launcher_pods() const { return job_.framework->launcher_is_a_job && !options_.launcher_jobs; }
  const api::Json* group() const {
    return options_.gang ? seen_.view->find(group_resource(options_), key(job_.name)) : nullptr;
  }
  // For MPIJobs of v2beta1 whose workers run on: pods without their group would count for no queue (kubeflow.md 7).
  bool keeps_group() const { return job_.framework->launcher_is_a_job && job_.clean_pod_policy == "None"; }
  bool is_ours(const api::Json& object) const { return api::controller_of(object)["uid"].as_string() == job_.uid; }
  Plan& plan() { return decision_.plan; }

  const Observed& seen_;
  const Turn& turn_;
  const Options& options_;
  const std::shared_ptr<const Reading> reading_;
  const TrainingJob& job_;
  Conditions conditions_;
  Verdict verdict_;
  api::Json status_;  // as it will be, without conditions
  Decision decision_;
  OngoingStates said_;
  std::map<std::string, std::int64_t> restarts_before_;    // see Memory::restarts
  std::vector<const api::Json*> to_make_again_;            // pods that go once the status counts them
  api::Json good_group_;                                   // see Memory::group
  std::map<std::string, Buckets, std::less<>> pods_;       // by type in lower case
  std::map<std::string_view, const api::Json*> services_;  // by name, once somebody has asked
  std::size_t made_ = 0;                                   // pods of this look
  std::size_t bytes_ = 0;                                  // theirs, as text
};

// A job has no event when somebody else's object, which has a name that it needs, goes.
inline constexpr base::Duration kStrangerPause = base::seconds(10);

bool is_launcher(const api::Json& pod);
// The exit code of the key container, if it has ended.
std::optional<std::int64_t> exit_code_of(const api::Json& pod, std::string_view container);

}  // namespace controllers::training
