// Devices without a machine: what is read of strangers' files, who gets what, what is told of cards.
#include <gtest/gtest.h>

#include <future>

#include "api/json/yaml.h"
#include "base/await_for_tests.h"
#include "base/format.h"
#include "node/devices/cdi.h"
#include "node/devices/device_pools.h"
#include "node/devices/driver_files.h"
#include "node/devices/gpu_labels.h"
#include "node/devices/gpu_shares.h"
#include "node/devices/gpu_watch.h"
#include "node/os/runc/device_nodes.h"

namespace node {
namespace {

using api::Json;

Json yaml(std::string_view text) { return *api::parse_yaml(text); }

GpuReport two_cards() {
  GpuReport report{.driver = "550.54.15", .cuda_version = 12040};
  report.gpus = {
      {.index = 0, .uuid = "GPU-a", .name = "NVIDIA H100 80GB HBM3", .memory_mib = 81559, .compute_major = 9},
      {.index = 1,
       .uuid = "GPU-b",
       .name = "NVIDIA H100 80GB HBM3",
       .minor = 1,
       .memory_mib = 81559,
       .compute_major = 9}};
  return report;
}

TEST(GpuReports, survive_the_way_between_processes) {
  GpuReport report = two_cards();
  report.gpus[1].mig = report.gpus[1].mig_capable = true;
  report.gpus[1].ill = "Xid 79";
  report.gpus[1].instances = {{"MIG-c", "1g.10gb", 9728, 7, 0}};
  const auto read = parse_gpu_report(gpu_report_text(report));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, report);
}

TEST(GpuReports, that_make_no_sense_are_refused) {
  const struct {
    const char* line;
    const char* why;
  } rows[] = {
      {"", "the report on GPUs is malformed"},
      {"[]", "the report on GPUs is malformed"},
      {R"({"trouble": "Driver Not Loaded"})", "Driver Not Loaded"},
      {R"({"gpus": [{"uuid": "../../etc"}, {"uuid": "../../etc"}]})", "the driver names two GPUs \"../../etc\""},
      {R"({"gpus": [{"uuid": "GPU a"}]})", "the driver names a GPU \"GPU a\""},
      {R"({"gpus": [{"uuid": "a", "instances": [{"uuid": "MIG-1", "profile": "1g/x"}]}]})",
       "the driver names a MIG device \"MIG-1\" of profile \"1g/x\""},
  };
  for (const auto& row : rows) {
    const auto read = parse_gpu_report(row.line);
    ASSERT_FALSE(read.ok()) << row.line;
    EXPECT_EQ(read.error().message, row.why);
  }
  const auto wide = parse_gpu_report(R"({"gpus": [{"uuid": "a", "minor": -4, "memory": 1e30, "name": "x\u0001y"}]})");
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->gpus[0].minor, 0);
  EXPECT_EQ(wide->gpus[0].name, "x?y");
}

base::Result<GpuReport> first_reported(std::vector<std::string> command) {
  std::promise<base::Result<GpuReport>> reported;
  std::atomic<bool> notified = false;
  auto future = reported.get_future();
  GpuWatch watch(
      std::move(command),
      [&](base::Result<GpuReport> report) {
        if (!notified.exchange(true)) reported.set_value(std::move(report));
      },
      300);
  return base::await(std::move(future));
}

TEST(GpuWatches, do_not_wait_for_a_driver_that_hangs) {
  const auto silent = first_reported({"/bin/sh", "-c", "sleep 600"});
  ASSERT_FALSE(silent.ok());
  EXPECT_EQ(silent.error().message, "the NVIDIA driver has not answered for 300 ms");
  const auto dead = first_reported({"/bin/sh", "-c", "kill -SEGV $$"});
  ASSERT_FALSE(dead.ok());
  EXPECT_EQ(dead.error().message, "the process that asks the NVIDIA driver has ended");
  EXPECT_FALSE(first_reported({"/bin/sh", "-c", "head -c 9000000 /dev/zero"}).ok());
  EXPECT_FALSE(first_reported({"/no/such/program"}).ok());
  EXPECT_TRUE(first_reported({"/bin/sh", "-c", "echo '{\"gpus\": []}'; sleep 600"}).ok());
}

