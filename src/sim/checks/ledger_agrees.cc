// The scheduler's belief of what it said is what the server has, whenever nothing of it is under way or in doubt.
//
// Compared at the beginning of each cycle, for every object of which the scheduler has seen the newest version.
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/format.h"
#include "base/split.h"
#include "scheduler/ledger/ledger.h"
#include "scheduler/model/model.h"
#include "sim/checks/all.h"
#include "sim/world/decisions.h"
#include "sim/world/world.h"

namespace sim {

using api::Json;

namespace {

class LedgerAgrees final : public Check {
 public:
  explicit LedgerAgrees(World& world) : world_(world) {}

  void begin() override {
    world_.decisions().on_beliefs([this](const scheduler::Model& model, const scheduler::Ledger& ledger) {
      compare_pods(model, ledger);
      compare_groups(model, ledger);
      compare_queues(model, ledger);
      compare_shard(model, ledger);
    });
  }

  // A check that never looked has seen nothing.
  void finish() override {
    if (pods_ == 0 || groups_ == 0 || queues_ == 0)
      violation("nothing", base::format("compared {} pods, {} groups, {} queues", pods_, groups_, queues_), "");
    if (is_sharded_ && shards_ == 0) violation("nothing", "compared no shard", "");
  }

 private:
  void violation(std::string_view what, std::string_view believed, std::string_view truth) {
    world_.chronicle().violation(
        "ledger-agrees", base::format("{}: the scheduler believes '{}', the server has '{}'", what, believed, truth));
  }
  void expect(const std::string& what, std::string_view believed, std::string_view truth) {
    if (believed != truth) violation(what, believed, truth);
  }

  static bool is_settled(const scheduler::Ledger& ledger, scheduler::Entry entry, std::string_view key) {
    return !ledger.flights.is_under_way(entry, key) && !ledger.flights.is_doubtful(entry, key);
  }

  void compare_pods(const scheduler::Model& model, const scheduler::Ledger& ledger) {
    for (const auto& [key, pod] : world_.truth().objects(api::resources::kPods)) {
      const scheduler::TaskId id = model.find_task(key);
      if (!id.is_set()) continue;
      const scheduler::TaskText& text = model.text(id);
      const std::string_view uid = api::uid_of(pod);
      if (text.uid != uid || text.resource_version != api::resource_version_of(pod)) continue;
      if (!is_settled(ledger, scheduler::Entry::kPodStatus, uid)) continue;
      ++pods_;
      const scheduler::PodReport& reports = ledger.pod(id);
      std::string_view reason, message;
      for (const Json& condition : pod["status"]["conditions"].items()) {
        if (condition["type"].as_string() != "PodScheduled" || condition["status"].as_string() != "False") continue;
        reason = condition["reason"].as_string();
        message = condition["message"].as_string();
      }
      expect("condition of pod " + key, reports.reason, reason);
      expect("condition of pod " + key, reports.message, message);
      if (!ledger.flights.is_under_way(scheduler::Entry::kGate, uid))
        expect("gate of pod " + key, model.task(id).gated ? "there" : "gone",
               pod["spec"]["schedulingGates"].size() > 0 ? "there" : "gone");
      expect("nominated node of pod " + key, reports.nominated_node, pod["status"]["nominatedNodeName"].as_string());
      const scheduler::Task& task = model.task(id);
      const bool ended =
          task.status == scheduler::TaskStatus::kSucceeded || task.status == scheduler::TaskStatus::kFailed;
      if (!ended && !ledger.flights.is_under_way(scheduler::Entry::kBinding, uid))
        expect("node of pod " + key, task.node.is_set() ? std::string_view(model.nodes[task.node].name) : "",
               pod["spec"]["nodeName"].as_string());
    }
  }

