// Texts of nodes and pods about their devices: whatever the texts, a cycle ends and gives no card more than it has.
#include <memory>
#include <vector>

#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "targets.h"

namespace fuzz {
namespace {

using api::Json;

constexpr std::string_view kConfig =
    "actions: \"allocate\"\ntiers:\n- plugins:\n  - name: gang\n  - name: predicates\n  - name: numa-aware\n  - name: "
    "deviceshare\n    arguments:\n"
    "      deviceshare.VGPUEnable: true\n      deviceshare.ScheduleWeight: 10\n      deviceshare.SchedulePolicy: "
    "binpack\n      deviceshare.AscendMindClusterVNPUEnable: true\n      deviceshare.AscendHAMiVNPUEnable: true\n"
    "configurations:\n- name: init-params\n  arguments: {useClusterInfoManager: false}\n";

Json text_of(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= ' ' && c < 127 ? c : '?';
  return Json(out);
}

Json npu_pod(const std::string& name, const Json& held, const Json& preference, bool placed) {
  Json out = *api::parse_json(
      R"({"metadata":{"namespace":"a","labels":{"ring-controller.atlas":"ascend-310P","vnpu-level":"high"},
    "annotations":{"scheduling.k8s.io/group-name":"g"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":
    {"limits":{"huawei.com/npu-core":"4","huawei.com/Ascend310P":"1","huawei.com/Ascend310P-memory":"3000"}}}]},
    "status":{"phase":"Pending"}})");
  out.edit("metadata").set("name", name);
  out.edit("metadata").set("uid", name);
  out.edit("metadata").edit("labels").set("vnpu-dvpp", preference);
  if (!placed) return out;
  for (const char* key : {"huawei.com/npu-core", "hami.io/Ascend310P-devices-allocated"})
    out.edit("metadata").edit("annotations").set(key, held);
  out.edit("spec").set("nodeName", "n1");
  out.edit("status").set("phase", "Running");
  return out;
}

Json pod(const std::string& name, const Json& ids, const Json& preference, bool placed) {
  Json out = *api::parse_json(
      R"({"metadata":{"namespace":"a","labels":{"app":"x"},"annotations":{"scheduling.k8s.io/group-name":"g"}},
    "spec":{"schedulerName":"volcano","containers":[{"name":"c","resources":{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1","memory":"1Gi","volcano.sh/vgpu-number":"1","volcano.sh/vgpu-memory":"100"}}}]},
    "status":{"phase":"Pending"}})");
  out.edit("metadata").set("name", name);
  out.edit("metadata").set("uid", name);
  Json& annotations = out.edit("metadata").edit("annotations");
  annotations.set("nvidia.com/use-gputype", preference);
  annotations.set("volcano.sh/numa-topology-policy", preference);
  if (!placed) return out;
  annotations.set("volcano.sh/vgpu-ids-new", ids);
  annotations.set("volcano.sh/gpu-index", ids);
  out.edit("spec").set("nodeName", "n1");
  out.edit("status").set("phase", "Running");
  return out;
}

}  // namespace

// Texts, one a line: what the node registers, what a running pod holds, what a new pod wishes, how CPUs are laid out;
// what the node's Ascend plugin reports, its type of server, its cards.
void devices(std::string_view input) {
  constexpr std::size_t kLines = 7;
  std::vector<Json> lines;
  for (std::size_t start = 0; start <= input.size() && lines.size() < kLines;) {
    const std::size_t end = std::min(input.find('\n', start), input.size());
    lines.push_back(text_of(input.substr(start, end - start)));
    start = end + 1;
  }
  lines.resize(kLines, Json(""));
  scheduler::Model model;
  scheduler::Ledger ledger;
  scheduler::Intake intake(model, ledger, {});
  scheduler::Decider decider(model, ledger, {scheduler::all_plugins(), scheduler::all_actions()}, 1, "volcano");
  promise(decider.configure(kConfig).ok(), "the configuration is good");
  Json node = *api::parse_json(
      R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"16","memory":"64Gi","pods":"10","volcano.sh/vgpu-number":"20",
    "volcano.sh/vgpu-memory":"100000","volcano.sh/vgpu-cores":"200","huawei.com/npu-core":"16","huawei.com/Ascend310P":"7"}}})");
  node.edit("metadata").edit("annotations").set("volcano.sh/node-vgpu-register", lines[0]);
  node.edit("metadata").edit("annotations").set("hami.io/node-register-Ascend310P", lines[6]);
  node.edit("metadata").edit("labels").set("servertype", lines[5]);
  Json report_of_chips =
      *api::parse_json(R"({"metadata":{"name":"mindx-dl-deviceinfo-n1","namespace":"kube-system"},"data":{}})");
  report_of_chips.edit("data").set("DeviceInfoCfg", lines[4]);
  intake.set(api::resources::kConfigMaps, report_of_chips);
  intake.set(api::resources::kQueues,
             *api::parse_json(R"({"metadata":{"name":"default","uid":"q"},"status":{"state":"Open"}})"));
  intake.set(api::resources::kNodes, node);
  Json numa = *api::parse_json(
      R"({"metadata":{"name":"n1"},"spec":{"policies":{"CPUManagerPolicy":"static","TopologyManagerPolicy":"best-effort"},
    "cpuDetail":{"0":{"numa":0},"1":{"numa":1,"socket":1,"core":1}}}})");
  numa.edit("spec").edit("numares").edit("cpu").set("allocatable", lines[3]);
  intake.set(api::resources::kNumatopologies, numa);
  intake.set(
      api::resources::kPodGroups,
      *api::parse_json(
          R"({"metadata":{"name":"g","namespace":"a","uid":"g"},"spec":{"minMember":1,"queue":"default"},"status":{"phase":"Inqueue"}})"));
  intake.set(api::resources::kPods, pod("running", lines[1], lines[2], true));
  for (const char* name : {"new-x-0", "new-x-1", "new-x-2"})
    intake.set(api::resources::kPods, pod(name, {}, lines[2], false));
  intake.set(api::resources::kPods, npu_pod("npu-running", lines[1], lines[2], true));
  intake.set(api::resources::kPods, npu_pod("npu-new", {}, lines[2], false));
  const scheduler::CycleReport report = decider.run_cycle(base::Time{} + base::seconds(1'700'000'000));
  promise(report.plan.binds.size() <= 4, "no pod is bound twice");
}

}  // namespace fuzz
