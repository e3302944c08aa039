// The reports of nodes with Ascend 310P chips in ConfigMaps.
#include "scheduler/plugins/devices/mindcluster_reports.h"

#include "scheduler/model/pods/shape.h"
#include "scheduler/plugins/devices/device_family.h"

namespace scheduler {
namespace {

using api::Json;
using ByNode = std::map<std::string, ChipReport, std::less<>>;

constexpr std::string_view kDevicePrefix = "mindx-dl-deviceinfo-";
constexpr std::string_view kSwitchPrefix = "mindx-dl-switchinfo-";
constexpr std::string_view kNodePrefix = "mindx-dl-nodeinfo-";
constexpr std::string_view kChips = "huawei.com/Ascend310P";
constexpr std::string_view kUnhealthyChips = "huawei.com/Ascend310P-Unhealthy";
constexpr std::string_view kChipPrefix = "Ascend310P-";
constexpr std::size_t kChipsMax = 256;
constexpr std::string_view kNamespace = "mindx-dl";  // of NodeD and ClusterD

Json parsed(const Json& text) {
  auto json = api::parse_json(text.as_string());
  return json.ok() ? std::move(*json) : Json();
}

// "Ascend310P-0,Ascend310P-3"; other names are devices that somebody cut beforehand.
std::set<std::int64_t> chips_in(const Json& list) {
  std::set<std::int64_t> out;
  for (const std::string_view name : split_text(list.as_string(), ',')) {
    if (!name.starts_with(kChipPrefix) || out.size() >= kChipsMax) continue;
    if (const auto id = amount_in(name.substr(kChipPrefix.size()))) out.insert(*id);
  }
  return out;
}

void read_devices(const Json& list, ChipReport& report) {
  if (!list.has(kChips)) return;
  report.has_chips = true;
  report.healthy = chips_in(list[kChips]);
  report.unhealthy = chips_in(list[kUnhealthyChips]);
}

void read_status(const Json& status, ChipReport& report) {
  const std::string_view text = status.as_string();
  report.separated |= text == "PreSeparate" || text == "UnHealthy";
}

// One node's own ConfigMap.
void read_own(std::string_view name, const Json& data, ByNode& out) {
  if (name.starts_with(kDevicePrefix)) {
    ChipReport& report = out[std::string(name.substr(kDevicePrefix.size()))];
    read_devices(parsed(data["DeviceInfoCfg"])["DeviceInfo"]["DeviceList"], report);
    read_status(parsed(data["SwitchInfoCfg"])["NodeStatus"], report);
  } else if (name.starts_with(kNodePrefix)) {
    read_status(parsed(data["NodeInfo"])["NodeInfo"]["NodeStatus"], out[std::string(name.substr(kNodePrefix.size()))]);
  }
}

// A ConfigMap over many nodes: under its own name a map from the names that the nodes' own ones have.
void read_gathered(std::string_view name, const Json& data, ByNode& out) {
  const Json all = parsed(data[name]);
  for (const auto& member : all.members()) {
    for (const std::string_view prefix : {kDevicePrefix, kSwitchPrefix, kNodePrefix}) {
      if (!member.name().starts_with(prefix)) continue;
      ChipReport& report = out[std::string(member.name().substr(prefix.size()))];
      read_devices(member.value["DeviceList"], report);
      read_status(member.value["NodeStatus"], report);
    }
  }
}

void merge(const ChipReport& from, ChipReport& into) {
  into.separated |= from.separated;
  if (!from.has_chips) return;
  into.has_chips = true;
  into.healthy = from.healthy;
  into.unhealthy = from.unhealthy;
}

}  // namespace

bool reads_gathered_reports(const Json& init_params) {
  const Json& setting = init_params["useClusterInfoManager"];
  return setting.as_bool(setting.as_string().empty() || parse_go_bool(setting.as_string()));
}

// By their namespaces and names, which others may not write: the reports that count.
ByNode ChipReports::read(std::string_view key, const Json& data) const {
  ByNode out;
  const std::size_t slash = std::min(key.find('/'), key.size());
  const std::string_view ns = key.substr(0, slash), name = key.substr(std::min(slash + 1, key.size()));
  const bool gathered = name.starts_with("cluster-info-");
  if (ns != kNamespace && (gathered || ns != "kube-system")) return out;
  if (cluster_wide_ && gathered) read_gathered(name, data, out);
  if (!cluster_wide_ && !gathered) read_own(name, data, out);
  return out;
}

void ChipReports::refresh(const DeviceAnnotations& facts) {
  if (facts.configs.version() == read_at_) return;
  read_at_ = facts.configs.version();
  std::set<std::string> touched;
  const auto forget = [&](const std::string& key, const Source& source) {
    for (const auto& [node, report] : source.reports) {
      touched.insert(node);
      sources_of_[node].erase(key);
    }
  };
  for (auto source = sources_.begin(); source != sources_.end();) {
    if (facts.configs.all().contains(source->first)) {
      ++source;
    } else {
      forget(source->first, source->second);
      source = sources_.erase(source);
    }
  }
  for (const auto& [key, config] : facts.configs.all()) {
    Source& source = sources_[key];
    if (source.version == config.version) continue;
    forget(key, source);
    source = {config.version, read(key, config.data)};
    for (const auto& [node, report] : source.reports) {
      touched.insert(node);
      sources_of_[node].insert(key);
    }
  }
  for (const std::string& node : touched) merge_again(node);
}

void ChipReports::merge_again(const std::string& node) {
  all_.erase(node);
  const auto sources = sources_of_.find(node);
  for (const std::string& key : sources->second) merge(sources_[key].reports[node], all_[node]);
  if (sources->second.empty()) sources_of_.erase(sources);
}

const ChipReport* ChipReports::find(std::string_view node) const {
  auto found = all_.find(node);
  return found == all_.end() ? nullptr : &found->second;
}

}  // namespace scheduler
