// The rows.
#include "colocation/metrics.h"

namespace colocation {

std::span<const base::MetricRow> metric_rows() {
  static const base::MetricRow kRows[] = {
      {"volcano_agent_oversubscription_resource_quantity",
       base::MetricType::kGauge,
       {"node", "resource"},
       "Idle amounts that the node offers to offline pods: cpu in thousandths of a processor, memory in bytes."},
      {"volcano_agent_group_writes_total",
       base::MetricType::kCounter,
       {"feature", "result"},
       "Writes into control groups of pods and, of NetworkQoS, of packet rules, by feature; result is ok or error."},
      {"volcano_agent_evictions_total",
       base::MetricType::kCounter,
       {"resource", "result"},
       "Offline pods that were told to go, by the resource under pressure (off: oversubscription was switched off); "
       "result is ok or error."},
      {"volcano_agent_stalls_total",
       base::MetricType::kCounter,
       {"resource"},
       "Times at which the kernel said that tasks stood still for 150 ms of a second."},
      {"volcano_agent_network_online_bytes_per_second",
       base::MetricType::kGauge,
       {},
       "What online pods sent lately; it is looked at while there are offline pods to hold back (NetworkQoS)."},
      {"volcano_agent_network_offline_limit_bytes_per_second",
       base::MetricType::kGauge,
       {},
       "The rate that all offline pods together are held to; 0: none is in force."},
      {"volcano_agent_network_dropped_bytes_total",
       base::MetricType::kCounter,
       {},
       "What offline pods sent above the rate, and the packet rules dropped."},
      {"volcano_agent_config_applied",
       base::MetricType::kGauge,
       {},
       "Whether the latest configuration is in force (1), or was refused (0)."},
  };
  return kRows;
}

}  // namespace colocation
