// The scheduler as a component: watches the cluster, runs cycles, writes what they decide.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/meta/resource.h"
#include "base/metrics.h"
#include "base/result.h"
#include "client/client.h"
#include "rt/env.h"
#include "scheduler/options.h"

namespace scheduler {

class Ledger;
class Model;
struct Config;
struct CycleReport;

// The resources that a scheduler with these options watches in any case.
std::vector<api::ResourceId> watched_resources(const Options& options);

// Sees each cycle from inside, as simulated worlds do: the model it starts from, and what it decided before anything of
// that takes effect.
class CycleWitness {
 public:
  virtual ~CycleWitness() = default;
  virtual void before(const Model& model, const Ledger& ledger, const Config& config) = 0;
  virtual void after(const Model& model, const Config& config, const CycleReport& report) = 0;
};

// All methods on the loop of `env`. Client and environment must outlive it.
class Scheduler {
 public:
  Scheduler(rt::Env& env, client::Client& client, Options options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Takes the text of a configuration file. One that cannot be used is refused with a message, and the configuration
  // in use stays. A new one takes effect with the next cycle.
  base::Status configure(std::string_view text);
  // The parts of the configuration in use that were not understood.
  std::vector<std::string> configuration_warnings() const;
  // The configuration in use with its warnings, and why the last text was refused, if it was; for /debug/config.
  api::Json configuration_report() const;
  // Why each waiting group, or single pod, waits; for /debug/waiting.
  api::Json waiting_report() const;
  // The scheduler's beliefs, as objects from which `volcano schedule --as-is` decides the same; and for people.
  // `arguments` is noted in it.
  std::string dump(std::vector<std::string> arguments) const;
  std::vector<std::string> dump_for_people() const;
  // Watches, so that everything is known when start() comes, and decides nothing. May be left out.
  void stand_by();
  void start();
  // Why not every watch has delivered its first list yet; empty: each has.
  std::string why_not_synced() const;
  // The decisions in which the scheduler that runs differs; for /debug/differences of a dry run, null without one.
  api::Json differences_report() const;
  // Every watch has delivered its first list, and the first cycle has run.
  bool is_ready() const;
  std::uint64_t cycles() const;
  std::size_t pods() const;  // in its beliefs
  // Counts into `metrics`, which has metric_rows() and outlives the scheduler. Before start().
  void count_into(base::Metrics& metrics);
  // Decide and report, but write nothing. Before start().
  void set_dry_run();
  // `witness` outlives the scheduler. Reports hold tasks for it. Before start().
  void set_witness(CycleWitness& witness);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace scheduler
