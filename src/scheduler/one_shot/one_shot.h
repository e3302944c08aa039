// One-shot runs (`volcano schedule`): the scheduler on files instead of a cluster.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "api/schema/checked_values.h"
#include "base/result.h"
#include "base/time.h"
#include "scheduler/cache/intake.h"
#include "scheduler/options.h"
#include "scheduler/session/decider.h"

namespace scheduler {

struct OneShotOptions {
  Options scheduler;
  std::optional<std::string> config;  // text; unset: the default configuration
  bool until_idle = false;
  int cycles = 1;  // per phase, without until_idle
  bool as_is = false;
  bool leave_evicted = false;
  base::Time now;
  bool now_given = true;  // otherwise a dump among the files says what time it is
  bool tasks = false;
  bool reasons = true;  // false: to measure what WaitReasons cost
  // Asks a program outside (an extender), waiting for its answer. Without it every question ends in an error.
  std::function<ExternalAnswer(const ExternalQuestion&)> asker = {};
  // Fills in what an API server would fill into a pod, without as_is. Unset: a pod says everything itself.
  std::function<void(api::Json& pod)> complete_pod = {};
};

struct OneShotStats {
  struct Cycle {
    double wall_s = 0;
    double cpu_s = 0;
    std::vector<CycleReport::ActionTime> actions;
  };
  struct Phase {
    double wall_s = 0;
    double cpu_s = 0;
    std::size_t binds = 0;
    std::size_t evictions = 0;
    std::uint64_t nodes_looked_at = 0;
    std::vector<Cycle> cycles;
  };
  double load_wall_s = 0;
  double load_cpu_s = 0;
  std::vector<Phase> phases;
};

class OneShot {
 public:
  OneShot(OneShotOptions options, Stopwatch stopwatch);

  // Takes the configuration; false with a message when it cannot be used.
  base::Status configure();
  // Takes objects in from one file's text. The format follows the name's ending, or the text where it has none.
  base::Status load(const std::string& file, std::string_view text);
  // Takes in what waited for objects of other files. run_phase() begins with it.
  void finish_loading();
  // Ends the intake of the phase and runs its cycles.
  void run_phase();

  // The answer, keys sorted.
  api::Json result() const;
  std::string text() const;
  // The same in parts: "ns/pod" to its node, bound or promised.
  std::map<std::string, std::string> binds() const;
  const std::map<std::string, std::string>& pipelined() const { return pipelined_; }
  const std::vector<PlannedEviction>& evictions() const { return evictions_; }
  std::size_t waiting_count() const { return decider_.waiting().size(); }
  const OneShotStats& stats() const { return stats_; }
  // The objects that were skipped, and why; for standard error.
  const std::vector<std::string>& warnings() const { return warnings_; }
  const Model& model() const { return model_; }
  const Ledger& ledger() const { return ledger_; }

 private:
  base::Status load_object(const std::string& file, int line, api::Json object);
  base::Status load_state(const std::string& where, const api::Json& state);
  base::Status check(const std::string& where, const api::ResourceId& id, const api::Json& object);
  void complete(api::Json& object) const;
  void take_in(const api::ResourceId& id, const api::Json& object);
  void add_missing_queues();
  void add_group_for(api::Json& pod);
  void take_effect(const Plan& plan);
  void answer(std::vector<ExternalQuestion> questions);
  bool run_cycle(OneShotStats::Phase& phase);
  api::Json groups_json() const;

  OneShotOptions options_;
  Stopwatch stopwatch_;
  Model model_;
  Ledger ledger_;
  Intake intake_;
  Decider decider_;
  base::Time now_;
  std::vector<std::string> warnings_;
  std::set<std::string> skipped_kinds_;
  api::CheckedValues checked_;
  std::vector<api::Json> early_pods_;  // of this phase: their nodes have not been read yet, and give nodes their order
  std::vector<std::pair<std::string, std::string>> binds_;  // in the order of decision; the last one counts
  std::vector<PlannedEviction> evictions_;
  std::vector<PlannedEviction> leaving_;  // gone before the next cycle
  std::map<std::string, std::string> pipelined_;
  std::map<std::string, TaskReport> tasks_;
  std::vector<std::pair<std::size_t, std::size_t>> cycles_;
  OneShotStats stats_;
  bool started_ = false;
  double intake_wall_s_ = 0, intake_cpu_s_ = 0;  // of the objects of the phase that runs next
};

}  // namespace scheduler
