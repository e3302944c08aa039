// Reading counters.
#include "node/os/usage_reader.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "api/json/json.h"
#include "base/format.h"
#include "base/split.h"
#include "node/os/proc.h"
#include "node/os/process_runtime.h"
#include "rt/tls/tls.h"

namespace node {

namespace {

std::int64_t number_in(std::string_view text) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(' ')));
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "KEY 123" or "KEY:   123 kB" in one of the lines; 0 without.
std::int64_t value_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : base::split(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && (line[key.size()] == ' ' || line[key.size()] == ':'))
      return number_in(line.substr(key.size() + 1));
  return 0;
}

// Memory without what was read from files and not used since: the kernel takes that away when it needs room.
void set_memory(api::Usage& out, std::int64_t used, std::int64_t inactive_file) {
  out.memory_bytes = used;
  out.working_set_bytes = std::max<std::int64_t>(0, used - inactive_file);
}

struct Process {
  pid_t parent = 0;
  api::Usage usage;
};

// Reads all processes of the machine, in one walk.
std::map<pid_t, Process> read_processes(std::int64_t ticks_a_second) {
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::map<pid_t, Process> found;
  for (const std::string& name : list_folder("/proc")) {
    const auto pid = static_cast<pid_t>(number_in(name));
    if (pid <= 0) continue;
    const std::string text = read_text("/proc/" + name + "/stat");
    const std::size_t close = text.rfind(')');
    if (close == std::string::npos) continue;
    // Fields are counted from the third, which follows the name in brackets.
    const std::vector<std::string_view> fields = base::split(std::string_view(text).substr(close + 2), ' ');
    if (fields.size() < 22) continue;
    Process& one = found[pid];
    one.parent = static_cast<pid_t>(number_in(fields[1]));
    // Its own, and those of children that it has buried.
    const std::int64_t ticks =
        number_in(fields[11]) + number_in(fields[12]) + number_in(fields[13]) + number_in(fields[14]);
    one.usage.cpu_nanoseconds = ticks * (1'000'000'000 / ticks_a_second);
    one.usage.page_faults = number_in(fields[7]);
    one.usage.major_page_faults = number_in(fields[9]);
    one.usage.rss_bytes = one.usage.memory_bytes = one.usage.working_set_bytes = number_in(fields[21]) * page;
  }
  return found;
}

// The use of a process and all below it.
api::Usage usage_of_tree(const std::map<pid_t, Process>& processes, pid_t root) {
  api::Usage sum;
  for (const auto& [pid, process] : processes) {
    pid_t at = pid;
    for (int steps = 0; at != root && at > 1 && steps < 1000; ++steps) {
      const auto found = processes.find(at);
      at = found == processes.end() ? 0 : found->second.parent;
    }
    if (at != root) continue;
    sum.cpu_nanoseconds += process.usage.cpu_nanoseconds;
    sum.memory_bytes += process.usage.memory_bytes;
    sum.working_set_bytes += process.usage.working_set_bytes;
    sum.rss_bytes += process.usage.rss_bytes;
    sum.page_faults += process.usage.page_faults;
    sum.major_page_faults += process.usage.major_page_faults;
  }
  return sum;
}

// The latest attempt's folder; empty without one.
std::string latest_attempt(const std::string& folder) {
  std::int64_t last = -1;
  for (const std::string& name : list_folder(folder)) last = std::max(last, number_in(name));
  return last < 0 ? std::string() : base::format("{}/{}", folder, last);
}

}  // namespace

