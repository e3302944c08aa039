// The cycle: from the model and a configuration to a plan.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "scheduler/framework/config.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"
#include "scheduler/session/plan.h"
#include "scheduler/session/session.h"

namespace scheduler {

struct CycleReport {
  Plan plan;
  std::map<std::string, std::string> pipelined;  // "ns/pod" to node: promised, not free yet
  std::map<std::string, TaskReport> tasks;
  struct ActionTime {
    std::string action;
    double wall_s = 0;
    double cpu_s = 0;
  };
  std::vector<ActionTime> actions;
  double open_s = 0;                // opening the session, plugins included
  std::vector<PluginTime> plugins;  // names hold until the next configuration
  PreemptionCounts preemption;
  std::size_t nodes_left_out = 0;    // by searches for victims, whose steps were spent
  std::vector<SearchTime> searches;  // of pods, where they are measured
  std::vector<SinglePodEnd> single_pods;
  std::vector<std::string> bad_rollbacks;  // empty as it should be; see Decider::prove_rollbacks()
};

// Owned by the scheduler's loop. Plugins live as long as the configuration.
class Decider {
 public:
  Decider(Model& model, Ledger& ledger, Registry registry, std::uint64_t seed, std::string scheduler_name);
  ~Decider();

  // Keeps the previous configuration when the text is not usable.
  base::Status configure(std::string_view text);
  void use(Config config);
  const Config& config() const { return config_; }
  std::vector<std::string> warnings() const;
  bool depends_on_time() const;
  // Searches for nodes are measured too, with this clock; it costs three readings a pod.
  void time_searches(std::function<double()> clock);
  // Before the first cycle. Without it every node is looked at.
  void sample(SamplingOptions options) { sampler_.options = options; }
  // Nodes are searched by what `make` makes, from the next configuration on.
  using SearchMaker = std::unique_ptr<NodeSearch> (*)(Model&, const PluginSet&, NodeSampler&);
  void search_with(SearchMaker make) { make_search_ = make; }

  CycleReport run_cycle(base::Time now, bool keep_tasks = false, const Stopwatch& stopwatch = {});
  // The next cycle decides on these pods, in this order; where pods come in groups nobody calls it.
  void take_turns(std::vector<TaskId> pods) { single_pods_ = std::move(pods); }
  // Why each waiting group waits, as of the last cycle that looked at it, by key. Groups whose queue does not exist are
  // in no session; they are here too.
  std::map<std::string, WaitReason> waiting() const;
  // The same of groups in sessions, at the cost of those that wait.
  template <class Visit>
  void for_each_reason(Visit&& visit) const {
    for (const auto& [id, reason] : ledger_.reasons) {
      const Job& job = model_.job(id);
      // A job that has its places and is only on its way to them does not wait.
      if (job.in_use && job.waits() && job.ready_count() < std::max(job.min_available, 1)) visit(job, reason);
    }
  }
  // How long the pods of a group must be the same before it is told that some are missing; zero tells at once.
  void wait_for_arrivals(base::Duration grace) { arrival_grace_ = grace; }
  // When a cycle would tell a group something without anything having changed; unset: never.
  std::optional<base::Time> next_due() const;
  // Reasons are kept unless this says otherwise (to measure what they cost).
  void keep_reasons(bool keep) { keeps_reasons_ = keep; }
  std::uint64_t nodes_looked_at() const;
  // The gauges of the plugins, as of the last cycle.
  void report(const MetricSink& sink) const { plugins_->report(sink); }
  // For tests: after each rollback the model is compared with what it was.
  void prove_rollbacks() { proves_rollbacks_ = true; }

 private:
  void end_search();
  void begin_search();

  Model& model_;
  Ledger& ledger_;
  Registry registry_;
  Config config_;
  std::unique_ptr<PluginSet> plugins_;
  NodeSampler sampler_;
  std::function<double()> search_clock_;
  SearchMaker make_search_;
  std::unique_ptr<NodeSearch> search_;
  QueueDevices queue_devices_;
  LapsedReserves lapsed_reserves_;
  std::vector<std::pair<std::string, std::unique_ptr<Action>>> actions_;
  std::vector<std::string> action_warnings_;
  base::Random random_;
  std::string scheduler_name_;
  std::uint64_t cycle_ = 0;
  std::vector<JobId> carried_;  // changed during the last session
  bool fresh_plugins_ = true;
  std::uint32_t queue_changes_ = 0;  // the model's count at the last cycle
  std::uint64_t node_changes_ = 0;   // the same of nodes
  bool keeps_reasons_ = true;
  base::Duration arrival_grace_{};
  bool proves_rollbacks_ = false;
  std::uint64_t looked_at_before_ = 0;
  std::vector<TaskId> single_pods_;
};

}  // namespace scheduler
