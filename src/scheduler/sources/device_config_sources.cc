// Which ConfigMaps tell of devices, by the configuration?
#include "scheduler/sources/device_config_sources.h"

#include "scheduler/framework/arguments.h"
#include "scheduler/plugins/devices/mindcluster_reports.h"

namespace scheduler {

std::vector<DeviceConfigSource> device_config_sources(const Config& config) {
  std::vector<DeviceConfigSource> out;
  for (const auto& tier : config.tiers) {
    for (const PluginEntry& entry : tier) {
      if (entry.name != "deviceshare") continue;
      const Arguments arguments(entry.arguments, entry.name);
      out.push_back({.ns = arguments.get_string("deviceshare.KnownGeometriesCMNamespace", "kube-system"),
                     .field_selector = "metadata.name=" + arguments.get_string("deviceshare.KnownGeometriesCMName",
                                                                               "volcano-vgpu-device-config")});
      if (!arguments.get_bool("deviceshare.AscendMindClusterVNPUEnable", false)) continue;
      if (reads_gathered_reports(config.arguments_of("init-params"))) {
        out.push_back({.ns = "mindx-dl", .label_selector = "mx-consumer-volcano=true"});
      } else {
        out.push_back({.ns = "kube-system"});  // of the device plugins
        out.push_back({.ns = "mindx-dl"});     // of NodeD
      }
    }
  }
  return out;
}

}  // namespace scheduler
