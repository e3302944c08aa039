// Network QoS (agent.md 9): the interfaces of pods, what online ones send, and the packet rules that hold offline ones
// to a rate together.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "colocation/config_keeper.h"
#include "colocation/journal.h"
#include "colocation/machine/network_reading.h"
#include "colocation/machine/observe.h"

namespace colocation {

// Owns the packet rules and the clock by which online pods are looked at. Asks the view for pods and the node, and the
// configuration for percentages. Loop thread only, but for the network, which is used on the worker.
class NetworkKeeper {
 public:
  NetworkKeeper(const AgentMeans& means, const NodeView& view, const ConfigKeeper& config, AgentEvents& events,
                Journal& journal);

  void start(rt::Worker& files);
  void stop();
  // A new configuration is in force: what cannot be done is reported anew.
  void begin_anew();
  // After a full look. Rules that another has taken away are put back.
  void follow(const MachineReading& look);
  // Takes the rules away, on the worker.
  void take_back();
  api::Json report() const;

 private:
  // Interfaces: online pods are counted at theirs, offline pods are held to the rate.
  struct Sides {
    std::vector<std::string> online, offline;
  };

  void rest();
  bool has_running_pods() const;
  NetworkRequest request_for(const MachineReading& look);
  void report_skipped(const PodFacts& pod);
  void found(const NetworkReading& reading);
  Sides sides_of(const NetworkReading& reading);
  void refuse(const std::string& why);
  void warn(const std::string& why);
  void look_at_counts();
  void counted(const base::Result<PacketCounts>& counts, const SentBytes& sent);
  void add_dropped(const PacketCounts& counts);
  void plan_check();
  void check();
  void checked(const SentBytes& now);
  void hold();
  void set(PacketRules rules);
  void was_set(const PacketRules& asked, const std::string& before, const base::Result<PacketRules>& done);
  std::string mark_path() const;

  const AgentMeans& means_;
  const NodeView& view_;
  const ConfigKeeper& config_;
  AgentEvents& events_;
  Journal& journal_;
  std::shared_ptr<PodNetwork> network_;  // on the worker
  std::string table_;
  rt::Worker* files_ = nullptr;
  rt::Loop::TimerId timer_ = 0;
  bool stopped_ = false, reads_ = false, checks_ = false;
  bool has_written_ = false;  // there may be a table of ours

  std::map<std::string, std::vector<std::string>> interfaces_;  // by uid
  Sides sides_;
  int sightless_ = 0;      // readings one after the other that saw no process of any pod
  bool is_blind_ = false;  // packets pass by the rules
  std::string trouble_;
  NetworkRates rates_;
  RateState rate_;
  std::optional<SentBytes> sent_;  // by online pods, at the check before
  base::Duration sent_at_ = {};
  std::optional<PacketRules> present_ = PacketRules();  // unset: nobody knows
  PacketCounts counts_;
  std::optional<SentBytes> offline_sent_;  // when the rules were counted before; unset: they are new
};

}  // namespace colocation
