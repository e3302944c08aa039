// The scheduler's configuration and the arguments of its plugins, feature gates, and what a metrics source answers:
// whatever they say, a cycle runs.
#include "base/format.h"
#include "scheduler/actions/all.h"
#include "scheduler/cache/intake.h"
#include "scheduler/framework/config_report.h"
#include "scheduler/plugins/all.h"
#include "scheduler/session/decider.h"
#include "scheduler/sources/usage_collector.h"
#include "targets.h"

namespace fuzz {
namespace {

using api::Json;

void add(scheduler::Intake& intake, const api::ResourceId& id, std::string_view text) {
  const auto object = api::parse_json(text);
  promise(object.ok(), "the stage's objects can be read", text);
  intake.set(id, *object);
}

// Two nodes, a group that runs and one that waits.
void set_stage(scheduler::Intake& intake, const std::string& annotations) {
  add(intake, api::resources::kQueues,
      R"({"metadata":{"name":"default","uid":"q"},"spec":{"weight":1},"status":{"state":"Open"}})");
  for (const char* name : {"n1", "n2"}) {
    add(intake, api::resources::kNodes,
        base::format(
            R"({{"metadata":{{"name":"{}","labels":{{"volcano.sh/revocable-zone":"z"}}}},"status":{{"allocatable":{{"cpu":"2","memory":"4Gi","pods":"9"}},)"
            R"("capacity":{{"cpu":"2","memory":"4Gi","pods":"9"}}}}}})",
            name));
  }
  for (const char* name : {"a", "b"}) {
    add(intake, api::resources::kPodGroups,
        base::format(
            R"({{"metadata":{{"name":"{0}","namespace":"n","uid":"{0}","annotations":{1}}},"spec":{{"minMember":1,"queue":"default",)"
            R"("minResources":{{"cpu":"1"}}}},"status":{{"phase":"Pending"}}}})",
            name, annotations));
    add(intake, api::resources::kPods,
        base::format(
            R"({{"metadata":{{"name":"{0}-x-0","namespace":"n","uid":"{0}0","annotations":{{"scheduling.k8s.io/group-name":"{0}","volcano.sh/task-spec":"x"}}}},)"
            R"("spec":{{"schedulerName":"volcano"{1},"containers":[{{"resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"{2}"}}}})",
            name, *name == 'a' ? R"(,"nodeName":"n1")" : "", *name == 'a' ? "Running" : "Pending"));
  }
}

void run_cycles(const scheduler::Config& config, const std::string& annotations) {
  scheduler::Model model;
  scheduler::Ledger ledger;
  scheduler::Intake intake(model, ledger, {});
  set_stage(intake, annotations);
  scheduler::Decider decider(model, ledger, {scheduler::all_plugins(), scheduler::all_actions()}, 1, "volcano");
  decider.use(config);
  model.usage.by_node["n1"] = {50, 50, base::Time{1'000'000'000}};
  for (int i = 0; i < 2; ++i) (void)decider.run_cycle(base::Time{1'000'000'000 + i * 400'000'000'000});
  promise(scheduler::report(decider.config(), decider.warnings(), "").is_object(), "the configuration can be reported");
}

}  // namespace

void scheduler_config(std::string_view input) {
  const auto config = scheduler::parse_config(input, {scheduler::all_plugins(), scheduler::all_actions()});
  if (!config.ok()) return promise(!config.error().message.empty(), "a refusal says why");
  promise(!config->actions.empty(), "a configuration has actions");
  if (config->actions.size() + config->tiers.size() < 32) run_cycles(*config, "{}");
  const auto gates = scheduler::FeatureGates::parse(input);
  promise(gates.ok() || !gates.error().message.empty(), "a refusal says why");
}

// "usage{...}": a plugin and its arguments; a name that no plugin has chooses one by its length. The arguments also
// serve as annotations of a group, and as what a metrics source says.
void plugin_arguments(std::string_view input) {
  const std::size_t brace = input.find('{');
  if (brace == std::string_view::npos) return;
  const std::string_view name = input.substr(0, brace), text = input.substr(brace);
  (void)scheduler::prometheus_samples(text);
  const auto arguments = api::parse_json(text);
  if (!arguments.ok()) return;
  const auto plugins = scheduler::all_plugins();
  const auto* chosen = &plugins[name.size() % plugins.size()];
  for (const auto& one : plugins) {
    if (one.name == name) chosen = &one;
  }
  Json plugin = Json::object({{"name", chosen->name}, {"arguments", *arguments}});
  Json tier = Json::object(
      {{"plugins", Json::array({Json::object({{"name", "gang"}}), Json::object({{"name", "predicates"}}), plugin})}});
  const auto config =
      scheduler::config_from(Json::object({{"actions", "enqueue, allocate, backfill, preempt, reclaim, shuffle"},
                                           {"tiers", Json::array({tier})}}),
                             {plugins, scheduler::all_actions()});
  if (!config.ok()) return promise(!config.error().message.empty(), "a refusal says why");
  run_cycles(*config, arguments->is_object() ? arguments->dump() : "{}");
}

}  // namespace fuzz
