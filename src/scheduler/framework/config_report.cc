// The configuration in force, and what was wrong with it. As JSON, for /debug/config.
#include "scheduler/framework/config_report.h"

namespace scheduler {
namespace {

api::Json plugin_json(const PluginEntry& entry) {
  api::Json out = api::Json::object({{"name", entry.name}});
  for (const auto& [key, on] : entry.switches) out.edit("switches").set(key, on);
  if (!entry.arguments.is_null()) out.set("arguments", entry.arguments);
  return out;
}

api::Json texts_json(const std::vector<std::string>& texts) {
  std::vector<api::Json> out(texts.begin(), texts.end());
  return api::Json::array(std::move(out));
}

}  // namespace

api::Json report(const Config& config, const std::vector<std::string>& warnings, const std::string& refused) {
  std::vector<api::Json> tiers, configurations;
  for (const std::vector<PluginEntry>& tier : config.tiers) {
    std::vector<api::Json> plugins;
    for (const PluginEntry& entry : tier) plugins.push_back(plugin_json(entry));
    tiers.push_back(api::Json::array(std::move(plugins)));
  }
  for (const auto& [name, arguments] : config.action_arguments) {
    configurations.push_back(api::Json::object({{"name", name}, {"arguments", arguments}}));
  }
  api::Json metrics = api::Json::object();
  for (const auto& [key, value] : config.metrics) metrics.set(key, key.ends_with("password") ? "(not shown)" : value);
  api::Json out = api::Json::object({{"actions", texts_json(config.actions)},
                                     {"tiers", api::Json::array(std::move(tiers))},
                                     {"configurations", api::Json::array(std::move(configurations))},
                                     {"metrics", std::move(metrics)},
                                     {"warnings", texts_json(warnings)}});
  if (!refused.empty()) out.set("refused", refused);
  return out;
}

}  // namespace scheduler
