// Is the configuration of an installation understood here, and does it mean the same?
#include <algorithm>
#include <functional>
#include <optional>
#include <span>

#include "admission/rules/hooks.h"
#include "api/json/unread_members.h"
#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/hypernode/config.h"
#include "controllers/sharding/controller.h"
#include "main/host/base/other_installation.h"
#include "main/host/flags/controller_flags.h"
#include "main/host/flags/webhook_flags.h"
#include "main/host/preflight/preflight.h"
#include "rt/files/bounded_files.h"
#include "scheduler/one_shot/one_shot.h"
#include "scheduler/options.h"

namespace volcano_main {

using api::Json;
using base::Code;
using Level = Finding::Level;

namespace {

// A file of a ConfigMap, as a container sees it.
struct MapFile {
  std::string map, key;
};

// Which file of which ConfigMap is at `path` in the first container; nothing if none is.
std::optional<MapFile> file_at(const Json& pod, const std::string& path) {
  std::string volume, inner;
  std::size_t longest = 0;
  for (const Json& mount : pod["spec"]["containers"][std::size_t{0}]["volumeMounts"].items()) {
    std::string at = mount["mountPath"].str();
    while (at.ends_with('/')) at.pop_back();
    if (at.size() < longest || !(path == at || path.starts_with(at + "/"))) continue;
    longest = at.size();
    volume = mount["name"].str();
    inner = mount["subPath"].str() + path.substr(at.size());
    if (inner.starts_with('/')) inner.erase(0, 1);
  }
  for (const Json& one : pod["spec"]["volumes"].items()) {
    if (one["name"].as_string() != volume || !one["configMap"].is_object()) continue;
    const Json& items = one["configMap"]["items"];
    if (items.empty()) return MapFile{one["configMap"]["name"].str(), inner};
    for (const Json& item : items.items())
      if (item["path"].as_string() == inner) return MapFile{one["configMap"]["name"].str(), item["key"].str()};
  }
  return std::nullopt;
}

// The configuration of the installation's scheduler; nothing after a line in `out` that says why.
std::optional<MapFile> configuration_of(cli::Api& api, const PreflightOptions& options, Findings& out) {
  const auto stop = [&out](Level level, std::string text) {
    out.push_back({level, std::move(text)});
    return std::nullopt;
  };
  const std::string name = options.release + "-scheduler";
  const auto deployment = get_object(api, {"apps", "v1", "deployments"}, options.ns, name);
  // Without a Deployment that may be seen: as charts name it.
  if (!deployment.ok()) return MapFile{options.release + "-scheduler-configmap", "volcano-scheduler.conf"};
  const std::string where = base::format("Deployment {}/{}", options.ns, name);
  const Json& pod = (*deployment)["spec"]["template"];
  scheduler::Options flags;
  const auto read = scheduler::parse_options(words_of_program(pod), flags);
  if (!read.ok())
    return stop(Level::kChange, base::format("{}: its flags cannot be read ({}), so neither can what configures it; "
                                             "--scheduler-conf checks a file",
                                             where, read.error().message));
  const std::string& path = flags.scheduler_conf;
  if (path.empty())
    return stop(Level::kGood, base::format("{} has no --scheduler-conf: the built-in configuration is used", where));
  auto found = file_at(pod, path);
  if (!found)
    return stop(Level::kChange, base::format("{}: --scheduler-conf={} is in no ConfigMap and cannot be seen; give its "
                                             "text with --scheduler-conf",
                                             where, path));
  return found;
}

}  // namespace

void check_configuration(cli::Api& api, const PreflightOptions& options, Findings& out) {
  std::string text, where = options.config_file;
  if (!where.empty()) {
    auto read = rt::read_bounded_file(where, std::size_t{16} << 20, base::minutes(5));
    if (!read.ok()) return out.push_back({Level::kProblem, base::format("--scheduler-conf: {}", read.error().message)});
    text = *std::move(read);
  } else {
    const auto file = configuration_of(api, options, out);
    if (!file) return;
    where = base::format("ConfigMap {}/{}", options.ns, file->map);
    const auto map = get_object(api, api::resources::kConfigMaps, options.ns, file->map);
    if (!map.ok())
      return out.push_back({Level::kChange, base::format("{}: {}; the built-in configuration would be used", where,
                                                         map.error().message)});
    const Json& content = (*map)["data"][file->key];
    if (!content.is_string())
      return out.push_back(
          {Level::kChange,
           base::format("{} has no file {:?}; the built-in configuration would be used", where, file->key)});
    text = content.str();
    where += base::format(", file {:?}", file->key);
  }
  scheduler::OneShotOptions settings;
  settings.config = text;
  scheduler::OneShot run(settings, [] { return std::pair{0.0, 0.0}; });
  if (const base::Status taken = run.configure(); !taken.ok())
    return out.push_back({Level::kProblem, base::format("{}: {}", where, taken.error().message)});
  run.run_phase();
  for (const std::string& remark : run.warnings())
    out.push_back({Level::kChange, base::format("{}: {}", where, remark)});
  if (run.warnings().empty()) out.push_back({Level::kGood, base::format("{}: every key is understood", where)});
}

namespace {

// A ConfigMap's text, the places in it that are read here, and what is to be said of their values.
struct OneFile {
  std::string ns;
  MapFile file;
  std::span<const std::string_view> read;
  std::function<void(const std::string& text, const Json& document, const std::string& where, Findings& out)> judge;
};

void check_file(cli::Api& api, const OneFile& one, Findings& out) {
  const std::string map_name = base::format("ConfigMap {}/{}", one.ns, one.file.map);
  const auto map = get_object(api, api::resources::kConfigMaps, one.ns, one.file.map);
  if (!map.ok()) {
    if (map.error().code == Code::kNotFound)
      return out.push_back({Level::kGood, map_name + " is not there, and configures nothing"});
    return out.push_back({Level::kChange, base::format("{} cannot be read: {}", map_name, map.error().message)});
  }
  const std::string where = base::format("{}, file {:?}", map_name, one.file.key);
  const std::string text = (*map)["data"][one.file.key].str();
  const auto document = api::parse_yaml(text);
  if (!document.ok()) return out.push_back({Level::kProblem, base::format("{}: {}", where, document.error().message)});
  if (document->is_null()) return out.push_back({Level::kGood, base::format("{} configures nothing", where)});
  const std::size_t before = out.size();
  const std::vector<std::string> unread = api::unread_members(*document, one.read);
  if (!unread.empty())
    out.push_back({Level::kChange, base::format("{}: not known here, and without effect: {}", where,
                                                some_of({unread.begin(), unread.end()}))});
  one.judge(text, *document, where, out);
  if (out.size() == before) out.push_back({Level::kGood, base::format("{}: every key is understood", where)});
}

constexpr std::string_view kShardingKeys[] = {"schedulerConfigs[].name",
                                              "schedulerConfigs[].type",
                                              "schedulerConfigs[].policies[].name",
                                              "schedulerConfigs[].policies[].weight",
                                              "schedulerConfigs[].policies[].arguments.minCPUUtil",
                                              "schedulerConfigs[].policies[].arguments.maxCPUUtil",
                                              "schedulerConfigs[].policies[].arguments.warmupLabel",
                                              "schedulerConfigs[].policies[].arguments.warmupLabelValue",
                                              "schedulerConfigs[].policies[].arguments.minNodes",
                                              "schedulerConfigs[].policies[].arguments.maxNodes",
                                              "schedulerConfigs[].arguments.minCPUUtil",
                                              "schedulerConfigs[].arguments.maxCPUUtil",
                                              "schedulerConfigs[].cpuUtilizationMin",
                                              "schedulerConfigs[].cpuUtilizationMax",
                                              "schedulerConfigs[].preferWarmupNodes",
                                              "schedulerConfigs[].minNodes",
                                              "schedulerConfigs[].maxNodes",
                                              "shardSyncPeriod",
                                              "enableNodeEventTrigger"};

constexpr std::string_view kDiscoveryKeys[] = {"networkTopologyDiscovery[].source",
                                               "networkTopologyDiscovery[].enabled",
                                               "networkTopologyDiscovery[].interval",
                                               "networkTopologyDiscovery[].credentials.secretRef.name",
                                               "networkTopologyDiscovery[].credentials.secretRef.namespace",
                                               "networkTopologyDiscovery[].config.endpoint",
                                               "networkTopologyDiscovery[].config.insecureSkipVerify",
                                               "networkTopologyDiscovery[].config.networkTopologyTypes.*[].nodeLabel"};

constexpr std::string_view kPodRuleKeys[] = {"resourceGroups[].resourceGroup",
                                             "resourceGroups[].object.key",
                                             "resourceGroups[].object.value[]",
                                             "resourceGroups[].schedulerName",
                                             "resourceGroups[].labels.*",
                                             "resourceGroups[].affinity",
                                             "resourceGroups[].tolerations[].key",
                                             "resourceGroups[].tolerations[].operator",
                                             "resourceGroups[].tolerations[].value",
                                             "resourceGroups[].tolerations[].effect",
                                             "resourceGroups[].tolerations[].tolerationseconds",
                                             "resourceGroups[].tolerations[].tolerationSeconds"};

// The meaning of a policy here that it does not have in Volcano (docs/compat/controllers.md).
void notify_policy(const controllers::sharding::Policy& policy, const Json& given, const std::string& where,
                   Findings& out) {
  if (policy.name == "allocation-rate" && given["maxCPUUtil"].is_null() && given["cpuUtilizationMax"].is_null())
    out.push_back(
        {Level::kChange, base::format("{}: allocation-rate without maxCPUUtil takes every node; Volcano takes "
                                      "idle ones only, which is maxCPUUtil: 0",
                                      where)});
  constexpr std::int64_t kBatch = 50;
  if (policy.name == "node-limit" && policy.nodes_max > kBatch)
    out.push_back({Level::kChange, base::format("{}: maxNodes: {} is a limit of all nodes; Volcano takes so many of "
                                                "every {}",
                                                where, policy.nodes_max, kBatch)});
}

void judge_sharding(const std::string& text, const Json& document, bool is_used, const std::string& where,
                    Findings& out) {
  namespace sharding = controllers::sharding;
  const auto config = sharding::parse_config(text, sharding::default_config());
  if (!config.ok())
    return out.push_back(
        {is_used ? Level::kProblem : Level::kChange,
         base::format("{}: {}; {}", where, config.error().message,
                      is_used ? "nodes would be shared out by the flags instead" : "the sharding controller is off")});
  for (std::size_t i = 0; i < config->schedulers.size(); ++i) {
    const Json& given = document["schedulerConfigs"].items()[i];
    const auto policies = given["policies"].items();
    for (std::size_t j = 0; j < config->schedulers[i].policies.size(); ++j) {
      Json arguments = j < policies.size() ? policies[j]["arguments"] : given["arguments"];
      if (policies.empty() && !given["cpuUtilizationMax"].is_null()) arguments = given;
      notify_policy(config->schedulers[i].policies[j], arguments,
                    base::format("{}: scheduler {}", where, config->schedulers[i].name), out);
    }
  }
}

void judge_discovery(const std::string& text, const std::string& where, Findings& out) {
  const auto sources = controllers::hypernode::parse_discovery(text);
  if (!sources.ok())
    return out.push_back(
        {Level::kProblem, base::format("{}: {}; no network would be discovered", where, sources.error().message)});
  for (const controllers::hypernode::Source& source : *sources)
    if (!source.problem.empty())
      out.push_back(
          {Level::kChange, base::format("{}: source {} does not run: {}", where, source.name, source.problem)});
}

void judge_pod_rules(const std::string& text, const Json& document, const std::string& where, Findings& out) {
  if (const auto rules = admission::parse_pod_rules(text); !rules.ok())
    return out.push_back(
        {Level::kProblem, base::format("{}: {}; new pods would be left as they are", where, rules.error().message)});
  for (const Json& group : document["resourceGroups"].items())
    for (const Json& toleration : group["tolerations"].items())
      if (!toleration["tolerationSeconds"].is_null())
        out.push_back(
            {Level::kChange, base::format("{}: resource group {}: tolerationSeconds counts here; Volcano reads "
                                          "tolerationseconds only",
                                          where, group["resourceGroup"].dump())});
}

}  // namespace

Json template_of(cli::Api& api, const PreflightOptions& options, std::string_view program, std::string& where) {
  const std::string name = base::format("{}-{}", options.release, program);
  where = base::format("Deployment {}/{}", options.ns, name);
  const auto deployment = get_object(api, {"apps", "v1", "deployments"}, options.ns, name);
  return deployment.ok() ? (*deployment)["spec"]["template"] : Json();
}

void check_controller_configuration(cli::Api& api, const PreflightOptions& options, Findings& out) {
  std::string where;
  const Json pod = template_of(api, options, "controllers", where);
  ControllerFlags flags;
  // As the chart gives them, where nothing runs that says otherwise.
  std::string release = options.release;
  if (pod.is_null()) {
    flags.sharding_configmap = options.release + "-sharding-configmap";
    flags.sharding_configmap_namespace = options.ns;
  } else {
    if (const auto read = base::parse_flags(flags.rows(), words_of_program(pod)); !read.ok())
      return out.push_back({Level::kChange, base::format("{}: its flags cannot be read ({}), so neither can what "
                                                         "configures it",
                                                         where, read.error().message)});
    release = "volcano";
    for (const Json& variable : pod["spec"]["containers"][std::size_t{0}]["env"].items())
      if (variable["name"].as_string() == "HELM_RELEASE_NAME" && !variable["value"].as_string().empty())
        release = variable["value"].str();
  }
  const bool shares = controllers::is_enabled(flags.controllers().enabled, "sharding-controller");
  check_file(api,
             {.ns = flags.sharding_configmap_namespace,
              .file = {flags.sharding_configmap, std::string(controllers::sharding::kConfigKey)},
              .read = kShardingKeys,
              .judge = [shares](const auto& text, const Json& document, const auto& file,
                                Findings& found) { judge_sharding(text, document, shares, file, found); }},
             out);
  check_file(api,
             {.ns = options.ns,
              .file = {release + "-controller-configmap", "volcano-controller.conf"},
              .read = kDiscoveryKeys,
              .judge = [](const auto& text, const Json&, const auto& file,
                          Findings& found) { judge_discovery(text, file, found); }},
             out);
}

void check_admission_configuration(cli::Api& api, const PreflightOptions& options, Findings& out) {
  std::string where;
  const Json pod = template_of(api, options, "admission", where);
  MapFile file{options.release + "-admission-configmap", "volcano-admission.conf"};
  if (!pod.is_null()) {
    WebhookFlags flags;
    if (const auto read = base::parse_flags(flags.rows(), words_of_program(pod)); !read.ok())
      return out.push_back({Level::kChange, base::format("{}: its flags cannot be read ({}), so neither can what "
                                                         "configures it",
                                                         where, read.error().message)});
    if (flags.admission_conf.empty())
      return out.push_back(
          {Level::kGood, base::format("{} has no --admission-conf: new pods are left as they are", where)});
    const auto found = file_at(pod, flags.admission_conf);
    if (!found)
      return out.push_back(
          {Level::kChange,
           base::format("{}: --admission-conf={} is in no ConfigMap and cannot be seen", where, flags.admission_conf)});
    file = *found;
  }
  check_file(api, {.ns = options.ns, .file = file, .read = kPodRuleKeys, .judge = judge_pod_rules}, out);
}

}  // namespace volcano_main
