// API objects in, the model kept current.
//
// The same intake serves a live scheduler (informers) and one-shot runs (files). It runs between cycles only, on the
// scheduler's loop. Objects are read leniently: admission has refused what is malformed, and what is left of it must
// not stop the others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "scheduler/cache/scheduler_share.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"

namespace scheduler {

struct IntakeOptions {
  std::vector<std::string> scheduler_names = {"volcano"};
  std::string default_queue = "default";
  std::vector<std::pair<std::string, std::string>> node_selector;  // any may match; empty: every node
  bool priority_classes = true;
  FeatureGates gates;
  ShardingMode sharding_mode = ShardingMode::kNone;
  std::string sharding_name = "volcano";
  bool claims_nodes = false;  // of hard shards, before they are used: see NodeShards::claims_first
  SchedulerShare share;
  bool csi_storage = true;  // read CSIDriver and CSIStorageCapacity
  // Each pod stands for itself: there are no groups and queues, and who decides pods one by one is told of each.
  bool single_pods = false;
};

// An event of a single pod of ours; the model says the rest.
struct PodNews {
  enum class Kind : std::uint8_t {
    kWaits,     // it has no node, and nothing holds it back
    kLeft,      // it is gone, is not ours any more, or has a node
    kNotBound,  // a node was found for it, and it is not there
  };
  Kind kind = Kind::kWaits;
  std::string key;
  std::string uid;
  std::int64_t urgency = 0;  // kWaits: volcano.sh/scheduling-priority
  bool is_other = true;      // kWaits: it is new, or differs in what decisions read
};

// The same, and what pods of anybody did to nodes, since the last call of take_pod_news().
struct PodNewsList {
  std::vector<PodNews> pods;
  std::vector<std::string> claims;  // keys of ResourceClaims that came or changed
  bool room_came = false;           // a pod left a node, or asks for something else there
  bool some_placed = false;         // a pod came to a node
};

class Intake {
 public:
  Intake(Model& model, Ledger& ledger, IntakeOptions options)
      : model_(model), ledger_(ledger), options_(std::move(options)) {
    model_.gates = options_.gates;
    model_.shards.mode = options_.sharding_mode;
    model_.shards.own_name = options_.sharding_name;
    model_.shards.claims_first = options_.claims_nodes && options_.sharding_mode == ShardingMode::kHard;
    model_.volumes.reads_capacities = options_.csi_storage;
    drops_fields_ = switches_fields_off(options_.gates);
  }

  // The resources that the scheduler reads, in the order in which they are best listed.
  static const std::vector<api::ResourceId>& resources();
  static bool reads(const api::ResourceId& id);
  // Resources that concern groups and queues alone; single pods do not need them.
  static bool concerns_groups(const api::ResourceId& id);
  // Flags and gates may leave some unread, which are not asked for then (the account need not have the right), and are
  // passed over in files.
  bool is_switched_on(const api::ResourceId& id) const;
  // The resources that a scheduler with these options asks for, in that order.
  std::vector<api::ResourceId> watched() const;
  // A cluster may lack these of them: the scheduler works without.
  static bool may_be_absent(const api::ResourceId& id);

  // An object exists in this state now; or it is gone. True when a decision could differ.
  bool set(const api::ResourceId& id, const api::Json& object);
  bool remove(const api::ResourceId& id, const api::Json& object);
  // The same for what a request of ours was answered. Answers and watches travel apart, so it counts only for an object
  // that the watch has shown and not taken back, and only if it is not older.
  bool set_answer(const api::ResourceId& id, const api::Json& object);

  // Effects that are under way: the model believes them until the API server says otherwise.
  void bind_failed(std::string_view pod_key, std::string_view uid);
  // It is gone, goes, or has ended, whether or not it was bound.
  bool pod_is_over(std::string_view key, std::string_view uid) const;
  void eviction_failed(std::string_view pod_key, std::string_view uid);
  // The PodGroup of a pod, where there is one.
  struct GroupName {
    std::string name;
    std::string uid;
  };
  std::optional<GroupName> group_of_pod(std::string_view key) const;
  // The pod's condition is being written, though no cycle said it.
  void pod_told(std::string_view key, std::string_view uid, std::string_view reason, std::string_view message);
  // The pod has its node and waits for a volume: its group says so with the next cycle.
  void binding_waits(std::string_view key);
  // The next state of the group counts, also if it is not newer than the last one.
  void forget_group_version(const std::string& key);
  // These statuses could not be written: what they should say is written again.
  void queue_status_lost(std::string_view name, const std::vector<std::string>& gone);
  void pod_status_lost(std::string_view key, std::string_view uid);
  // No write of the own NodeShard's status is under way any more: what the watch showed meanwhile counts.
  void shard_write_ended();
  const std::string& shard_version() const { return model_.shards.own_version(); }

  // Only where pods are scheduled one by one.
  PodNewsList take_pod_news() { return std::exchange(pod_news_, {}); }

  const IntakeOptions& options() const { return options_; }

 private:
  bool set_pod(const api::Json& pod);
  bool remove_pod(const api::Json& pod);
  bool set_node(const api::Json& node);
  bool remove_node(const api::Json& node);
  bool set_group(const api::Json& group);
  void recall_round(const api::Json& group, JobId id);
  bool remove_group(const api::Json& group);
  bool set_queue(const api::Json& queue);
  bool remove_queue(const api::Json& queue);
  bool set_hyper_node(const api::Json& object);
  bool remove_hyper_node(const api::Json& object);
  void set_topology(const api::Json& group, JobId id);
  bool set_storage(const api::ResourceId& id, const api::Json& object, bool exists);
  bool set_policy(const api::ResourceId& id, const api::Json& object, bool exists);
  bool set_devices(const api::ResourceId& id, const api::Json& object, bool exists);
  bool set_workload(const api::ResourceId& id, const api::Json& object, bool exists);
  bool set_priority_class(const api::Json& object, bool exists);
  void touch_jobs_of(QueueId queue);
  bool is_ours(const api::Json& pod) const;
  // The same for single pods, with the news of it (intake_single_pods.cc).
  bool set_single_pod(const api::Json& pod);
  bool remove_single_pod(const api::Json& pod);
  void note_not_bound(std::string_view key, std::string_view uid);
  bool take_pod(const api::Json& pod);
  bool drop_pod(const api::Json& pod);
  void forget_pod(TaskId id);
  // Some gate that is off takes fields of pods away (intake_gates.cc).
  static bool switches_fields_off(const FeatureGates& gates);
  api::Json without_gated_fields(api::Json pod) const;

  Model& model_;
  Ledger& ledger_;
  IntakeOptions options_;
  std::string default_priority_class_;
  PodNewsList pod_news_;
  std::optional<NodeShard> heard_shard_;  // the own one, as the watch showed it last
  bool drops_fields_ = false;
  bool told_of_policies_ = false;  // that a group has too many of its subgroups
};

// Readers shared with other parts.
TaskStatus task_status_of(const api::Json& pod);
GroupStatus group_status_from(const api::Json& status, SharedTexts& shared_texts);
api::Json to_json(const GroupStatus& status);

}  // namespace scheduler
