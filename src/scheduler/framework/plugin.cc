// What is a plugin, and which questions do the configured ones answer?
#include "scheduler/framework/plugin.h"

#include "base/format.h"
#include "scheduler/framework/config.h"

namespace scheduler {

PluginSet::PluginSet(const Config& config, Model& model) {
  int position = 0;
  for (std::size_t tier = 0; tier < config.tiers.size(); ++tier) {
    for (const PluginEntry& entry : config.tiers[tier]) {
      const PluginFactory* factory = config.find_plugin(entry.name);
      if (factory == nullptr) {
        warnings_.push_back(base::format("plugin {} is unknown and is skipped", entry.name));
        continue;
      }
      plugins_.push_back({entry.name, factory->make()});
      PluginSetup setup(*this, model, entry, static_cast<int>(tier), position++);
      plugins_.back().plugin->attach(setup);
      for (const std::string& warning : setup.arguments().warnings()) warnings_.push_back(warning);
    }
  }
}

PluginSet::~PluginSet() = default;

void PluginSet::open(Session& session) {
  for (Entry& entry : plugins_) entry.plugin->open(session);
}

void PluginSet::close(Session& session) {
  for (Entry& entry : plugins_) entry.plugin->close(session);
}

PluginSetup::PluginSetup(PluginSet& set, Model& model, const PluginEntry& entry, int tier, int position)
    : set_(set), model_(model), entry_(entry), arguments_(entry.arguments, "plugin " + entry.name), tier_(tier),
      position_(position) {}

bool PluginSetup::hierarchy() const { return entry_.is_on("enableHierarchy", false); }

bool PluginSetup::is_on(std::string_view keys) const {
  if (keys.empty()) return true;
  const std::size_t bar = keys.find('|');
  if (entry_.is_on(keys.substr(0, bar), true)) return true;
  return bar != std::string_view::npos && entry_.is_on(keys.substr(bar + 1), true);
}

}  // namespace scheduler
