// The parts of the agent, how they are wired, and the clock of its rounds.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "colocation/group_keeper.h"
#include "colocation/machine/agent_lock.h"
#include "colocation/machine/stall_watch.h"
#include "colocation/network_keeper.h"
#include "colocation/node_condition.h"
#include "colocation/node_offer.h"
#include "colocation/pod_shedder.h"
#include "colocation/policy/advice.h"

namespace colocation {

// Each part owns its state, and gets in its constructor what it asks of others. All of it is on the agent's loop but
// for what runs on the worker.
struct Agent::State : std::enable_shared_from_this<Agent::State> {
  State(rt::Env& the_env, client::Client& the_client, AgentOptions the_options);

  void start();
  void begin();
  void tick();
  void look(bool full);
  void watch_pods();
  void take(const MachineReading& look, bool full);
  void new_config();
  void end();  // nothing is done afterwards
  void stop(std::function<void()> done);
  api::Json report() const;
  std::string trouble() const;

  rt::Env& env;
  client::Client& client;
  AgentOptions options;
  SupportedFeatures supported;
  rt::Guard guard;
  AgentMeans means;

  NodeView view;
  AgentEvents events;
  ConfigKeeper config;
  Measured measured;
  Journal journal;
  GroupKeeper groups;
  NetworkKeeper network;
  NodeOffer offer;
  NodeCondition condition;
  PodShedder shedder;
  Advice advice;

  std::unique_ptr<rt::Worker> worker;  // files
  std::unique_ptr<StallWatch> stalls;
  std::optional<rt::Descriptor> lock;
  std::string lock_trouble;  // why another agent's lock keeps this one from its work

  rt::Loop::TimerId timer = 0, second_look = 0;
  bool busy = false, dirty = false, ending = false;
  bool watches_pods = false;  // tasks of the machine stall for processors or disks: looks ask which pods' they are
  base::Duration full_next = {}, counts_next = {};
  std::optional<MachineReading> last_look;
  base::Duration last_look_at = {};
};

}  // namespace colocation
