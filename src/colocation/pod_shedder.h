// Shedding offline pods (agent.md 7): when, which, and how the server is told.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "colocation/config_keeper.h"
#include "colocation/measured.h"
#include "colocation/node_offer.h"
#include "colocation/policy/eviction.h"

namespace colocation {

// Owns the count of pressure, the eviction that is under way, the pods on their way out or left alone, and the log.
// Asks the view for pods, the configuration for watermarks, and the offer to be gone before pods go. Loop thread only.
class PodShedder {
 public:
  // `measured` is the last measurement, also when an answer comes later.
  PodShedder(const AgentMeans& means, const NodeView& view, const Measured& measured, ConfigKeeper& config,
             NodeOffer& offer, AgentEvents& events);

  void stop() { stopped_ = true; }
  // The kernel reports that memory stalls.
  void record_stall() { stalled_ = true; }
  void reset_pressure() { pressure_.reset(); }
  // Follows the pods that come and go.
  void follow_pods();
  // `counts`: this look is one of those in a row.
  void judge(bool counts);
  bool is_leaving(const std::string& uid) const { return leaving_.contains(uid); }
  const std::deque<api::Json>& log() const { return log_; }

 private:
  using Victims = std::shared_ptr<std::vector<Victim>>;
  struct Order {
    std::string message, label;
  };

  void clean_up();
  void set_taint(bool wanted, std::function<void()> then);
  void shed(NodeResource resource, std::int64_t excess, bool is_cleaning);
  void ask_gangs(std::vector<std::string> keys, std::function<void(std::map<std::string, GangFacts>)> then);
  void evict_next(Victims victims, std::size_t at, const Order& order);
  void evict(const PodFacts& pod, const Order& order, std::function<void(bool)> then);
  void answered(const PodFacts& pod, const Order& order, const base::Result<api::Json>& done);
  std::int64_t releasing(NodeResource resource) const;

  const AgentMeans& means_;
  const NodeView& view_;
  const Measured& measured_;
  ConfigKeeper& config_;
  NodeOffer& offer_;
  AgentEvents& events_;
  PressureCount pressure_;
  bool stopped_ = false, stalled_ = false, taint_under_way_ = false;
  bool shedding_ = false;                          // an eviction is under way
  std::map<std::string, base::Duration> leaving_;  // when a pod was first seen or told to go, by uid
  std::map<std::string, base::Duration> refused_;  // until when a pod that may not go is left alone, by uid
  std::deque<api::Json> log_;
};

}  // namespace colocation
