// The configuration as it comes and changes, and the switch of the offer (agent.md 3.2 to 3.4, 6.4).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "client/watch/informer.h"
#include "colocation/agent_events.h"
#include "colocation/policy/config.h"

namespace colocation {

// Owns the watch of the ConfigMap, the configuration in force, and the state of the switch. Asks the view for the node,
// and the server to keep the map and the node's labels. Loop thread only.
class ConfigKeeper {
 public:
  // `applied` follows each new configuration.
  ConfigKeeper(const AgentMeans& means, const NodeView& view, AgentEvents& events, std::function<void()> applied);

  void start();
  void stop() { stopped_ = true; }
  // The node, its labels or the map have changed.
  void refresh();
  // The map is made where it is absent, and gets the sections that an older one lacks.
  void keep_map();
  const Config& config() const { return config_; }
  bool is_active(Feature feature) const { return colocation::is_active(feature, means_.supported, config_); }
  // Whether a configuration has come, be it refused.
  bool is_known() const { return known_; }
  const std::string& error() const { return error_; }
  // Offline pods go because the offer is switched off.
  bool is_cleaning() const { return cleaning_; }
  void end_cleaning() { cleaning_ = false; }

 private:
  void switch_offer();
  void set_node_marks(api::Json labels, api::Json annotations);

  const AgentMeans& means_;
  const NodeView& view_;
  AgentEvents& events_;
  std::function<void()> applied_;
  std::unique_ptr<client::Informer> maps_;
  Config config_;
  std::string text_, error_;
  bool known_ = false;
  bool stopped_ = false;
  api::Json labels_;  // of the node when the configuration came
  bool map_under_way_ = false, marks_under_way_ = false;
  bool cleaning_ = false;
  bool had_offer_ = false;  // oversubscription was on
};

}  // namespace colocation
