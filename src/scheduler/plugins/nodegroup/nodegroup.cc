// Nodegroup: queues keep to the groups of nodes that they name.
#include <algorithm>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/nodegroup/nodegroup_limits.h"
#include "scheduler/search/node_by_node_filter.h"

namespace scheduler {
namespace {

struct GroupWishes {
  std::vector<std::string> required, preferred, anti_required, anti_preferred;
  bool any() const {
    return !required.empty() || !preferred.empty() || !anti_required.empty() || !anti_preferred.empty();
  }
};

std::vector<std::string> texts(const api::Json& list) {
  std::vector<std::string> out;
  for (const api::Json& item : list.items()) out.push_back(item.str());
  return out;
}

bool contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

GroupWishes wishes_of(const api::Json& affinity) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const api::Json& together = affinity["nodeGroupAffinity"];
  const api::Json& apart = affinity["nodeGroupAntiAffinity"];
  return {texts(together[kRequired]), texts(together[kPreferred]), texts(apart[kRequired]), texts(apart[kPreferred])};
}

// Depends on the queue of the pod, which is not part of its class: the answer is made for every pod anew.
class GroupFilter final : public NodeByNodeFilter {
 public:
  GroupFilter(const Model& model, GroupWishes wishes, bool strict, std::optional<NodeGroupLimits> limits,
              const Request& request)
      : model_(model),
        wishes_(std::move(wishes)),
        strict_(strict),
        limits_(std::move(limits)),
        request_(request),
        key_(model.symbols.find(kNodeGroupLabel)) {}
  Reach reach() const override { return Reach::kCluster; }

 private:
  std::string_view refusal(std::uint32_t n) override {
    if (limits_ && !limits_->valid()) return "node group resource limit annotation invalid";
    const Symbol value = key_.is_set() ? value_of(model_.nodes[NodeId{n}].labels, key_) : Symbol{};
    if (!value.is_set()) return !strict_ && !wishes_.any() ? "" : "node group label not found";
    if (!wishes_.any()) return "node group affinity not specified";
    const std::string& group = model_.symbols.text(value);
    bool pass = contains(wishes_.required, group) || contains(wishes_.preferred, group);
    if (contains(wishes_.anti_required, group))
      pass = false;
    else if (contains(wishes_.anti_preferred, group))
      pass = true;
    if (!pass) return "node does not satisfy the node group affinity";
    return limits_ && limits_->exceeds(model_, group, request_) ? "node group resource limit exceeded" : "";
  }

  const Model& model_;
  GroupWishes wishes_;
  bool strict_;
  std::optional<NodeGroupLimits> limits_;
  const Request& request_;
  Symbol key_;
};

class GroupScorer final : public NodeScorer {
 public:
  GroupScorer(const Model& model, GroupWishes wishes, bool ordered)
      : model_(model), wishes_(std::move(wishes)), ordered_(ordered), key_(model.symbols.find(kNodeGroupLabel)) {}
  Reach reach() const override { return Reach::kCluster; }
  double score(std::uint32_t n) override {
    const Symbol value = key_.is_set() ? value_of(model_.nodes[NodeId{n}].labels, key_) : Symbol{};
    if (!value.is_set()) return 0;
    const std::string& group = model_.symbols.text(value);
    double total = contains(wishes_.required, group) ? 100 : 0;
    const auto at = std::find(wishes_.preferred.begin(), wishes_.preferred.end(), group);
    if (at != wishes_.preferred.end()) {
      const auto count = static_cast<double>(wishes_.preferred.size());
      total += ordered_ ? 50 * (count - static_cast<double>(at - wishes_.preferred.begin())) / count : 50;
    }
    if (contains(wishes_.anti_preferred, group)) total -= 1;
    return total;
  }

 private:
  const Model& model_;
  GroupWishes wishes_;
  bool ordered_;
  Symbol key_;
};

class Nodegroup final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    const bool strict = setup.arguments().get_bool("strict", true);
    const bool ordered = setup.arguments().get_bool("enablePreferredOrder", false);
    const bool inherits = setup.hierarchy();
    setup.on<Predicate>([&model, strict, inherits](const Task& task) -> std::unique_ptr<NodeFilter> {
      const QueueId queue = task.job.is_set() ? model.job(task.job).queue : QueueId{};
      return std::make_unique<GroupFilter>(model, wishes_for(model, task, inherits), strict,
                                           queue.is_set() ? NodeGroupLimits::of(model, queue) : std::nullopt,
                                           model.shape_of(task).request);
    });
    setup.on<NodeOrder>([&model, ordered, inherits](const Task& task) -> std::unique_ptr<NodeScorer> {
      return std::make_unique<GroupScorer>(model, wishes_for(model, task, inherits), ordered);
    });
    // What queues wish is remembered with the class, so a change of any queue makes other classes.
    setup.on<ClassKey>([&model](const Task& task) {
      const std::uint32_t queue = task.job.is_set() ? model.job(task.job).queue.index + 1 : 0;
      return queue + model.queue_changes * 0x85ebca6bu;
    });
  }

 private:
  static GroupWishes wishes_for(const Model& model, const Task& task, bool inherits) {
    if (!task.job.is_set() || !model.job(task.job).queue.is_set()) return {};
    QueueId at = model.job(task.job).queue;
    GroupWishes out = wishes_of(model.queue(at).affinity);
    for (std::size_t steps = 0; inherits && !out.any() && steps < model.queue_count(); ++steps) {
      if (model.queue(at).name == "root") break;
      const std::string& parent = model.queue(at).parent;
      at = model.find_queue(parent.empty() ? "root" : parent);
      if (!at.is_set()) break;
      out = wishes_of(model.queue(at).affinity);
    }
    return out;
  }
};

}  // namespace

std::unique_ptr<Plugin> make_nodegroup() { return std::make_unique<Nodegroup>(); }

}  // namespace scheduler