bool read_group(const CgroupLayout& layout, const std::string& path, api::Usage& out) {
  if (layout.unified()) {
    const std::string folder = layout.v2 + path;
    const std::string cpu = read_text(folder + "/cpu.stat");
    if (cpu.empty()) return false;
    const std::string memory = read_text(folder + "/memory.stat");
    out.cpu_nanoseconds = value_of(cpu, "usage_usec") * 1000;
    set_memory(out, number_in(read_text(folder + "/memory.current")), value_of(memory, "inactive_file"));
    out.rss_bytes = value_of(memory, "anon");
    out.page_faults = value_of(memory, "pgfault");
    out.major_page_faults = value_of(memory, "pgmajfault");
    return true;
  }
  const auto cpu = layout.v1.find("cpuacct");
  const auto memory = layout.v1.find("memory");
  if (cpu == layout.v1.end() || memory == layout.v1.end()) return false;
  const std::string used = read_text(cpu->second + path + "/cpuacct.usage");
  if (used.empty()) return false;
  const std::string stat = read_text(memory->second + path + "/memory.stat");
  out.cpu_nanoseconds = number_in(used);
  set_memory(out, number_in(read_text(memory->second + path + "/memory.usage_in_bytes")),
             value_of(stat, "total_inactive_file"));
  out.rss_bytes = value_of(stat, "total_rss");
  out.page_faults = value_of(stat, "total_pgfault");
  out.major_page_faults = value_of(stat, "total_pgmajfault");
  return true;
}

api::Usage machine_usage(std::string_view stat, std::string_view meminfo, std::int64_t ticks_a_second) {
  api::Usage usage;
  // "cpu  user nice system idle iowait irq softirq steal": all but the two in which nothing ran here, and what was
  // stolen.
  const std::string_view line = stat.substr(0, stat.find('\n'));
  std::vector<std::int64_t> ticks;
  for (const std::string_view word : base::split(line, ' '))
    if (!word.empty() && word != "cpu") ticks.push_back(number_in(word));
  for (const std::size_t index : {0u, 1u, 2u, 5u, 6u})
    if (index < ticks.size()) usage.cpu_nanoseconds += ticks[index] * (1'000'000'000 / ticks_a_second);
  const auto bytes = [&](std::string_view key) { return value_of(meminfo, key) * 1024; };
  set_memory(usage, bytes("MemTotal") - bytes("MemFree"), bytes("Inactive(file)"));
  usage.rss_bytes = bytes("AnonPages");
  return usage;
}

UsageReader::UsageReader(const std::string& data_dir, std::string node_name)
    : folders_(data_dir),
      cgroups_(cgroup_layout(read_text("/proc/self/mountinfo"))),
      cgroup_("/volcano-" + rt::sha256_hex(data_dir).substr(0, 8)),
      node_name_(std::move(node_name)) {}

api::NodeUsage UsageReader::read() const {
  const std::int64_t ticks = std::max<std::int64_t>(1, ::sysconf(_SC_CLK_TCK));
  api::NodeUsage usage;
  usage.node = node_name_;
  const std::string stat = read_text("/proc/stat"), meminfo = read_text("/proc/meminfo");
  usage.machine = machine_usage(stat, meminfo, ticks);
  usage.memory_total_bytes = value_of(meminfo, "MemTotal") * 1024;
  usage.booted = base::Time{value_of(stat, "btime") * 1'000'000'000};
  std::optional<std::map<pid_t, Process>> processes;
  for (const std::string& uid : list_folder(folders_.pods())) {
    const auto pod = api::parse_json(read_text(folders_.pod(uid) + "/pod.json"));
    if (!pod.ok()) continue;
    api::PodUsage one{(*pod)["namespace"].str(), (*pod)["name"].str(), uid, {}};
    const std::string containers = folders_.pod(uid) + "/containers";
    for (const std::string& name : list_folder(containers)) {
      const std::string folder = latest_attempt(containers + "/" + name);
      const pid_t pid = folder.empty() ? 0 : described_process(read_text(folder + "/pid"));
      if (pid == 0) continue;
      api::ContainerUsage container{name, read_text(folder + "/id"), {}, {}};
      container.started = base::Time{number_in(read_text(folder + "/started"))};
      if (!read_group(cgroups_, cgroup_ + "/pod" + uid + "/" + container.id, container.usage)) {
        if (!processes) processes = read_processes(ticks);
        container.usage = usage_of_tree(*processes, pid);
      }
      one.containers.push_back(std::move(container));
    }
    if (!one.containers.empty()) usage.pods.push_back(std::move(one));
  }
  usage.at = wall_clock();
  return usage;
}

}  // namespace node
