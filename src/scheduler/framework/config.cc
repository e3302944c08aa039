// The scheduler's configuration file.
#include "scheduler/framework/config.h"

#include <algorithm>
#include <array>

#include "api/json/yaml.h"
#include "base/format.h"
#include "base/meant.h"
#include "base/trim.h"
#include "base/utf8.h"
#include "scheduler/framework/extension_points.h"

namespace scheduler {
namespace {

constexpr std::string_view kDefaultConfig = R"(actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: overcommit
  - name: drf
  - name: predicates
  - name: proportion
  - name: nodeorder
)";

constexpr std::string_view kSinglePodsConfig = R"(actions: "allocate"
tiers:
- plugins:
  - name: predicates
  - name: nodeorder
)";

// Each listing of a plugin is asked, and each action runs, in every cycle.
constexpr std::size_t kListingsMax = 1000;

base::Error invalid(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

template <class... P>
bool is_switch_of(std::string_view key, std::tuple<P...>*) {
  const auto names_key = [&](std::string_view keys) {
    const std::size_t bar = keys.find('|');
    return keys.substr(0, bar) == key || (bar != std::string_view::npos && keys.substr(bar + 1) == key);
  };
  return (names_key(P::kKey) || ...);
}

bool is_switch(std::string_view key) {
  return is_switch_of(key, static_cast<AllPoints*>(nullptr)) ||
         std::find(std::begin(kOtherSwitches), std::end(kOtherSwitches), key) != std::end(kOtherSwitches);
}

template <class... P>
std::vector<std::string_view> switch_names(std::tuple<P...>*) {
  std::vector<std::string_view> out(std::begin(kOtherSwitches), std::end(kOtherSwitches));
  for (const std::string_view keys : {P::kKey...}) {
    const std::size_t bar = std::min(keys.find('|'), keys.size());
    if (bar > 0) out.push_back(keys.substr(0, bar));
    if (bar < keys.size()) out.push_back(keys.substr(bar + 1));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

// The known name, where it is written in another case or with other hyphens; else as it is written.
std::string spelled_as_known(std::string_view what, std::string_view written,
                             const std::vector<std::string_view>& known, Config& config) {
  if (std::find(known.begin(), known.end(), written) != known.end()) return std::string(written);
  const std::string_view meant = base::other_spelling(written, known);
  if (meant.empty()) return std::string(written);
  config.warnings.push_back(base::format("{} {} is read as {}", what, written, meant));
  return std::string(meant);
}

base::Result<PluginEntry> plugin_from(const api::Json& json, Config& config) {
  PluginEntry out;
  out.name = spelled_as_known("plugin", json["name"].as_string(), config.registry.plugin_names(), config);
  out.arguments = json["arguments"];
  const std::vector<std::string_view> switches = switch_names(static_cast<AllPoints*>(nullptr));
  for (const auto& member : json.members()) {
    if (member.name() == "name" || member.name() == "arguments") continue;
    const std::string key = spelled_as_known(base::format("plugin {}: key", out.name), member.name(), switches, config);
    if (!is_switch(key)) {
      config.warnings.push_back(
          base::format("plugin {}: unknown key {} is ignored{}", out.name, key, base::hint_at_name(key, switches)));
      continue;
    }
    if (member.value.is_null()) continue;  // as if it were not there
    if (!member.value.is_bool()) return invalid(base::format("plugin {}: {} must be a boolean", out.name, key));
    out.switches.emplace(key, member.value.as_bool());
  }
  return out;
}

// A value that a message quotes.
std::string quoted(const api::Json& value) { return std::string(base::utf8_prefix(value.dump(), 100)); }

base::Status read_tiers(const api::Json& tiers, Config& config) {
  std::size_t listings = 0;
  if (!tiers.is_null() && !tiers.is_array()) return invalid("tiers must be a list");
  for (const api::Json& tier : tiers.items()) {
    std::vector<PluginEntry>& out = config.tiers.emplace_back();
    if (!tier.is_null() && !tier.is_object()) return invalid("tiers: each must be a map with plugins");
    if (!tier["plugins"].is_null() && !tier["plugins"].is_array()) return invalid("tiers: plugins must be a list");
    for (const api::Json& plugin : tier["plugins"].items()) {
      if (!plugin.is_null() && !plugin.is_object())
        return invalid(base::format("tiers: a plugin must be a map with its name, not {}", quoted(plugin)));
      if (++listings > kListingsMax) return invalid(base::format("tiers: more than {} plugins", kListingsMax));
      TRY(PluginEntry entry, plugin_from(plugin, config));
      out.push_back(std::move(entry));
    }
    const auto has = [&](std::string_view name, bool hierarchical) {
      return std::any_of(out.begin(), out.end(), [&](const PluginEntry& entry) {
        return entry.name == name && (!hierarchical || entry.is_on("enableHierarchy", false));
      });
    };
    if (has("drf", true) && has("proportion", false)) {
      return invalid("proportion and drf with hierarchy enabled conflicts");
    }
  }
  return {};
}

base::Status read_actions(std::string_view list, Config& config) {
  const std::vector<std::string_view> known = config.registry.action_names();
  for (std::size_t start = 0; start <= list.size();) {
    const std::size_t comma = std::min(list.find(',', start), list.size());
    const std::string_view written = base::trim(list.substr(start, comma - start));
    start = comma + 1;
    if (written.empty() && (start <= list.size() || !config.actions.empty())) continue;  // between or behind commas
    const std::string name = spelled_as_known("action", written, known, config);
    if (config.find_action(name) == nullptr)
      return invalid(
          base::format("failed to find Action {}{}", base::utf8_prefix(name, 100), base::hint_at_name(name, known)));
    if (config.actions.size() == kListingsMax) return invalid(base::format("actions: more than {}", kListingsMax));
    config.actions.push_back(name);
  }
  return {};
}

constexpr std::array<std::string_view, 5> kKeys{"actions", "tiers", "configurations", "metrics", "compat"};

base::Status check_keys(const api::Json& document, Config& config) {
  for (const auto& member : document.members()) {
    if (std::find(kKeys.begin(), kKeys.end(), member.name()) != kKeys.end()) continue;
    const std::string name(base::utf8_prefix(member.name(), 100));
    if (const std::string_view meant = base::other_spelling(name, kKeys); !meant.empty())
      return invalid(base::format("key {} is written {}", name, meant));
    config.warnings.push_back(
        base::format("key {} is unknown and is ignored{}", name, base::hint_at_name(name, kKeys)));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> Registry::plugin_names() const {
  std::vector<std::string_view> out;
  for (const PluginFactory& one : plugins) out.push_back(one.name);
  return out;
}

std::vector<std::string_view> Registry::action_names() const {
  std::vector<std::string_view> out;
  for (const ActionFactory& one : actions) out.push_back(one.name);
  return out;
}

const PluginFactory* Config::find_plugin(std::string_view name) const {
  for (const PluginFactory& one : registry.plugins) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

const ActionFactory* Config::find_action(std::string_view name) const {
  for (const ActionFactory& one : registry.actions) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

bool Config::has_action(std::string_view name) const {
  return std::find(actions.begin(), actions.end(), name) != actions.end();
}

const api::Json& Config::arguments_of(std::string_view action) const {
  static const api::Json kNone;
  for (const auto& [name, arguments] : action_arguments) {
    if (name == action) return arguments;
  }
  return kNone;
}

std::string_view default_config_text() { return kDefaultConfig; }
std::string_view single_pods_config_text() { return kSinglePodsConfig; }

base::Result<Config> config_from(const api::Json& document, const Registry& registry) {
  Config config;
  config.registry = registry;
  if (!document.is_null() && !document.is_object()) return invalid("the configuration must be a map");
  TRY_VOID(check_keys(document, config));
  if (!document["actions"].is_null() && !document["actions"].is_string()) return invalid("actions must be a string");
  TRY_VOID(read_actions(document["actions"].as_string(), config));
  TRY_VOID(read_tiers(document["tiers"], config));
  if (!document["configurations"].is_null() && !document["configurations"].is_array())
    return invalid("configurations must be a list");
  for (const api::Json& item : document["configurations"].items()) {
    const std::string name = item["name"].str();
    if (config.find_action(name) == nullptr && name != "init-params") {
      config.warnings.push_back(base::format("configurations: {} is not an action and is ignored",
                                             name.empty() ? "an entry without a name" : name));
    }
    config.action_arguments.emplace_back(name, item["arguments"]);
  }
  if (!document["metrics"].is_null() && !document["metrics"].is_object()) return invalid("metrics must be a map");
  if (!document["compat"].is_null() && !document["compat"].is_object()) return invalid("compat must be a map");
  for (const auto& member : document["compat"].members()) {
    if (std::find(std::begin(kCompatNames), std::end(kCompatNames), member.name()) == std::end(kCompatNames)) {
      config.warnings.push_back(base::format("compat: {} is unknown and is ignored", member.name()));
    } else if (!member.value.is_bool()) {
      return invalid(base::format("compat: {} must be a boolean", member.name()));
    } else {
      config.compat.insert_or_assign(std::string(member.name()), member.value.as_bool());
    }
  }
  for (const auto& member : document["metrics"].members()) {
    config.metrics.emplace(member.name(), member.value.is_string() ? member.value.str() : member.value.dump());
  }
  const auto source = config.metrics.find("type");
  if (source != config.metrics.end() && source->second != "prometheus") {
    config.warnings.push_back(
        base::format("metrics: type {} is not available in this release, only prometheus; nodes count as unmeasured",
                     source->second));
  } else if (source != config.metrics.end() && !config.metrics.contains("address")) {
    config.warnings.push_back("metrics: address is missing; nodes count as unmeasured");
  }
  return config;
}

// The text of a whole ConfigMap's only configuration: of the key that the chart uses, or of the only one.
base::Result<std::string> text_in_config_map(const api::Json& document) {
  const api::Json& data = document["data"];
  if (const api::Json* own = data.find("volcano-scheduler.conf")) return own->str();
  const auto members = data.members();
  if (members.size() == 1 && members.begin()->value.is_string()) return members.begin()->value.str();
  return invalid(
      base::format("the file is a ConfigMap with {} keys, none of them volcano-scheduler.conf: give the text of one",
                   members.size()));
}

base::Result<Config> parse_config(std::string_view text, const Registry& registry) {
  TRY(const api::Json document, api::parse_yaml(base::trim(text)));
  if (document["kind"].as_string() != "ConfigMap") return config_from(document, registry);
  TRY(const std::string inner, text_in_config_map(document));
  TRY(const api::Json configuration, api::parse_yaml(base::trim(inner)));
  TRY(Config out, config_from(configuration, registry));
  out.warnings.push_back("the file is a whole ConfigMap; the text in its data is used");
  return out;
}

}  // namespace scheduler
