// scheduler_bench: generates the loads of the product's goals from a seed and measures the scheduler on them.
//
//   scheduler_bench                     every load: figures beside their goals, from a tenth of the size to the whole
//   scheduler_bench run LOAD [SCALE]    one load, with the CPU seconds of every cycle and action
//   scheduler_bench gen LOAD [SCALE]    its objects as JSON lines (all phases)
//   scheduler_bench churn [JOBS]        what jobs leave in memory when they are gone, 200,000 of them
//   scheduler_bench restart [json] [SCALE]   a start beside 5,000 nodes, 87,000 groups and 150,000 pods, in protobuf or
//   JSON scheduler_bench schedule ...        is `volcano schedule ...`
//
// Every run has a process of its own, so that one load's memory is not another's, and its answer is checked.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <optional>

#include "base/format.h"
#include "check.h"
#include "churn.h"
#include "loads.h"
#include "main/host/base/resource_use.h"
#include "main/programs/programs.h"
#include "restart.h"

namespace {

struct Figures {
  bool ran = false;
  double load_cpu_s = 0;
  double decide_wall_s = 0;
  double decide_cpu_s = 0;
  std::uint64_t binds = 0;
  std::uint64_t evictions = 0;
  std::uint64_t waiting = 0;
  std::uint64_t cycles = 0;
  std::uint64_t nodes_looked_at = 0;
  std::int64_t rest_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::uint64_t problems = 0;
};

base::Status load_phases(const bench::Load& load, double scale, scheduler::OneShot& run) {
  base::Status status;
  int last = 0;
  bench::Sink sink([&](int phase, const std::string& lines) {
    // The cluster before the last phase is at rest: its first statuses are written.
    for (; last < phase; ++last) {
      for (int i = 0; i < 3; ++i) run.run_phase();
    }
    if (status.ok()) status = run.load("load.jsonl", lines);
  });
  load.objects(scale, sink);
  sink.flush();
  TRY_VOID(std::move(status));
  for (int i = 0; i < (load.goal_of == bench::Load::Goal::kMemory ? 5 : 1); ++i) run.run_phase();
  return {};
}

void print_cycles(const scheduler::OneShotStats::Phase& phase) {
  int number = 0;
  for (const auto& cycle : phase.cycles) {
    std::string line = base::format("  cycle {}: {:.4f}", ++number, cycle.cpu_s);
    for (const auto& action : cycle.actions) line += base::format("  {} {:.4f}", action.action, action.cpu_s);
    std::cout << line << "\n";
  }
  std::cout << std::flush;
}

base::Result<Figures> measure(const bench::Load& load, double scale, bool reasons, bool detail) {
  scheduler::OneShotOptions options;
  if (!load.config.empty()) options.config = load.config;
  options.until_idle = load.until_idle;
  options.reasons = reasons;
  options.now = base::Time{} + base::seconds(1'700'000'000);
  scheduler::OneShot run(options, volcano_main::stopwatch());
  TRY_VOID(run.configure());
  TRY_VOID(load_phases(load, scale, run));
  const auto& last = run.stats().phases.back();
  if (detail) print_cycles(last);
  Figures out{.ran = true,
              .load_cpu_s = run.stats().load_cpu_s,
              .binds = last.binds,
              .evictions = last.evictions,
              .cycles = last.cycles.size(),
              .nodes_looked_at = last.nodes_looked_at,
              .rest_bytes = volcano_main::resident_bytes()};
  // From the loaded model to the last decision: without the intake of the phase's own objects.
  for (const auto& cycle : last.cycles) {
    out.decide_wall_s += cycle.wall_s;
    out.decide_cpu_s += cycle.cpu_s;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out.peak_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  out.waiting = run.waiting_count();
  bench::Check::Answer answer{run.binds(), run.pipelined(), {}};
  for (const scheduler::PlannedEviction& one : run.evictions())
    answer.evictions.push_back({one.ns + "/" + one.pod, one.node, one.for_group});
  bench::Check check;
  bench::Sink sink([&](int, const std::string& lines) { check.read(lines); });
  load.objects(scale, sink);
  sink.flush();
  for (const std::string& problem : check.problems(answer)) {
    ++out.problems;
    std::cerr << base::format("{}: not allowed: {}\n", load.name, problem);
  }
  return out;
}

// In a process of its own.
Figures run_apart(const bench::Load& load, double scale, bool reasons, bool detail) {
  Figures out;
  int ends[2];
  if (pipe(ends) != 0) return out;
  const pid_t child = fork();
  if (child == 0) {
    const auto figures = measure(load, scale, reasons, detail);
    if (!figures.ok()) std::cerr << base::format("{}: {}\n", load.name, figures.error().message);
    const bool written = figures.ok() && write(ends[1], &*figures, sizeof(Figures)) == sizeof(Figures);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], &out, sizeof out) != sizeof out) out = {};
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return out;
}

double value_of(const bench::Load& load, const Figures& figures) {
  switch (load.goal_of) {
    case bench::Load::Goal::kLoad: return figures.load_cpu_s;
    case bench::Load::Goal::kMemory: return static_cast<double>(figures.rest_bytes) / (1 << 20);
    default: return figures.decide_cpu_s;
  }
}

void print_header() {
  std::cout << base::format(
      "{:<14}{:>5} {:>9} {:>7} {:>8} {:>9} {:>9} {:>10} {:>7} {:>7} {:>7} {:>6} {:>10} {:>5}/{}\n", "load", "size",
      "figure", "goal", "load s", "wall s", "CPU s", "no reasons", "binds", "evicted", "waiting", "cycles", "looked at",
      "rest", "peak MB");
}

// The figure that has a goal, or nothing when the load cannot be run or its answer is wrong.
std::optional<double> print(const bench::Load& load, double scale, bool detail) {
  const Figures figures = run_apart(load, scale, true, detail), silent = run_apart(load, scale, false, false);
  if (!figures.ran || !silent.ran) {
    std::cout << base::format("{:<14}{:>5} cannot run\n", load.name, scale);
    return std::nullopt;
  }
  const double value = value_of(load, figures);
  std::cout << base::format(
                   "{:<14}{:>5} {:>9.4f} {:>7} {:>8.3f} {:>9.4f} {:>9.4f} {:>10.4f} {:>7} {:>7} {:>7} {:>6} {:>10} "
                   "{:>5}/{}{}\n",
                   load.name, scale, value, scale == 1 ? base::format("{}", load.goal) : "", figures.load_cpu_s,
                   figures.decide_wall_s, figures.decide_cpu_s, silent.decide_cpu_s, figures.binds, figures.evictions,
                   figures.waiting, figures.cycles, figures.nodes_looked_at, figures.rest_bytes >> 20,
                   figures.peak_bytes >> 20, figures.problems == 0 ? "" : "  NOT ALLOWED")
            << std::flush;
  return figures.problems == 0 ? std::optional(value) : std::nullopt;
}

int run_churn(int jobs) {
  for (const bool near_each_other : {false, true}) {
    const base::Result<double> left = bench::bytes_left_by_a_job(jobs, near_each_other);
    if (!left.ok()) {
      std::cerr << base::format("churn: {}\n", left.error().message);
      return 1;
    }
    std::cout << base::format("{:<14}      {:.0f} bytes a job stay in memory after {} jobs of two pods{}\n", "churn",
                              *left, jobs, near_each_other ? " that wish to be near each other" : "")
              << std::flush;
  }
  return 0;
}

int run_restart(bool protobuf, double scale) {
  const auto scaled = [&](double whole) { return static_cast<int>(whole * scale); };
  const auto restart = bench::measure_restart({scaled(5'000), scaled(87'000), scaled(150'000)}, protobuf);
  if (!restart.ok()) {
    std::cerr << base::format("restart: {}\n", restart.error().message);
    return 1;
  }
  std::cout << base::format(
                   "{:<14} {:.2f} CPU s from {} to the first bind (goal 2), {:.2f} until all statuses are written; {} "
                   "MB then (goal 150)\n",
                   "restart", restart->decided_s, protobuf ? "protobuf" : "JSON", restart->settled_s,
                   restart->rest_bytes >> 20)
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
  if (mode == "churn") return run_churn(arguments.size() > 1 ? std::atoi(arguments[1].c_str()) : 200'000);
  if (mode == "restart") {
    const bool json = arguments.size() > 1 && arguments[1] == "json";
    const std::string scale = arguments.size() > 1U + json ? arguments[1U + json] : "1";
    return run_restart(!json, std::atof(scale.c_str()));
  }
  const std::string name = arguments.size() > 1 ? arguments[1] : "";
  const double scale = arguments.size() > 2 ? std::atof(arguments[2].c_str()) : 1;
  int failed = 0;
  if (mode != "gen") print_header();
  std::vector<bench::Load> loads = bench::loads_of_goals();
  loads.insert(loads.end(), bench::loads_of_plugins().begin(), bench::loads_of_plugins().end());
  for (const bench::Load& load : loads) {
    if (!name.empty() && name != load.name) continue;
    if (mode == "gen") {
      bench::Sink sink([](int, const std::string& lines) { std::cout << lines; });
      load.objects(scale, sink);
      continue;
    }
    const std::optional<double> tenth = mode.empty() ? print(load, 0.1, false) : std::nullopt;
    const std::optional<double> whole = print(load, scale, !mode.empty());
    if (!whole || (mode.empty() && !tenth)) ++failed;
    if (whole && tenth)
      std::cout << base::format("{:<14}      x {:.1f}   {}\n", "", *whole / *tenth, load.meaning) << std::flush;
  }
  return failed == 0 ? 0 : 1;
}
