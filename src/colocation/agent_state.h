// The state of the agent, all of it on its loop but for what runs on the worker.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/events/event_recorder.h"
#include "client/watch/informer.h"
#include "colocation/agent.h"
#include "colocation/machine/agent_lock.h"
#include "colocation/machine/group_writer.h"
#include "colocation/machine/observe.h"
#include "colocation/machine/stall_watch.h"
#include "colocation/policy/advice.h"
#include "colocation/policy/eviction.h"
#include "colocation/policy/history.h"
#include "colocation/policy/offer.h"

namespace colocation {

inline constexpr base::Duration kTick = base::seconds(1);         // between two looks at counters
inline constexpr base::Duration kFullPeriod = base::seconds(10);  // between two looks at everything
inline constexpr std::size_t kJournalMax = 1024;
inline constexpr const char* kNetworkWord = "network";            // of what is said once
inline constexpr base::Duration kReleaseMax = base::seconds(30);  // how long a pod counts as on its way out

// The use since the reading before.
struct Measured {
  base::Duration at;                                    // the uptime of the look
  NodeAmounts pods;                                     // of all pods
  NodeAmounts whole;                                    // what pressure is judged by
  NodeAmounts online;                                   // without what offline pods hold of the offer
  std::map<std::string, NodeAmounts> of_pod;            // by uid
  bool has_cpu = false, has_memory = false;             // whether there is a figure
  bool memory_stalls = false;                           // 150 ms of a second
  std::int64_t memory_total = 0, memory_available = 0;  // of the machine
};

// The words of the node's condition.
struct ConditionWords {
  std::string status, reason, message;
};

struct Agent::State : std::enable_shared_from_this<Agent::State> {
  State(rt::Env& the_env, client::Client& the_client, AgentOptions the_options);

  // agent.cc
  void start();
  void begin();
  void tick();
  void look(bool full);
  void stop(std::function<void()> done);
  void event(const api::Json& object, const char* type, const char* reason, std::string message);
  void event_once(const std::string& key, const char* reason, std::string message);  // about the agent
  api::Json own_object() const;
  const api::Json* node() const { return nodes ? nodes->find(options.node_name) : nullptr; }
  api::Json report() const;
  std::string trouble() const;

  // agent_config.cc
  void refresh_config();
  void keep_config_map();
  void switch_offer();
  void clean_up_offer();
  void set_node_marks(api::Json labels, api::Json annotations);

  // agent_round.cc
  void take(const MachineReading& look, bool full);
  Measured measure(const MachineReading& look) const;
  std::vector<GroupValue> wished(const MachineReading& look);
  void write_groups(const MachineReading& look);
  void take_report(const WriteReport& written);
  void offer(const MachineReading& look);
  void tell_offer(const NodeAmounts& amounts);
  client::Request condition_request(const ConditionWords& words) const;
  void tell_condition();

  // agent_eviction.cc
  void judge_pressure(bool counts);
  void set_taint(bool wanted, std::function<void()> then);
  void shed(NodeResource resource, std::int64_t excess, bool is_cleaning);
  void ask_gangs(std::vector<std::string> keys, std::function<void(std::map<std::string, GangFacts>)> then);
  void evict_next(std::shared_ptr<std::vector<Victim>> victims, std::size_t at, std::string message, std::string label);
  void evict(const PodFacts& pod, const std::string& message, const std::string& label, std::function<void(bool)> then);
  std::int64_t releasing(NodeResource resource) const;

  rt::Env& env;
  client::Client& client;
  AgentOptions options;
  SupportedFeatures supported;
  client::EventRecorder events;

  std::unique_ptr<client::Informer> nodes, pods, config_maps;
  std::map<std::string, PodFacts> facts;  // by uid
  std::unique_ptr<rt::Worker> worker;     // files
  std::shared_ptr<GroupWriter> writer;    // on the worker
  std::unique_ptr<StallWatch> stalls;
  std::optional<rt::Descriptor> lock;

  Config config;
  std::string config_text, config_error;
  bool configured = false;  // a configuration has been applied
  api::Json config_labels;  // of the node when it was
  bool config_map_under_way = false;
  bool cleaning = false;   // offline pods go because the offer is switched off
  bool had_offer = false;  // oversubscription was on
  bool marks_under_way = false, offer_under_way = false, taint_under_way = false, condition_under_way = false;

  rt::Loop::TimerId timer = 0;
  bool busy = false, dirty = false, stalled = false, ending = false;
  base::Duration full_next = {}, counts_next = {};
  std::optional<MachineReading> last_look;
  base::Duration last_look_at = {};
  Measured measured;
  OfferRing ring;
  UsageHistory history;
  Advice advice;
  base::Duration history_saved = {};
  NodeAmounts offered, foreseen;
  base::Duration told_at = {};
  bool told_once = false;
  ThrottleState throttle;
  std::optional<GroupValue> throttle_wish;
  PressureCount pressure;
  bool shedding = false;                          // an eviction is under way
  std::map<std::string, base::Duration> leaving;  // when a pod was first seen or told to go, by uid

  std::map<std::string, base::Duration> refused;  // until when a pod that may not go is left alone, by uid

  std::deque<JournalEntry> journal;
  std::deque<api::Json> shed_log;
  std::string group_trouble, condition_told;
  base::Duration condition_told_at = {};
  std::size_t failed_writes = 0;
  std::set<std::string> said;  // events that are said once
  std::set<std::string> pod_problems;
};

}  // namespace colocation
