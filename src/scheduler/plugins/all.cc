// Which plugins exist? To add one, add its file and a line here.
#include "scheduler/plugins/all.h"

#include "scheduler/framework/plugin.h"

namespace scheduler {

std::unique_ptr<Plugin> make_binpack();
std::unique_ptr<Plugin> make_capacity();
std::unique_ptr<Plugin> make_cdp();
std::unique_ptr<Plugin> make_conformance();
std::unique_ptr<Plugin> make_deviceshare();
std::unique_ptr<Plugin> make_drf();
std::unique_ptr<Plugin> make_gang();
std::unique_ptr<Plugin> make_network_topology_aware();
std::unique_ptr<Plugin> make_nodeorder();
std::unique_ptr<Plugin> make_nodegroup();
std::unique_ptr<Plugin> make_numa_aware();
std::unique_ptr<Plugin> make_overcommit();
std::unique_ptr<Plugin> make_predicates();
std::unique_ptr<Plugin> make_priority();
std::unique_ptr<Plugin> make_proportion();
std::unique_ptr<Plugin> make_sla();
std::unique_ptr<Plugin> make_pdb();
std::unique_ptr<Plugin> make_resourcequota();
std::unique_ptr<Plugin> make_resource_strategy_fit();
std::unique_ptr<Plugin> make_rescheduling();
std::unique_ptr<Plugin> make_task_topology();
std::unique_ptr<Plugin> make_usage();
std::unique_ptr<Plugin> make_extender();
std::unique_ptr<Plugin> make_tdm();

namespace {
constexpr PluginFactory kPlugins[] = {
    {"network-topology-aware", make_network_topology_aware},
    {"pdb", make_pdb},
    {"resourcequota", make_resourcequota},
    {"resource-strategy-fit", make_resource_strategy_fit},
    {"rescheduling", make_rescheduling},
    {"task-topology", make_task_topology},
    {"usage", make_usage},
    {"extender", make_extender},
    {"deviceshare", make_deviceshare},
    {"numa-aware", make_numa_aware},
    {"cdp", make_cdp},
    {"tdm", make_tdm},
    {"capacity", make_capacity},
    {"nodegroup", make_nodegroup},
    {"sla", make_sla},
    {"binpack", make_binpack},
    {"conformance", make_conformance},
    {"drf", make_drf},
    {"gang", make_gang},
    {"nodeorder", make_nodeorder},
    {"overcommit", make_overcommit},
    {"predicates", make_predicates},
    {"priority", make_priority},
    {"proportion", make_proportion},
};

// Pods that are decided one by one have no groups, queues and victims for the others to speak of.
constexpr PluginFactory kSinglePodPlugins[] = {{"nodeorder", make_nodeorder}, {"predicates", make_predicates}};
}  // namespace

std::span<const PluginFactory> all_plugins() { return kPlugins; }
std::span<const PluginFactory> single_pod_plugins() { return kSinglePodPlugins; }

}  // namespace scheduler
