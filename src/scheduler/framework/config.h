// The scheduler's configuration file.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace scheduler {

class Plugin;
class Action;

// One line of plugins/all.cc or actions/all.cc.
struct PluginFactory {
  std::string_view name;
  std::unique_ptr<Plugin> (*make)();
};
struct ActionFactory {
  std::string_view name;
  std::unique_ptr<Action> (*make)();
};
// The configuration without a file.
std::string_view default_config_text();
// The same of the agent scheduler.
std::string_view single_pods_config_text();

// The plugins and actions that one scheduler has, and its configuration without a file.
struct Registry {
  std::span<const PluginFactory> plugins;
  std::span<const ActionFactory> actions;
  std::string_view default_config = default_config_text();

  std::vector<std::string_view> plugin_names() const;
  std::vector<std::string_view> action_names() const;
};

struct PluginEntry {
  std::string name;
  std::map<std::string, bool, std::less<>> switches;
  api::Json arguments;

  bool is_on(std::string_view key, bool absent) const {
    auto found = switches.find(key);
    return found == switches.end() ? absent : found->second;
  }
};

// Quirks of Volcano that are kept unless the configuration's `compat` map says false.
inline constexpr std::string_view kCompatNames[] = {"victim-intersection", "pdb-unlabelled", "tdm-midnight",
                                                    "vgpu-spread-score"};

struct Config {
  std::vector<std::string> actions;
  std::vector<std::vector<PluginEntry>> tiers;
  std::vector<std::pair<std::string, api::Json>> action_arguments;  // in order; the first of a name counts
  std::map<std::string, std::string> metrics;
  std::map<std::string, bool, std::less<>> compat;  // quirks of Volcano that are switched, by kCompatNames
  std::vector<std::string> warnings;
  Registry registry;

  const PluginFactory* find_plugin(std::string_view name) const;
  const ActionFactory* find_action(std::string_view name) const;
  bool has_action(std::string_view name) const;
  // Behave as Volcano does where that looks like a mistake?
  bool is_compat(std::string_view quirk) const {
    const auto found = compat.find(quirk);
    return found == compat.end() || found->second;
  }
  const api::Json& arguments_of(std::string_view action) const;
};

// A message that names what is wrong: YAML errors, unknown actions, plugins that exclude one another.
base::Result<Config> parse_config(std::string_view text, const Registry& registry);
// From the document itself, for callers that read it otherwise.
base::Result<Config> config_from(const api::Json& document, const Registry& registry);

}  // namespace scheduler
