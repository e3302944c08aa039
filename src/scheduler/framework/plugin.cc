// Plugins, and the questions that the configured ones answer.
#include "scheduler/framework/plugin.h"

#include <algorithm>

#include "base/format.h"
#include "base/meant.h"
#include "scheduler/framework/config.h"

namespace scheduler {
namespace {

// The places that list a plugin, in order.
std::vector<Occurrence> occurrences_of(const Config& config, std::string_view name) {
  std::vector<Occurrence> out;
  int position = 0;
  for (std::size_t tier = 0; tier < config.tiers.size(); ++tier) {
    for (const PluginEntry& entry : config.tiers[tier]) {
      if (entry.name == name) out.push_back({&entry, static_cast<int>(tier), position});
      ++position;
    }
  }
  return out;
}

template <class Answers>
void sort_by_position(Answers& answers) {
  std::stable_sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) { return a.plugin < b.plugin; });
}

}  // namespace

PluginSet::PluginSet(const Config& config, Model& model) {
  for (const std::vector<PluginEntry>& tier : config.tiers) {
    for (const PluginEntry& entry : tier) listed_.push_back(entry.name);
  }
  std::vector<std::string_view> attached;
  for (const std::vector<PluginEntry>& tier : config.tiers) {
    for (const PluginEntry& entry : tier) {
      if (std::find(attached.begin(), attached.end(), entry.name) != attached.end()) continue;
      attached.push_back(entry.name);
      const PluginFactory* factory = config.find_plugin(entry.name);
      if (factory == nullptr) {
        warnings_.push_back(entry.name.empty()
                                ? "a plugin without a name is skipped"
                                : base::format("plugin {} is unknown and is skipped{}", entry.name,
                                               base::hint_at_name(entry.name, config.registry.plugin_names())));
        continue;
      }
      plugins_.push_back({entry.name, factory->make()});
      PluginSetup setup(*this, model, config, occurrences_of(config, entry.name));
      plugins_.back().plugin->attach(setup);
      for (const std::string& warning : setup.arguments().warnings()) warnings_.push_back(warning);
    }
  }
  std::apply([](auto&... slot) { (sort_by_position(slot.answers), ...); }, slots_);
  if (config.is_compat("victim-intersection")) return;
  for (auto& answer : std::get<Slot<Preemptable>>(slots_).answers) answer.starts_afresh = false;
  for (auto& answer : std::get<Slot<Reclaimable>>(slots_).answers) answer.starts_afresh = false;
  for (auto& answer : std::get<Slot<UnifiedEvictable>>(slots_).answers) answer.starts_afresh = false;
}

PluginSet::~PluginSet() = default;

template <class Call>
void PluginSet::for_each_timed(const Stopwatch& stopwatch, bool opening, std::vector<PluginTime>& times, Call call) {
  for (Entry& entry : plugins_) {
    const double before = stopwatch ? stopwatch().first : 0;
    call(*entry.plugin);
    if (stopwatch) times.push_back({entry.name, opening, stopwatch().first - before});
  }
}

void PluginSet::open(Session& session, const Stopwatch& stopwatch, std::vector<PluginTime>& times) {
  for_each_timed(stopwatch, true, times, [&](Plugin& plugin) { plugin.open(session); });
}

void PluginSet::close(Session& session, const Stopwatch& stopwatch, std::vector<PluginTime>& times) {
  for_each_timed(stopwatch, false, times, [&](Plugin& plugin) { plugin.close(session); });
}

PluginSetup::PluginSetup(PluginSet& set, Model& model, const Config& config, std::vector<Occurrence> occurrences)
    : set_(set),
      model_(model),
      config_(config),
      occurrences_(std::move(occurrences)),
      arguments_(occurrences_.back().entry->arguments, "plugin " + occurrences_.back().entry->name) {
  if (occurrences_.size() > 1) arguments_.warn("is listed more than once; the last listing's arguments count");
}

const api::Json& PluginSetup::configuration(std::string_view name) const { return config_.arguments_of(name); }

bool PluginSetup::hierarchy() const { return occurrences_.front().entry->is_on("enableHierarchy", false); }

bool PluginSetup::is_on(std::string_view keys) const {
  return std::any_of(occurrences_.begin(), occurrences_.end(),
                     [&](const Occurrence& one) { return is_on(*one.entry, keys); });
}

bool PluginSetup::is_compat(std::string_view quirk) const { return config_.is_compat(quirk); }

bool PluginSetup::is_on(const PluginEntry& entry, std::string_view keys) {
  if (keys.empty()) return true;
  const std::size_t bar = keys.find('|');
  if (entry.is_on(keys.substr(0, bar), true)) return true;
  return bar != std::string_view::npos && entry.is_on(keys.substr(bar + 1), true);
}

}  // namespace scheduler
