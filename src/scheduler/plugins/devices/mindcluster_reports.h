// The reports of nodes with Ascend 310P chips in ConfigMaps.
//
// Ascend's device plugin writes one ConfigMap a node, kube-system/mindx-dl-deviceinfo-<node>; ClusterD gathers them in
// cluster-info-device-<n>. NodeD writes mindx-dl-nodeinfo-<node>, gathered in cluster-info-node-cm. Formats:
// MindCluster documentation, "cluster scheduling", interfaces of the Ascend Device Plugin, NodeD and ClusterD.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/model/devices/device_annotations.h"

namespace scheduler {

struct ChipReport {
  bool has_chips = false;  // the node reports chips, be it none
  std::set<std::int64_t> healthy, unhealthy;
  bool separated = false;  // a fault keeps further pods away from the node
};

// The answer of the arguments `init-params`: whether ClusterD gathers the reports. It does unless they say otherwise.
bool reads_gathered_reports(const api::Json& init_params);

class ChipReports {
 public:
  // `cluster_wide`: what ClusterD gathered counts, else what the nodes themselves write.
  explicit ChipReports(bool cluster_wide) : cluster_wide_(cluster_wide) {}

  // Reads what has changed since the last call.
  void refresh(const DeviceAnnotations& facts);
  // Null when nothing is reported of the node.
  const ChipReport* find(std::string_view node) const;

 private:
  using ByNode = std::map<std::string, ChipReport, std::less<>>;
  ByNode read(std::string_view key, const api::Json& data) const;
  void merge_again(const std::string& node);
  struct Source {
    std::uint64_t version = 0;
    ByNode reports;
  };

  const bool cluster_wide_;
  std::uint64_t read_at_ = 0;
  std::map<std::string, Source, std::less<>> sources_;                    // by the ConfigMap's key
  std::map<std::string, std::set<std::string>, std::less<>> sources_of_;  // keys of sources_, by node
  ByNode all_;
};

}  // namespace scheduler
