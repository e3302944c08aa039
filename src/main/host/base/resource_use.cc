// How much time and memory did this process use?
#include "main/host/base/resource_use.h"

#include <sys/resource.h>
#include <unistd.h>

#include <ctime>
#include <fstream>

namespace volcano_main {
namespace {

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

scheduler::Stopwatch stopwatch() {
  return [] { return std::pair{seconds_of(CLOCK_MONOTONIC), seconds_of(CLOCK_PROCESS_CPUTIME_ID)}; };
}

std::int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  statm >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

api::Json stats_json(const scheduler::OneShotStats& stats, std::int64_t rest_bytes) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::vector<api::Json> phases;
  for (const auto& phase : stats.phases) {
    std::vector<api::Json> cycles;
    for (const auto& cycle : phase.cycles) {
      api::Json actions = api::Json::object();
      for (const auto& action : cycle.actions) {
        actions.set(action.action, api::Json::object({{"wall_s", action.wall_s}, {"cpu_s", action.cpu_s}}));
      }
      cycles.push_back(api::Json::object({{"wall_s", cycle.wall_s}, {"cpu_s", cycle.cpu_s}, {"actions", actions}}));
    }
    phases.push_back(api::Json::object({{"wall_s", phase.wall_s},
                                        {"cpu_s", phase.cpu_s},
                                        {"binds", static_cast<std::int64_t>(phase.binds)},
                                        {"evictions", static_cast<std::int64_t>(phase.evictions)},
                                        {"nodes_looked_at", static_cast<std::int64_t>(phase.nodes_looked_at)},
                                        {"cycles", api::Json::array(std::move(cycles))}}));
  }
  return api::Json::object({{"load", api::Json::object({{"wall_s", stats.load_wall_s}, {"cpu_s", stats.load_cpu_s}})},
                            {"rest_rss_bytes", rest_bytes},
                            {"peak_rss_bytes", std::int64_t{usage.ru_maxrss} * 1024},
                            {"phases", api::Json::array(std::move(phases))}});
}

}  // namespace volcano_main