TEST(GpuLabels, are_those_of_gpu_feature_discovery) {
  const auto labels = gpu_labels(two_cards());
  EXPECT_EQ(labels.at("nvidia.com/gpu.product"), "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(labels.at("nvidia.com/gpu.memory"), "81559");
  EXPECT_EQ(labels.at("nvidia.com/gpu.family"), "hopper");
  EXPECT_EQ(labels.at("nvidia.com/gpu.count"), "2");
  EXPECT_EQ(labels.at("nvidia.com/cuda.driver.rev"), "15");
  EXPECT_EQ(labels.at("nvidia.com/cuda.runtime.minor"), "4");
  for (const auto& [key, value] : labels) EXPECT_TRUE(is_gpu_label(key)) << key;
  EXPECT_FALSE(is_gpu_label("nvidia.com/gpu.deploy.driver"));
  EXPECT_TRUE(gpu_labels({}).empty());
}

TEST(MigMinors, are_found_by_the_names_of_instances) {
  constexpr std::string_view kText =
      "config 1\nmonitor 2\ngpu0/gi7/access 66\ngpu0/gi7/ci0/access 67\ngpu1/gi7/access x\n";
  EXPECT_EQ(mig_minor(kText, 0, 7, -1), 66);
  EXPECT_EQ(mig_minor(kText, 0, 7, 0), 67);
  EXPECT_EQ(mig_minor(kText, 0, 8, -1), -1);
  EXPECT_EQ(mig_minor(kText, 1, 7, -1), -1);
}

std::string chosen(const DevicePools& pools, std::string_view pod) {
  const auto devices = pools.choose(yaml(pod));
  if (!devices.ok()) return devices.error().message;
  std::string text;
  for (const ContainerDevices& container : *devices)
    for (const auto& [resource, ids] : container.ids) {
      text += container.container + ":";
      for (const std::string& id : ids) text += " " + id;
      text += ";";
    }
  return text;
}

TEST(DevicePools, give_each_device_to_one_container) {
  DevicePools pools;
  pools.set("x/gpu", {{"a"}, {"b", false}, {"c"}, {"d"}});
  EXPECT_EQ(pools.amounts().at("x/gpu").capacity, 4);
  EXPECT_EQ(pools.amounts().at("x/gpu").allocatable, 3);
  const char* two = "{spec: {containers: [{name: m, resources: {limits: {x/gpu: 2, cpu: 1}}}]}}";
  EXPECT_EQ(chosen(pools, two), "m: a c;");
  pools.hold("uid", {{"m", {{"x/gpu", {"c"}}}}});
  EXPECT_EQ(chosen(pools, two), "m: a d;");
  pools.hold("other", {{"m", {{"x/gpu", {"a"}}}}});
  EXPECT_EQ(
      chosen(pools, two),
      "Allocate failed due to requested number of devices unavailable for x/gpu. Requested: 2, Available: 1, which "
      "is unexpected");
  pools.hold("uid", {{"init", {{"x/gpu", {"c"}}}}, {"m", {{"x/gpu", {"c"}}}}});
  EXPECT_EQ(pools.held_count(), 2);
  pools.release("uid");
  EXPECT_EQ(pools.held_count(), 1);
  EXPECT_EQ(chosen(pools, two), "m: c d;");
  EXPECT_FALSE(pools.asks(yaml("{spec: {containers: [{name: m, resources: {limits: {y/gpu: 2}}}]}}")));
}

TEST(DevicePools, use_those_of_init_containers_again) {
  DevicePools pools;
  pools.set("x/gpu", {{"a"}, {"b"}, {"c"}});
  EXPECT_EQ(chosen(pools,
                   "{spec: {initContainers: [{name: i, resources: {limits: {x/gpu: 2}}},"
                   "{name: s, restartPolicy: Always, resources: {limits: {x/gpu: 1}}}],"
                   "containers: [{name: m, resources: {limits: {x/gpu: 2}}}]}}"),
            "i: a b;s: a;m: b c;");
  EXPECT_EQ(chosen(pools, "{spec: {containers: [{name: m, resources: {limits: {x/gpu: '9223372036854775807'}}}]}}"),
            "Allocate failed due to requested number of devices unavailable for x/gpu. Requested: 9223372036854775807, "
            "Available: 3, which is unexpected");
}

TEST(CdiSpecs, say_what_a_device_is) {
  CdiDevices devices;
  ASSERT_TRUE(devices
                  .read(R"({"cdiVersion": "0.6.0", "kind": "nvidia.com/gpu", "containerEdits": {"env": ["A=1", "B=2"]},
    "devices": [{"name": "0", "containerEdits": {"env": ["A=0"], "deviceNodes": [{"path": "/dev/nvidia0"}],
    "mounts": [{"hostPath": "/a", "containerPath": "/b", "options": ["ro", "bind"]}]}}]})",
                        1)
                  .ok());
  const DeviceGrant* grant = devices.find("nvidia.com/gpu=0");
  ASSERT_NE(grant, nullptr);
  EXPECT_EQ(grant->environment, (std::vector<std::pair<std::string, std::string>>{{"A", "0"}, {"B", "2"}}));
  EXPECT_EQ(grant->nodes, (std::vector<DeviceNode>{{"/dev/nvidia0", "/dev/nvidia0", "rwm"}}));
  EXPECT_EQ(grant->mounts, (std::vector<DeviceMount>{{"/a", "/b", true}}));
  EXPECT_EQ(grant_from(to_json(*grant)), *grant);
  EXPECT_EQ(devices.find("nvidia.com/gpu=1"), nullptr);
  const std::string again = "{cdiVersion: 0.6.0, kind: nvidia.com/gpu, devices: [{name: '0'}]}";
  ASSERT_TRUE(devices.read(again, 2).ok());
  EXPECT_TRUE(devices.find("nvidia.com/gpu=0")->nodes.empty()) << "a later folder wins";
  ASSERT_TRUE(devices.read(again, 2).ok());
  EXPECT_EQ(devices.find("nvidia.com/gpu=0"), nullptr) << "two of one folder are nobody's";
}

