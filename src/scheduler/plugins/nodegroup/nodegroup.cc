// Nodegroup: queues keep to the groups of nodes that they name.
#include <algorithm>
#include <memory>
#include <utility>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/nodegroup/groups_of_nodes.h"
#include "scheduler/plugins/nodegroup/nodegroup_limits.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

constexpr std::string_view kLimitInvalid = "node group resource limit annotation invalid";
constexpr std::string_view kLimitExceeded = "node group resource limit exceeded";

struct NodeGroupAffinity {
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

NodeGroupAffinity affinity_of(const api::Json& affinity) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const api::Json& together = affinity["nodeGroupAffinity"];
  const api::Json& apart = affinity["nodeGroupAntiAffinity"];
  return {texts(together[kRequired]), texts(together[kPreferred]), texts(apart[kRequired]), texts(apart[kPreferred])};
}

// Why nodes of the group do not take pods with these wishes; empty: they do.
std::string_view refusal_of(const NodeGroupAffinity& affinity_rules, const std::string& group) {
  if (!affinity_rules.any()) return "node group affinity not specified";
  bool pass = contains(affinity_rules.required, group) || contains(affinity_rules.preferred, group);
  if (contains(affinity_rules.anti_required, group))
    pass = false;
  else if (contains(affinity_rules.anti_preferred, group))
    pass = true;
  return pass ? "" : "node does not satisfy the node group affinity";
}

double score_of(const NodeGroupAffinity& affinity_rules, const std::string& group, bool ordered) {
  double total = contains(affinity_rules.required, group) ? 100 : 0;
  const auto at = std::find(affinity_rules.preferred.begin(), affinity_rules.preferred.end(), group);
  if (at != affinity_rules.preferred.end()) {
    const auto count = static_cast<double>(affinity_rules.preferred.size());
    total += ordered ? 50 * (count - static_cast<double>(at - affinity_rules.preferred.begin())) / count : 50;
  }
  if (contains(affinity_rules.anti_preferred, group)) total -= 1;
  return total;
}

// The meaning of the queue's preferences and limits for each group of nodes.
struct QueueView {
  QueueId queue;
  NodeGroupAffinity affinity_rules;
  std::optional<NodeGroupLimits> limits;

  // As of this NodeTable::static_generation().
  std::uint64_t generation = 0;
  NodeSet admitted;                  // by labels alone
  std::string_view outside_refusal;  // of nodes without a group
  struct Group {
    std::string_view refusal;
    double score = 0;
    const NodeGroupLimits::Amounts* limit = nullptr;
  };
  std::vector<Group> groups;           // by number
  std::vector<std::uint32_t> limited;  // groups that are admitted up to a limit

  bool is_invalid() const { return limits && !limits->valid(); }
};

// Wishes and limits are the queue's, which is a part of the pod's class (ClassKey), as is that some queue has changed.
class GroupFilter final : public NodeFilter {
 public:
  GroupFilter(GroupsOfNodes& groups, std::shared_ptr<const QueueView> view, const Request& request)
      : groups_(groups), view_(std::move(view)), request_(request) {}
  Reach reach() const override { return view_->limited.empty() ? Reach::kStatic : Reach::kCluster; }

  void narrow(NodeSet& nodes, Strictness, FitErrors* errors) override {
    if (errors != nullptr) explain(nodes, *errors);
    nodes &= view_->admitted;
    for (const std::uint32_t group : view_->limited) {
      if (is_exceeded(group)) nodes.subtract(groups_.members(group));
    }
  }
  bool fits(std::uint32_t n) override { return refusal(n).empty(); }

 private:
  bool is_exceeded(std::uint32_t group) {
    return NodeGroupLimits::exceeds(*view_->groups[group].limit, groups_.used(view_->queue, group), request_);
  }

  std::string_view refusal(std::uint32_t n) {
    if (view_->is_invalid()) return kLimitInvalid;
    const std::uint32_t group = groups_.of(n);
    if (group == GroupsOfNodes::kNone) return view_->outside_refusal;
    const QueueView::Group& one = view_->groups[group];
    if (!one.refusal.empty()) return one.refusal;
    return one.limit != nullptr && is_exceeded(group) ? kLimitExceeded : "";
  }

  void explain(const NodeSet& nodes, FitErrors& errors) {
    NodeSet bad = nodes;
    nodes.for_each([&](std::uint32_t n) {
      const std::string_view problem = refusal(n);
      if (problem.empty())
        bad.remove(n);
      else
        errors.add(problem, 1);
    });
    errors.add_unresolvable(bad);
  }

  GroupsOfNodes& groups_;
  const std::shared_ptr<const QueueView> view_;
  const Request& request_;
};

