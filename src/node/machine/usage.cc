// Means over a window, and how a kubelet words them.
#include "node/machine/usage.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/format.h"

namespace node {

using api::ContainerUsage;
using api::Json;
using api::NodeUsage;
using api::PodUsage;
using api::Usage;

namespace {

std::int64_t mean(const Usage& before, const Usage& now, base::Duration window) {
  if (window.ns <= 0 || now.cpu_nanoseconds < before.cpu_nanoseconds) return -1;
  const double used = static_cast<double>(now.cpu_nanoseconds - before.cpu_nanoseconds);
  return static_cast<std::int64_t>(used / static_cast<double>(window.ns) * 1e9);
}

// A pod's own numbers are those of its containers together; the rate is not known while no container's is.
Usage sum_of(const PodUsage& pod) {
  Usage sum;
  sum.cpu_nanocores = -1;
  for (const ContainerUsage& container : pod.containers) {
    const Usage& one = container.usage;
    sum.cpu_nanoseconds += one.cpu_nanoseconds;
    if (one.cpu_nanocores >= 0) sum.cpu_nanocores = std::max<std::int64_t>(sum.cpu_nanocores, 0) + one.cpu_nanocores;
    sum.memory_bytes += one.memory_bytes;
    sum.working_set_bytes += one.working_set_bytes;
    sum.rss_bytes += one.rss_bytes;
    sum.page_faults += one.page_faults;
    sum.major_page_faults += one.major_page_faults;
  }
  return sum;
}

Json cpu_json(const Usage& usage, base::Time at) {
  Json json = Json::object({{"time", base::format_rfc3339(at)}});
  if (usage.cpu_nanocores >= 0) json.set("usageNanoCores", usage.cpu_nanocores);
  json.set("usageCoreNanoSeconds", usage.cpu_nanoseconds);
  return json;
}

Json memory_json(const Usage& usage, base::Time at) {
  return Json::object({{"time", base::format_rfc3339(at)},
                       {"usageBytes", usage.memory_bytes},
                       {"workingSetBytes", usage.working_set_bytes},
                       {"rssBytes", usage.rss_bytes},
                       {"pageFaults", usage.page_faults},
                       {"majorPageFaults", usage.major_page_faults}});
}

base::Time started_of(const PodUsage& pod) {
  base::Time first;
  for (const ContainerUsage& container : pod.containers)
    if (!first.is_set() || container.started < first) first = container.started;
  return first;
}

// A page of metrics in the text form of Prometheus.
class Metrics {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += base::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void add(const std::string& labels, double value, base::Time at) {
    text_ += base::format("{}{}{}{} {} {}\n", name_, labels.empty() ? "" : "{", labels, labels.empty() ? "" : "}",
                          value, at.ns / 1'000'000);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string_view name_;
  std::string text_;
};

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

// Names of pods, namespaces and containers hold nothing that would have to be quoted.
std::string pod_labels(const PodUsage& pod) { return base::format("namespace=\"{}\",pod=\"{}\"", pod.ns, pod.name); }
std::string container_labels(const PodUsage& pod, const ContainerUsage& container) {
  return base::format("container=\"{}\",{}", container.name, pod_labels(pod));
}
std::string cadvisor_labels(const PodUsage& pod, const ContainerUsage& container) {
  return base::format("container=\"{}\",id=\"/pod{}/{}\",image=\"\",name=\"{}\",{}", container.name, pod.uid,
                      container.id, container.id, pod_labels(pod));
}
constexpr const char* kMachine = R"(container="",id="/",image="",name="",namespace="",pod="")";

}  // namespace

NodeUsage usage_since(const NodeUsage& before, NodeUsage now) {
  now.window = now.at - before.at;
  std::map<std::string_view, const Usage*> known;
  for (const PodUsage& pod : before.pods)
    for (const ContainerUsage& container : pod.containers) known[container.id] = &container.usage;
  now.machine.cpu_nanocores = mean(before.machine, now.machine, now.window);
  for (PodUsage& pod : now.pods)
    for (ContainerUsage& container : pod.containers)
      if (const auto found = known.find(container.id); found != known.end())
        container.usage.cpu_nanocores = mean(*found->second, container.usage, now.window);
  return now;
}

Json stats_summary(const NodeUsage& usage) {
  Json memory = memory_json(usage.machine, usage.at);
  memory.set("availableBytes", std::max<std::int64_t>(0, usage.memory_total_bytes - usage.machine.working_set_bytes));
  Json pods = Json::array();
  for (const PodUsage& pod : usage.pods) {
    if (pod.containers.empty()) continue;
    Json containers = Json::array();
    for (const ContainerUsage& one : pod.containers)
      containers.push_back(Json::object({{"name", one.name},
                                         {"startTime", base::format_rfc3339(one.started)},
                                         {"cpu", cpu_json(one.usage, usage.at)},
                                         {"memory", memory_json(one.usage, usage.at)}}));
    const Usage sum = sum_of(pod);
    pods.push_back(
        Json::object({{"podRef", Json::object({{"name", pod.name}, {"namespace", pod.ns}, {"uid", pod.uid}})},
                      {"startTime", base::format_rfc3339(started_of(pod))},
                      {"containers", containers},
                      {"cpu", cpu_json(sum, usage.at)},
                      {"memory", memory_json(sum, usage.at)}}));
  }
  return Json::object({{"node", Json::object({{"nodeName", usage.node},
                                              {"startTime", base::format_rfc3339(usage.booted)},
                                              {"cpu", cpu_json(usage.machine, usage.at)},
                                              {"memory", memory}})},
                       {"pods", pods}});
}

std::string resource_metrics(const NodeUsage& usage) {
  Metrics text;
  const auto of_containers = [&](auto value) {
    for (const PodUsage& pod : usage.pods)
      for (const ContainerUsage& one : pod.containers) text.add(container_labels(pod, one), value(one), usage.at);
  };
  const auto of_pods = [&](auto value) {
    for (const PodUsage& pod : usage.pods)
      if (!pod.containers.empty()) text.add(pod_labels(pod), value(sum_of(pod)), usage.at);
  };
  const auto cpu = [](const Usage& of) { return seconds(of.cpu_nanoseconds); };
  const auto memory = [](const Usage& of) { return static_cast<double>(of.working_set_bytes); };
  text.begin("container_cpu_usage_seconds_total", "counter",
             "Cumulative cpu time consumed by the container in core-seconds");
  of_containers([&](const ContainerUsage& one) { return cpu(one.usage); });
  text.begin("container_memory_working_set_bytes", "gauge", "Current working set of the container in bytes");
  of_containers([&](const ContainerUsage& one) { return memory(one.usage); });
  text.begin("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds");
  of_containers([&](const ContainerUsage& one) { return seconds(one.started.ns); });
  text.begin("node_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the node in core-seconds");
  text.add("", cpu(usage.machine), usage.at);
  text.begin("node_memory_working_set_bytes", "gauge", "Current working set of the node in bytes");
  text.add("", memory(usage.machine), usage.at);
  text.begin("pod_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed by the pod in core-seconds");
  of_pods(cpu);
  text.begin("pod_memory_working_set_bytes", "gauge", "Current working set of the pod in bytes");
  of_pods(memory);
  text.begin("resource_scrape_error", "gauge", "1 if there was an error while getting container metrics, 0 otherwise");
  text.add("", 0, usage.at);
  return text.take();
}

std::string container_metrics(const NodeUsage& usage) {
  struct Row {
    const char* name;
    const char* type;
    const char* help;
    double (*value)(const Usage&);
  };
  static constexpr Row kRows[] = {
      {"container_cpu_usage_seconds_total", "counter", "Cumulative cpu time consumed in seconds.",
       [](const Usage& of) { return seconds(of.cpu_nanoseconds); }},
      {"container_memory_rss", "gauge", "Size of RSS in bytes.",
       [](const Usage& of) { return static_cast<double>(of.rss_bytes); }},
      {"container_memory_usage_bytes", "gauge", "Current memory usage in bytes.",
       [](const Usage& of) { return static_cast<double>(of.memory_bytes); }},
      {"container_memory_working_set_bytes", "gauge", "Current working set in bytes.",
       [](const Usage& of) { return static_cast<double>(of.working_set_bytes); }},
  };
  Metrics text;
  for (const Row& row : kRows) {
    text.begin(row.name, row.type, row.help);
    text.add(kMachine, row.value(usage.machine), usage.at);
    for (const PodUsage& pod : usage.pods)
      for (const ContainerUsage& one : pod.containers)
        text.add(cadvisor_labels(pod, one), row.value(one.usage), usage.at);
  }
  text.begin("container_start_time_seconds", "gauge", "Start time of the container since unix epoch in seconds.");
  for (const PodUsage& pod : usage.pods)
    for (const ContainerUsage& one : pod.containers)
      text.add(cadvisor_labels(pod, one), seconds(one.started.ns), usage.at);
  text.begin("machine_memory_bytes", "gauge", "Amount of memory installed on the machine.");
  text.add("", static_cast<double>(usage.memory_total_bytes), usage.at);
  return text.take();
}

}  // namespace node