TEST(CdiSpecs, that_are_malformed_are_named_by_field) {
  const struct {
    const char* spec;
    const char* why;
  } rows[] = {
      {"{kind: a/b}", "cdiVersion: missing"},
      {"{cdiVersion: 0.5.0, kind: gpu}", "kind: \"gpu\" is not VENDOR/CLASS"},
      {"{cdiVersion: 0.5.0, kind: a/b, devices: [{name: '../x'}]}", "devices.name: \"../x\""},
      {"{cdiVersion: 0.5.0, kind: a/b, containerEdits: {env: [NOVALUE]}}",
       "containerEdits: env: \"NOVALUE\" is not NAME=value"},
      {"{cdiVersion: 0.5.0, kind: a/b, devices: [{name: x, containerEdits: {deviceNodes: [{path: dev/x}]}}]}",
       "devices \"x\": deviceNodes.path: this is not an absolute path"},
      {"{cdiVersion: 0.5.0, kind: a/b, devices: [{name: x, containerEdits: {deviceNodes: [{path: /dev/x, permissions: "
       "rwx}]}}]}",
       "devices \"x\": deviceNodes.permissions: \"rwx\" is not of r, w, m"},
      {"{cdiVersion: 0.5.0, kind: a/b, containerEdits: {mounts: [{hostPath: /a}]}}",
       "containerEdits: mounts.containerPath: this is not an absolute path"},
      {"{cdiVersion: 0.5.0, kind: a/b, containerEdits: {hooks: [{hookName: now, path: /a}]}}",
       "containerEdits: hooks.hookName: \"now\" is none of OCI's"},
  };
  for (const auto& row : rows) {
    CdiDevices devices;
    const base::Status read = devices.read(row.spec, 1);
    ASSERT_FALSE(read.ok()) << row.spec;
    EXPECT_EQ(read.error().message, row.why);
    EXPECT_EQ(devices.size(), 0u);
  }
}

