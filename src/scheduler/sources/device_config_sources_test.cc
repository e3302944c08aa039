// Which ConfigMaps tell of devices, by the configuration?
#include "scheduler/sources/device_config_sources.h"

#include <gtest/gtest.h>

#include "scheduler/actions/all.h"
#include "scheduler/plugins/all.h"

namespace scheduler {
namespace {

std::string sources_of(const std::string& arguments, const std::string& further = "") {
  const std::string text = "actions: allocate\ntiers:\n- plugins: [{name: gang}, {name: deviceshare" +
                           (arguments.empty() ? "" : ", arguments: {" + arguments + "}") + "}]\n" + further;
  const auto config = parse_config(text, {all_plugins(), all_actions()});
  if (!config.ok()) return config.error().message;
  std::string out;
  for (const DeviceConfigSource& one : device_config_sources(*config))
    out += "[" + one.ns + " " + one.label_selector + " " + one.field_selector + "]";
  return out;
}

TEST(DeviceConfigSources, follow_the_arguments) {
  const std::string usual = "[kube-system  metadata.name=volcano-vgpu-device-config]";
  const std::string mindcluster = "deviceshare.AscendMindClusterVNPUEnable: true";
  EXPECT_EQ(sources_of(""), usual);
  EXPECT_EQ(sources_of("deviceshare.KnownGeometriesCMName: hami, deviceshare.KnownGeometriesCMNamespace: ai"),
            "[ai  metadata.name=hami]");
  EXPECT_EQ(sources_of(mindcluster), usual + "[mindx-dl mx-consumer-volcano=true ]");
  const auto with = [](const std::string& value) {
    return "configurations: [{name: init-params, arguments: {useClusterInfoManager: " + value + "}}]\n";
  };
  EXPECT_EQ(sources_of(mindcluster, with("true")), usual + "[mindx-dl mx-consumer-volcano=true ]");
  EXPECT_EQ(sources_of(mindcluster, with("\"false\"")), usual + "[kube-system  ][mindx-dl  ]");
  EXPECT_EQ(sources_of("deviceshare.AscendMindClusterVNPUEnable: false", with("false")), usual);
}

}  // namespace
}  // namespace scheduler