  void compare_groups(const scheduler::Model& model, const scheduler::Ledger& ledger) {
    for (const auto& [key, group] : world_.truth().objects(api::resources::kPodGroups)) {
      const scheduler::JobId id = model.find_job(key);
      if (!id.is_set()) continue;
      const scheduler::Job& job = model.job(id);
      if (!job.has_group || job.group_uid != api::uid_of(group)) continue;
      if (job.resource_version != api::resource_version_of(group)) continue;
      if (!is_settled(ledger, scheduler::Entry::kGroup, key)) continue;
      ++groups_;
      const scheduler::GroupStatus& reports = ledger.group(id).status;
      const Json& status = group["status"];
      expect("phase of group " + key, name_of(reports.phase), status["phase"].as_string());
      expect("counts of group " + key, base::format("{}/{}/{}", reports.running, reports.succeeded, reports.failed),
             base::format("{}/{}/{}", status["running"].as_int(), status["succeeded"].as_int(),
                          status["failed"].as_int()));
      std::string believed, truth;
      for (const auto& one : reports.conditions)
        believed += base::format("{} {} {} {}\n", one.type, one.status, one.reason, one.message);
      for (const Json& one : status["conditions"].items())
        truth += base::format("{} {} {} {}\n", one["type"].as_string(), one["status"].as_string(),
                              one["reason"].as_string(), one["message"].as_string());
      expect("conditions of group " + key, believed, truth);
      const scheduler::Symbol domain = ledger.group(id).domain;
      expect("domain of group " + key, domain.is_set() ? std::string_view(model.symbols.text(domain)) : "",
             api::annotation_of(group, "volcano.sh/job-allocated-hypernode"));
      expect("eviction round of group " + key, ledger.group(id).round.view(),
             api::annotation_of(group, scheduler::kEvictionRoundAnnotation));
    }
  }

  void compare_queues(const scheduler::Model& model, const scheduler::Ledger& ledger) {
    for (const auto& [name, queue] : world_.truth().objects(api::resources::kQueues)) {
      const scheduler::QueueId id = model.find_queue(name);
      if (!id.is_set() || model.queue(id).uid != api::uid_of(queue)) continue;
      if (model.queue(id).resource_version != api::resource_version_of(queue)) continue;
      if (!is_settled(ledger, scheduler::Entry::kQueue, name)) continue;
      ++queues_;
      const api::ResourceList truth = api::resource_list_from(queue["status"]["allocated"]);
      if (ledger.queue(id).allocated != truth)
        violation("allocated of queue " + name, api::to_json(ledger.queue(id).allocated).dump(),
                  api::to_json(truth).dump());
    }
  }

  void compare_shard(const scheduler::Model& model, const scheduler::Ledger& ledger) {
    if (model.shards.mode == scheduler::ShardingMode::kNone) return;
    is_sharded_ = true;
    const std::string& name = model.shards.own_name;
    const Json* shard = world_.truth().find(api::resources::kNodeShards, name);
    if (shard == nullptr || model.shards.own_version() != api::resource_version_of(*shard)) return;
    if (!ledger.shard() || !is_settled(ledger, scheduler::Entry::kShard, name)) return;
    ++shards_;
    const Json& status = (*shard)["status"];
    const auto compare = [&](std::string_view what, const std::set<std::string>& believed, const Json& truth) {
      std::set<std::string> names;
      for (const Json& node : truth.items()) names.insert(node.str());
      expect(base::format("{} of shard {}", what, name), listed(believed), listed(names));
    };
    compare("nodes desired", ledger.shard()->desired, (*shard)["spec"]["nodesDesired"]);
    compare("nodes in use", ledger.shard()->in_use, status["nodesInUse"]);
    compare("nodes to add", ledger.shard()->to_add, status["nodesToAdd"]);
    compare("nodes to remove", ledger.shard()->to_remove, status["nodesToRemove"]);
  }

  static std::string listed(const std::set<std::string>& names) {
    return base::join(std::vector<std::string>(names.begin(), names.end()), " ");
  }

  World& world_;
  std::uint64_t pods_ = 0, groups_ = 0, queues_ = 0, shards_ = 0;  // compared
  bool is_sharded_ = false;
};

}  // namespace

std::unique_ptr<Check> make_ledger_agrees(World& world, Settings&, base::Random&) {
  return std::make_unique<LedgerAgrees>(world);
}

}  // namespace sim
