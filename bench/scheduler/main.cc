// scheduler_bench: generates the loads of the product's goals from a seed and measures the scheduler on them.
//
//   scheduler_bench                     every load: figures beside their goals, and a tenth of the size
//   scheduler_bench run LOAD [SCALE]    one load
//   scheduler_bench gen LOAD [SCALE]    its objects as JSON lines (all phases)
//   scheduler_bench schedule ...        is `volcano schedule ...`
#include <cstdlib>
#include <iostream>

#include "base/format.h"
#include "loads.h"
#include "main/programs.h"
#include "main/resource_use.h"

namespace {

struct Figures {
  double load_cpu_s = 0;
  double decide_cpu_s = 0;
  std::size_t binds = 0;
  std::size_t evictions = 0;
  std::size_t cycles = 0;
  std::uint64_t nodes_looked_at = 0;
  std::int64_t rss_bytes = 0;
};

// A queue plugin or an action that does not exist yet makes the load's configuration unusable; that is said.
base::Result<Figures> measure(const bench::Load& load, double scale) {
  scheduler::OneShotOptions options;
  options.config = load.config;
  options.until_idle = load.until_idle;
  options.now = base::Time{} + base::seconds(1'700'000'000);
  scheduler::OneShot run(options, volcano_main::stopwatch());
  TRY_VOID(run.configure());
  const std::vector<std::string> phases = load.phases(scale);
  for (std::size_t i = 0; i < phases.size(); ++i) {
    TRY_VOID(run.load("load.jsonl", phases[i]));
    // The cluster before the last phase is at rest: its first statuses are written.
    for (int n = 0; n < (i + 1 < phases.size() ? 3 : 1); ++n) run.run_phase();
  }
  const auto& last = run.stats().phases.back();
  return Figures{
      run.stats().load_cpu_s,        last.cpu_s, last.binds, last.evictions, last.cycles.size(), last.nodes_looked_at,
      volcano_main::resident_bytes()};
}

int print(const bench::Load& load, double scale) {
  const auto figures = measure(load, scale);
  if (!figures.ok()) {
    std::cout << base::format("{:<15} cannot run: {}\n", load.name, figures.error().message);
    return 1;
  }
  std::cout
      << base::format(
             "{:<15} x{:<4} decide {:8.4f} s (goal {:6.3f})  load {:7.3f} s  binds {:6}  evictions {:5}  cycles {:3}  "
             "nodes looked at {:10}  memory {:4} MB\n",
             load.name, scale, figures->decide_cpu_s, load.goal_cpu_s, figures->load_cpu_s, figures->binds,
             figures->evictions, figures->cycles, figures->nodes_looked_at, figures->rss_bytes >> 20)
      << std::flush;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::string mode = arguments.empty() ? "" : arguments[0];
  if (mode == "schedule") {
    arguments.erase(arguments.begin());
    return volcano_main::run_schedule(arguments);
  }
  const std::string name = arguments.size() > 1 ? arguments[1] : "";
  const double scale = arguments.size() > 2 ? std::atof(arguments[2].c_str()) : 1;
  int failed = 0;
  for (const bench::Load& load : bench::loads()) {
    if (!name.empty() && name != load.name) continue;
    if (mode == "gen") {
      for (const std::string& phase : load.phases(scale)) std::cout << phase;
    } else {
      if (mode.empty()) failed += print(load, 0.1);
      failed += print(load, scale);
    }
  }
  return failed == 0 ? 0 : 1;
}
