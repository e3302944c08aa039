// The inputs of a cycle, and the cycle itself: the model, the writes under way, the intake of objects, the
// configuration and the decider. It knows no server and no timer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "scheduler/cache/intake.h"
#include "scheduler/effects/differences.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"
#include "scheduler/options.h"
#include "scheduler/scheduler.h"
#include "scheduler/session/decider.h"
#include "scheduler/single_pods/single_pods.h"

namespace scheduler {

// Events and sources of a scheduler with these options are named so.
std::string component_of(const Options& options);

// Loop thread only.
class Engine {
 public:
  Engine(Options options, std::uint64_t seed);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // A text that cannot be used is refused; another one waits until take_configuration().
  base::Status configure(std::string_view text);
  bool has_new_configuration() const { return next_config_.has_value(); }
  void take_configuration();
  // The one that waits, or the one in use.
  const Config& newest_configuration() const { return next_config_ ? *next_config_ : decider_.config(); }
  api::Json configuration_report() const;

  // Before each cycle: the pods whose turn it is, where they are decided one by one.
  void begin_cycle(base::Time now);
  CycleReport run_cycle(base::Time now, const Stopwatch& stopwatch);
  // `witness` outlives the engine. Reports hold tasks for it.
  void set_witness(CycleWitness& witness);
  // A dry run believes that its decisions are done. This one is not, and the next decisions must not build on it.
  void take_back(const Difference& one);
  // Could a cycle decide more as time passes, though no object changes?
  bool decides_again_with_time();

  api::Json waiting_report() const;
  std::string dump(std::vector<std::string> arguments, base::Time now) const;

  const Options& options() const { return options_; }
  Model& model() { return model_; }
  const Model& model() const { return model_; }
  Ledger& ledger() { return ledger_; }
  Intake& intake() { return intake_; }
  Decider& decider() { return decider_; }
  const Decider& decider() const { return decider_; }
  // Null where groups are decided.
  SinglePods* single_pods() { return single_pods_ ? &*single_pods_ : nullptr; }

 private:
  void report_missing_shard();
  api::Json waiting_groups() const;
  api::Json waiting_single_pods() const;

  const Options options_;
  Model model_;
  Ledger ledger_;
  Intake intake_;
  Decider decider_;
  std::optional<SinglePods> single_pods_;  // of the agent scheduler
  std::optional<Config> next_config_;
  std::string next_config_text_, config_text_;  // as given; empty: the built-in one
  std::string refused_;                         // why the last configuration was not taken
  bool shard_is_missing_ = false;
  CycleWitness* witness_ = nullptr;
};

}  // namespace scheduler
