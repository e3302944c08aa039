// A random configuration: actions, plugins in tiers, their arguments and switches.
#include "random_policy.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace scenario {
namespace {

struct Choice {
  const char* text;  // as in `tiers=`
  double chance;
};

// In an order that people use; `|` starts a tier.
const Choice kFirstTier[] = {{"priority", 0.6}, {"gang", 0.9}, {"conformance", 0.4}, {"sla", 0.05}, {"cdp", 0.08}};

const Choice kSecondTier[] = {
    {"overcommit", 0.1},
    {"overcommit(overcommit-factor=1.5)", 0.1},
    {"predicates", 0.85},
    {"nodeorder", 0.35},
    {"nodeorder(leastrequested.weight=0 mostrequested.weight=3 nodeaffinity.weight=5)", 0.1},
    {"nodeorder(balancedresource.weight=0 podaffinity.weight=4 tainttoleration.weight=7 podtopologyspread.weight=1)",
     0.1},
    {"binpack", 0.2},
    {"binpack(binpack.weight=3 binpack.cpu=2 binpack.resources=nvidia.com/gpu binpack.resources.nvidia.com/gpu=5)",
     0.1},
    {"pdb", 0.15},
    {"resourcequota", 0.1},
    {"tdm(tdm.revocable-zone.night=22:00-06:00 tdm.revocable-zone.noon=11:00-13:00 tdm.evict.period=1s)", 0.1},
    {"task-topology(task-topology.weight=5)", 0.12},
    {"nodegroup", 0.06},
    {"nodegroup(strict=false enablePreferredOrder=true)", 0.06},
    {"resource-strategy-fit", 0.1},
    {"usage(usage.weight=5 cpu.weight=1 memory.weight=1)", 0.1},
    {"numa-aware(weight=10)", 0.04},
    {"network-topology-aware", 0.15},
    {"network-topology-aware(weight=7 hypernode.binpack.cpu=3 hypernode.binpack.normal-pod.fading=50)", 0.1},
    {"rescheduling(interval=2s metricsPeriod=10m)", 0.04},
};

const char* kSwitches[] = {
    "enableJobOrder",         "enableTaskOrder",       "enableQueueOrder",         "enableJobReady",
    "enableJobPipelined",     "enableJobStarving",     "enableJobEnqueued",        "enabledOverused",
    "enabledAllocatable",     "enablePreemptive",      "enablePredicate",          "enableNodeOrder",
    "enablePreemptable",      "enableReclaimable",     "enabledSubJobOrder",       "enabledSubJobReady",
    "enabledSubJobPipelined", "enabledHyperNodeOrder", "enabledHyperNodeGradient", "enabledVictim"};

std::string name_of(const std::string& plugin) { return plugin.substr(0, plugin.find('(')); }

// Sometimes a switch is off.
std::string with_switch(base::Random& dice, std::string plugin) {
  if (!dice.chance(0.06)) return plugin;
  const std::string off = std::string(kSwitches[dice.below(std::size(kSwitches))]) + "=false";
  if (plugin.back() != ')') return plugin + "(" + off + ")";
  plugin.pop_back();
  return plugin + " " + off + ")";
}

std::vector<std::string> sharing_plugins(base::Random& dice, Policy& out) {
  std::vector<std::string> chosen;
  if (dice.chance(0.25)) {
    out.hierarchy = dice.chance(0.2);
    chosen.push_back(out.hierarchy ? "drf(enableHierarchy=true)" : "drf");
  }
  const bool deep = !out.hierarchy && dice.chance(0.35);
  switch (dice.below(5)) {
    case 0:
    case 1:
      if (!out.hierarchy) chosen.push_back("proportion");
      break;
    case 2:
    case 3:
      chosen.push_back(deep ? base::format("capacity(enableHierarchy=true ancestorReclaimLevel={})", dice.below(3))
                            : "capacity");
      out.hierarchy |= deep;
      break;
    default: break;
  }
  return chosen;
}

std::string random_actions(base::Random& dice) {
  std::vector<std::string> chosen;
  if (dice.chance(0.7)) chosen.push_back("enqueue");
  std::vector<std::string> rest;
  if (dice.chance(0.92)) rest.push_back("allocate");
  if (dice.chance(0.4)) rest.push_back("backfill");
  for (const char* one : {"preempt", "reclaim", "gangpreempt", "gangreclaim"}) {
    if (dice.chance(0.27)) rest.push_back(one);
  }
  if (dice.chance(0.15)) rest.push_back("shuffle");
  if (rest.empty()) rest.push_back("allocate");
  for (std::size_t i = rest.size(); i > 1; --i) std::swap(rest[i - 1], rest[dice.below(i)]);
  chosen.insert(chosen.end(), rest.begin(), rest.end());
  std::string out;
  for (const std::string& one : chosen) out += (out.empty() ? "" : ", ") + one;
  return out;
}

}  // namespace

Policy random_policy(base::Random& dice) {
  Policy out;
  std::vector<std::string> first, second = sharing_plugins(dice, out);
  for (const Choice& one : kFirstTier) {
    if (dice.chance(one.chance)) first.emplace_back(one.text);
  }
  for (const Choice& one : kSecondTier) {
    const bool twice = std::any_of(second.begin(), second.end(),
                                   [&](const std::string& other) { return name_of(other) == name_of(one.text); });
    if (dice.chance(one.chance) && !twice) second.emplace_back(one.text);
  }
  if (dice.chance(0.2)) {
    out.shares_npus = dice.chance(0.3);
    out.shares_vgpus = !out.shares_npus && dice.chance(0.6);
    out.shares_cards = !out.shares_npus && !out.shares_vgpus;
    second.push_back(out.shares_npus
                         ? "deviceshare(deviceshare.AscendMindClusterVNPUEnable=true deviceshare.ScheduleWeight=1)"
                     : out.shares_cards ? "deviceshare(deviceshare.GPUSharingEnable=true)"
                                        : base::format("deviceshare(deviceshare.VGPUEnable=true "
                                                       "deviceshare.SchedulePolicy={} deviceshare.ScheduleWeight=10)",
                                                       dice.chance(0.5) ? "binpack" : "spread"));
  }
  if (first.empty() || dice.chance(0.2)) {  // another order, perhaps one tier
    second.insert(second.end(), first.begin(), first.end());
    first.clear();
    for (std::size_t i = second.size(); i > 1; --i) std::swap(second[i - 1], second[dice.below(i)]);
  }
  const std::size_t third = dice.chance(0.2) ? dice.below(second.size() + 1) : second.size();
  std::string tiers;
  for (const std::string& one : first) tiers += with_switch(dice, one) + " ";
  if (!first.empty()) tiers += "| ";
  for (std::size_t i = 0; i < second.size(); ++i)
    tiers += (i == third && i > 0 ? "| " : "") + with_switch(dice, second[i]) + " ";
  if (!tiers.empty()) tiers.pop_back();
  for (const auto* list : {&first, &second}) {
    for (const std::string& one : *list) out.plugins.insert(name_of(one));
  }
  out.line = base::format("conf actions=\"{}\"", random_actions(dice));
  if (dice.chance(0.2)) out.line += " preempt.enableTopologyAwarePreemption=true";
  if (dice.chance(0.1)) out.line += " allocate.predicateErrorCacheEnable=false";
  out.line += base::format(" tiers=\"{}\"\n", tiers);
  if (out.plugins.contains("usage") && dice.chance(0.5))
    out.line += R"(  + {"usage":{"thresholds":{"cpu":70,"mem":60}}})"
                "\n";
  return out;
}

}  // namespace scenario