TEST(SharedCards, are_those_of_the_annotation) {
  const GpuReport report = two_cards();
  const auto pod = [](std::string_view annotations, std::string_view limits) {
    return yaml("{metadata: {annotations: {" + std::string(annotations) +
                "}}, spec: {containers: [{name: m, resources: {limits: {" + std::string(limits) + "}}}]}}");
  };
  const auto share =
      shared_cards(GpuSharing::kGpuShare, pod("volcano.sh/gpu-index: '1'", "volcano.sh/gpu-memory: 100"), report);
  ASSERT_TRUE(share.ok()) << share.error().message;
  EXPECT_EQ(share->at(0).uuids, std::vector<std::string>{"GPU-b"});
  EXPECT_EQ(
      share->at(0).environment,
      (std::vector<std::pair<std::string, std::string>>{
          {"NVIDIA_VISIBLE_DEVICES", "1"}, {"VOLCANO_GPU_ALLOCATED", "100"}, {"VOLCANO_GPU_MEMORY_TOTAL", "81559"}}));
  const auto vgpu = shared_cards(
      GpuSharing::kVgpu, pod("volcano.sh/vgpu-ids-new: 'GPU-b,NVIDIA,512,30:'", "volcano.sh/vgpu-number: 1"), report);
  ASSERT_TRUE(vgpu.ok()) << vgpu.error().message;
  EXPECT_EQ(vgpu->at(0).environment.at(0).second, "512m");
  const struct {
    GpuSharing sharing;
    const char* annotations;
    const char* why;
  } rows[] = {
      {GpuSharing::kGpuShare, "", "annotation volcano.sh/gpu-index: it is missing"},
      {GpuSharing::kGpuShare, "volcano.sh/gpu-index: '2'",
       "annotation volcano.sh/gpu-index: this node has no GPU \"2\""},
      {GpuSharing::kGpuShare, "volcano.sh/gpu-index: '0,x'",
       "annotation volcano.sh/gpu-index: this node has no GPU \"x\""},
      {GpuSharing::kVgpu, "volcano.sh/vgpu-ids-new: 'GPU-z,NVIDIA,1,1:'",
       "annotation volcano.sh/vgpu-ids-new: this node has no GPU \"GPU-z\""},
      {GpuSharing::kVgpu, "volcano.sh/vgpu-ids-new: 'GPU-a'",
       "annotation volcano.sh/vgpu-ids-new: \"GPU-a\" is not uuid,type,memory,cores"},
      {GpuSharing::kVgpu, "volcano.sh/vgpu-ids-new: ';'",
       "annotation volcano.sh/vgpu-ids-new: nothing for container \"m\""},
  };
  for (const auto& row : rows) {
    const auto cards =
        shared_cards(row.sharing, pod(row.annotations, "volcano.sh/gpu-memory: 1, volcano.sh/vgpu-number: 1"), report);
    ASSERT_FALSE(cards.ok()) << row.why;
    EXPECT_EQ(cards.error().message, "Allocate failed due to " + std::string(row.why) + ", which is unexpected");
  }
}

TEST(OciDevices, are_looked_up_on_the_host) {
  DeviceGrant grant;
  grant.nodes = {{"/dev/null", "/dev/mine", "rw"}};
  const auto devices = find_devices(grant);
  ASSERT_TRUE(devices.ok());
  EXPECT_EQ(devices->at(0).path, "/dev/mine");
  EXPECT_EQ(devices->at(0).major, 1);
  EXPECT_EQ(devices->at(0).minor, 3);
  grant.nodes = {{"/dev/no-such-device", "/dev/mine", "rw"}};
  EXPECT_EQ(find_devices(grant).error().message, "device /dev/no-such-device: No such file or directory");
  grant.nodes = {{"/etc/passwd", "/dev/mine", "rw"}};
  EXPECT_EQ(find_devices(grant).error().message, "/etc/passwd is not a device");
}

// The edits that all devices of a spec share are counted for each: a spec of 300 KB was a gigabyte.
TEST(CdiSpecs, edits_are_bounded_in_all) {
  const auto spec = [](int devices, int common) {
    std::string text = R"({"cdiVersion":"0.6.0","kind":"x.org/d","containerEdits":{"env":[)";
    for (int i = 0; i < common; ++i) text += base::format("{}\"V{}=\"", i == 0 ? "" : ",", i);
    text += R"(]},"devices":[)";
    for (int i = 0; i < devices; ++i)
      text += base::format(R"({}{{"name":"d{}","containerEdits":{{"env":["OWN{}="]}}}})", i == 0 ? "" : ",", i, i);
    return text + "]}";
  };
  CdiDevices devices;
  EXPECT_EQ(devices.read(spec(4000, 4000), 1).error().message,
            "containerEdits: more than 262144 entries of all devices together");
  EXPECT_EQ(devices.size(), 0u);
  ASSERT_TRUE(devices.read(spec(50, 4000), 1).ok());
  EXPECT_EQ(devices.grant_of({"x.org/d=d0", "x.org/d=d1"})->environment.size(), 4002u);
  std::vector<std::string> many;
  for (int i = 0; i < 50; ++i) many.push_back(base::format("x.org/d=d{}", i));
  EXPECT_TRUE(devices.grant_of(many).ok());
}

}  // namespace
}  // namespace node
