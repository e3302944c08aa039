// Plugins, and the questions that the configured ones answer.
//
// A plugin lives as long as its configuration. It says once, in attach(), which points it answers; open() and close()
// bracket each cycle. Answers read the live model; what a plugin keeps besides must follow the model's changes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/framework/arguments.h"
#include "scheduler/framework/extension_points.h"

namespace scheduler {

class Model;
class Session;
class PluginSetup;
struct PluginEntry;
struct Config;

// Reads a clock in seconds; decisions never see it. Without one nothing is timed.
using Stopwatch = std::function<std::pair<double, double>()>;  // wall, cpu

// Takes the value of a gauge: the metric's name without its prefix, the values of its labels.
using MetricSink = std::function<void(std::string_view name, const std::vector<std::string>& labels, double value)>;

// Takes the amount of a resource, in whole units.
using AmountSink = std::function<void(std::string_view resource, double amount)>;

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual void attach(PluginSetup& setup) = 0;
  // Before a cycle looks at the model: what objects say of the plugin's own settings may change what is counted. True
  // when the plugin may answer otherwise than before although nothing else has changed.
  virtual bool refresh() { return false; }
  virtual void open(Session&) {}
  virtual void close(Session&) {}
  // The plugin's figures of queues, jobs and devices, as of the last cycle. Between cycles.
  virtual void report(const MetricSink&) const {}
  // The resources that the task holds, in place of what its pod asks for.
  virtual void held_by(const Task&, const AmountSink&) const {}
};

// How long a plugin took to open or close a session.
struct PluginTime {
  std::string_view plugin;
  bool opening = true;
  double wall_s = 0;
};

template <class P>
struct Slot {
  Answers<typename P::Signature> answers;
};
template <class Tuple>
struct SlotsOf;
template <class... P>
struct SlotsOf<std::tuple<P...>> {
  using Type = std::tuple<Slot<P>...>;
};

// The plugins of one configuration, with one array of answers per point, in the order of the tiers.
class PluginSet {
 public:
  PluginSet(const Config& config, Model& model);
  ~PluginSet();
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  template <class P, class... A>
  decltype(auto) ask(const A&... args) const {
    return P::Fold::fold(std::get<Slot<P>>(slots_).answers, args...);
  }
  // Each answer by itself, with the name of the plugin that gives it.
  template <class P, class Visit, class... A>
  void ask_each(Visit&& visit, const A&... args) const {
    for (const auto& answer : std::get<Slot<P>>(slots_).answers)
      visit(std::string_view(listed_[static_cast<std::size_t>(answer.plugin)]), answer.call(args...));
  }
  template <class P>
  bool answers() const {
    return !std::get<Slot<P>>(slots_).answers.empty();
  }
  bool refresh() {
    bool out = false;
    for (Entry& entry : plugins_) out |= entry.plugin->refresh();
    return out;
  }
  // Times go to `times` where there is a stopwatch.
  void open(Session& session, const Stopwatch& stopwatch, std::vector<PluginTime>& times);
  void close(Session& session, const Stopwatch& stopwatch, std::vector<PluginTime>& times);
  void report(const MetricSink& sink) const {
    for (const Entry& entry : plugins_) entry.plugin->report(sink);
  }
  void held_by(const Task& task, const AmountSink& sink) const {
    for (const Entry& entry : plugins_) entry.plugin->held_by(task, sink);
  }
  // Unknown plugins and arguments that were not understood.
  const std::vector<std::string>& warnings() const { return warnings_; }
  // Some decision of these plugins depends on the time of day or on waiting times.
  bool depends_on_time() const { return depends_on_time_; }

 private:
  friend class PluginSetup;
  struct Entry {
    std::string name;
    std::unique_ptr<Plugin> plugin;
  };

  template <class Call>
  void for_each_timed(const Stopwatch& stopwatch, bool opening, std::vector<PluginTime>& times, Call call);

  std::vector<Entry> plugins_;
  std::vector<std::string> listed_;  // names by position in the configuration
  SlotsOf<AllPoints>::Type slots_;
  std::vector<std::string> warnings_;
  bool depends_on_time_ = false;
};

// A place in the configuration that lists a plugin. A plugin may be listed several times: the last listing's arguments
// count, and every listing asks it with its own switches.
struct Occurrence {
  const PluginEntry* entry;
  int tier;
  int position;
};

// The view that a plugin has while it is attached.
class PluginSetup {
 public:
  PluginSetup(PluginSet& set, Model& model, const Config& config, std::vector<Occurrence> occurrences);

  Model& model() const { return model_; }
  const Arguments& arguments() const { return arguments_; }
  // Whether some listing switches the points behind these keys ("a|b": either) on.
  bool is_on(std::string_view keys) const;
  bool hierarchy() const;  // enableHierarchy of the first listing
  bool is_compat(std::string_view quirk) const;
  // The `arguments` of an entry of `configurations`; null without any.
  const api::Json& configuration(std::string_view name) const;
  void depends_on_time() { set_.depends_on_time_ = true; }

  // The plugin answers this point, unless the configuration switches it off.
  template <class P, class Callable>
  void on(Callable call) {
    const std::function<typename P::Signature> answer(std::move(call));
    for (const Occurrence& one : occurrences_) {
      if (P::kKey.empty() && &one != &occurrences_.back()) continue;
      if (is_on(*one.entry, P::kKey))
        std::get<Slot<P>>(set_.slots_).answers.push_back({answer, one.tier, one.position});
    }
  }

 private:
  static bool is_on(const PluginEntry& entry, std::string_view keys);

  PluginSet& set_;
  Model& model_;
  const Config& config_;
  std::vector<Occurrence> occurrences_;
  Arguments arguments_;
};

}  // namespace scheduler
