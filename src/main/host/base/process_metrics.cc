// The figures of this process in /proc (proc(5)), and since when it is there.
#include "main/host/base/process_metrics.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include "base/format.h"
#include "main/host/base/resource_use.h"

namespace volcano_main {
namespace {

const std::vector<base::MetricRow> kRows = {
    base::MetricRow{"process_cpu_seconds_total", base::MetricType::kCounter, {}, "CPU time of the process in seconds."},
    base::MetricRow{"process_max_fds", base::MetricType::kGauge, {}, "File descriptors that it may have open."},
    base::MetricRow{"process_open_fds", base::MetricType::kGauge, {}, "File descriptors that it has open."},
    base::MetricRow{"process_resident_memory_bytes", base::MetricType::kGauge, {}, "Memory that it holds."},
    base::MetricRow{"process_start_time_seconds", base::MetricType::kGauge, {}, "When it began, in Unix time."},
    base::MetricRow{"process_virtual_memory_bytes", base::MetricType::kGauge, {}, "Address space that it holds."},
};

double seconds_of(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double open_files() {
  std::error_code failed;
  const std::filesystem::directory_iterator files("/proc/self/fd", failed);
  return failed ? 0 : static_cast<double>(std::distance(begin(files), end(files)));
}

double open_files_max() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

double virtual_bytes() {
  std::ifstream statm("/proc/self/statm");
  double pages = 0;
  statm >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Field 22 of stat: ticks between the start of the machine and that of the process. The name before it may hold
// anything.
double start_time() {
  std::ifstream file("/proc/self/stat");
  const std::string stat(std::istreambuf_iterator<char>(file), {});
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::size_t at = name_end + 1;
  for (int field = 2; field < 21 && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  const double ticks = std::strtod(stat.c_str() + at, nullptr);
  const double booted = seconds_of(CLOCK_REALTIME) - seconds_of(CLOCK_BOOTTIME);
  return booted + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::span<const base::MetricRow> process_metric_rows() { return kRows; }

std::string process_metrics() {
  static const double kStart = start_time();  // read once: a start that moves by microseconds looks like a restart
  const double values[] = {seconds_of(CLOCK_PROCESS_CPUTIME_ID),  open_files_max(), open_files(),
                           static_cast<double>(resident_bytes()), kStart,           virtual_bytes()};
  std::string out;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    const std::string_view type = kRows[i].type == base::MetricType::kCounter ? "counter" : "gauge";
    out += base::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", kRows[i].name, kRows[i].help, type, values[i]);
  }
  return out;
}

}  // namespace volcano_main
