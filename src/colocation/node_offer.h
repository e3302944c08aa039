// The offer of the node to offline pods: how it is made, told and taken back.
#pragma once

#include "colocation/config_keeper.h"
#include "colocation/measured.h"
#include "colocation/policy/history.h"
#include "colocation/policy/offer.h"

namespace colocation {

// Owns the history of use, the offers of the last looks, and what the server was told. Asks the view for the node and
// its pods, and the configuration for what is offered. Loop thread only.
class NodeOffer {
 public:
  NodeOffer(const AgentMeans& means, const NodeView& view, const ConfigKeeper& config, AgentEvents& events);

  // Reads the history that an earlier agent kept.
  void start();
  // `files` writes the history now and then.
  void update(const MachineReading& look, const Measured& measured, rt::Worker& files);
  void take_back();
  const NodeAmounts& offered() const { return offered_; }
  const NodeAmounts& foreseen() const { return foreseen_; }

 private:
  void keep_history(rt::Worker& files);
  NodeAmounts offer_of(const MachineReading& look, const Measured& measured, const NodeAmounts& whole);
  void report(const NodeAmounts& amounts);
  void reported(const NodeAmounts& amounts, const base::Result<api::Json>& answer);

  const AgentMeans& means_;
  const NodeView& view_;
  const ConfigKeeper& config_;
  AgentEvents& events_;
  OfferRing ring_;
  UsageHistory history_;
  base::Duration history_saved_ = {};
  NodeAmounts offered_, foreseen_;
  base::Duration reported_at_ = {};
  bool reported_once_ = false, under_way_ = false;
};

}  // namespace colocation