class GroupScorer final : public NodeScorer {
 public:
  GroupScorer(const GroupsOfNodes& groups, std::shared_ptr<const QueueView> view)
      : groups_(groups), view_(std::move(view)) {}
  Reach reach() const override { return Reach::kStatic; }
  double score(std::uint32_t n) override {
    const std::uint32_t group = groups_.of(n);
    return group == GroupsOfNodes::kNone ? 0 : view_->groups[group].score;
  }

 private:
  const GroupsOfNodes& groups_;
  const std::shared_ptr<const QueueView> view_;
};

class Nodegroup final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    Model& model = setup.model();
    model_ = &model;
    groups_ = std::make_unique<GroupsOfNodes>(model);
    strict_ = setup.arguments().get_bool("strict", true);
    ordered_ = setup.arguments().get_bool("enablePreferredOrder", false);
    inherits_ = setup.hierarchy();
    setup.on<Predicate>([this](const Task& task) -> std::unique_ptr<NodeFilter> {
      return std::make_unique<GroupFilter>(*groups_, view_for(task), model_->shape_of(task).request);
    });
    setup.on<NodeOrder>([this](const Task& task) -> std::unique_ptr<NodeScorer> {
      return std::make_unique<GroupScorer>(*groups_, view_for(task));
    });
    // The preferences of queues are remembered with the class, so a change of any queue makes other classes.
    setup.on<ClassKey>([&model](const Task& task) {
      const std::uint32_t queue = task.job.is_set() ? model.job(task.job).queue.index + 1 : 0;
      return queue + model.queue_changes * 0x85ebca6bu;
    });
  }

 private:
  // Facts about nodes are made anew for a class of pods when nodes have changed (NodeTable), so views need to follow
  // when somebody asks for one, and not after.
  std::shared_ptr<const QueueView> view_for(const Task& task) {
    const QueueId queue = task.job.is_set() ? model_->job(task.job).queue : QueueId{};
    if (std::exchange(queue_changes_, model_->queue_changes) != model_->queue_changes) views_.clear();
    const std::size_t slot = queue.is_set() ? queue.index + 1 : 0;
    if (views_.size() <= slot) views_.resize(slot + 1);
    std::shared_ptr<QueueView>& view = views_[slot];
    groups_->follow_labels();
    const std::uint64_t generation = model_->nodes.static_generation();
    if (view && view->generation == generation) return view;
    auto fresh = std::make_shared<QueueView>();
    fresh->queue = queue;
    fresh->affinity_rules = affinity_for(queue);
    if (queue.is_set()) fresh->limits = NodeGroupLimits::of(*model_, queue);
    fresh->generation = generation;
    look_at_groups(*fresh);
    return view = std::move(fresh);
  }

  void look_at_groups(QueueView& view) const {
    const bool takes_outside = !strict_ && !view.affinity_rules.any();
    view.outside_refusal = takes_outside ? "" : "node group label not found";
    view.admitted = NodeSet(model_->nodes.size());
    view.groups.resize(groups_->count());
    if (takes_outside && !view.is_invalid()) view.admitted |= groups_->outside();
    for (std::uint32_t i = 0; i < groups_->count(); ++i) {
      QueueView::Group& group = view.groups[i];
      const std::string& name = groups_->name(i);
      group.refusal = refusal_of(view.affinity_rules, name);
      group.score = score_of(view.affinity_rules, name, ordered_);
      if (view.is_invalid() || !group.refusal.empty()) continue;
      view.admitted |= groups_->members(i);
      group.limit = view.limits ? view.limits->of_group(name) : nullptr;
      if (group.limit != nullptr) view.limited.push_back(i);
    }
  }

  NodeGroupAffinity affinity_for(QueueId at) const {
    if (!at.is_set()) return {};
    const Model& model = *model_;
    NodeGroupAffinity out = affinity_of(model.queue(at).affinity);
    for (std::size_t steps = 0; inherits_ && !out.any() && steps < model.queue_count(); ++steps) {
      if (model.queue(at).name == "root") break;
      const std::string& parent = model.queue(at).parent;
      at = model.find_queue(parent.empty() ? "root" : parent);
      if (!at.is_set()) break;
      out = affinity_of(model.queue(at).affinity);
    }
    return out;
  }

  Model* model_ = nullptr;
  std::unique_ptr<GroupsOfNodes> groups_;
  bool strict_ = true, ordered_ = false, inherits_ = false;
  std::uint32_t queue_changes_ = 0;
  std::vector<std::shared_ptr<QueueView>> views_;  // by queue; the first is that of pods without one
};

}  // namespace

std::unique_ptr<Plugin> make_nodegroup() { return std::make_unique<Nodegroup>(); }

}  // namespace scheduler
