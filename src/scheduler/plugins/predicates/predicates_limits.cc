// How many volumes may be attached to a node, and where is most room for new ones?
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "scheduler/plugins/predicates/predicates_volumes.h"

namespace scheduler {
namespace {

using NamesByDriver = std::map<std::string, std::set<std::string>, std::less<>>;

void add_attached(const Model& model, const Shape& shape, NamesByDriver& out) {
  for (const Claim* claim : claims_of(model, shape)) {
    std::string driver = model.volumes.driver_of(*claim);
    if (driver.empty()) continue;
    out[std::move(driver)].insert(model.volumes.attached_name_of(*claim));
  }
}

// COMPAT(attach-counts): volumes count once per node against what the node's driver publishes, and nowhere else.
class VolumeLimitFilter final : public ClusterFilter {
 public:
  VolumeLimitFilter(const Model& model, NamesByDriver wanted) : model_(model), wanted_(std::move(wanted)) {}

  void apply(Sieve& sieve) override {
    NodeSet full = sieve.alive();
    full.clear();
    attached_by_node_.reset();
    for (const auto& [name, limits] : model_.volumes.attach_limits) {
      const NodeId node = model_.nodes.find(name);
      if (node.is_set() && sieve.alive().has(node.index) && exceeds(node, name, limits)) full.add(node.index);
    }
    sieve.refuse(full, FitCode::kUnschedulable, "node(s) exceed max volume count");
  }

 private:
  bool exceeds(NodeId node, const std::string& name, const std::map<std::string, std::int64_t>& limits) {
    const bool any =
        std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& pair) { return limits.contains(pair.first); });
    if (!any) return false;
    if (!attached_by_node_) find_attached();
    NamesByDriver attached;
    for (const TaskId id : model_.nodes[node].tasks) {
      const Task& task = model_.task(id);
      if (effects_of(task.status) & kEffectSeen) add_attached(model_, model_.shape_of(task), attached);
    }
    if (const auto here = attached_by_node_->find(name); here != attached_by_node_->end()) {
      for (const Volume* volume : here->second) attached[volume->driver].insert(Volumes::attached_name(*volume));
    }
    return std::any_of(wanted_.begin(), wanted_.end(), [&](const auto& pair) {
      auto limit = limits.find(pair.first);
      if (limit == limits.end()) return false;
      const std::set<std::string>& there = attached[pair.first];
      const auto fresh = std::count_if(pair.second.begin(), pair.second.end(),
                                       [&](const std::string& v) { return !there.contains(v); });
      return fresh > 0 && static_cast<std::int64_t>(there.size()) + fresh > limit->second;
    });
  }

  // Once for all nodes: there may be thousands of both.
  void find_attached() {
    attached_by_node_.emplace();
    for (const auto& [key, attachment] : model_.volumes.attachments) {
      const Volume* volume = model_.volumes.find_volume(attachment.second);
      if (volume != nullptr && wanted_.contains(volume->driver))
        (*attached_by_node_)[attachment.first].push_back(volume);
    }
  }

  const Model& model_;
  const NamesByDriver wanted_;
  std::optional<std::unordered_map<std::string_view, std::vector<const Volume*>>> attached_by_node_;
};

// Per class: what the pod asks for over what could be had; the mean over the classes.
class StorageScorer final : public NodeScorer {
 public:
  StorageScorer(const Model& model, const UtilizationShape& shape, double weight, const Task& task)
      : model_(model), shape_(shape), weight_(weight) {
    for (const Claim* claim : claims_of(model, model.shape_of(task))) {
      if (claim->volume.empty()) claims_.push_back(claim);
    }
  }
  Reach reach() const override { return Reach::kCluster; }
  double weight() const override { return weight_; }

  double score(std::uint32_t n) override {
    std::map<std::string_view, std::pair<double, double>> classes;  // wanted and offered
    for (const Claim* claim : claims_) {
      const StorageCapacity* room = model_.volumes.roomiest(*claim, model_.nodes[NodeId{n}].labels, model_.symbols);
      if (room == nullptr || !room->bytes) continue;
      auto& [wanted, offered] = classes[claim->storage_class];
      wanted += static_cast<double>(claim->bytes);
      offered += static_cast<double>(*room->bytes);
    }
    if (classes.empty()) return 0;
    double sum = 0;
    for (const auto& [name, amounts] : classes) {
      const auto [wanted, offered] = amounts;
      sum += at(offered == 0 || wanted > offered ? 100 : std::floor(wanted * 100 / offered));
    }
    return std::round(sum / static_cast<double>(classes.size()));
  }

 private:
  // The line through the points of the shape, in whole points.
  double at(double utilization) const {
    if (utilization <= shape_.front().first) return shape_.front().second;
    for (std::size_t i = 1; i < shape_.size(); ++i) {
      const auto [x0, y0] = shape_[i - 1];
      const auto [x1, y1] = shape_[i];
      if (utilization <= x1) return std::trunc(y0 + (y1 - y0) * (utilization - x0) / (x1 - x0));
    }
    return shape_.back().second;
  }

  const Model& model_;
  const UtilizationShape& shape_;
  double weight_;
  std::vector<const Claim*> claims_;
};

}  // namespace

std::unique_ptr<ClusterFilter> make_limit_filter(const Model& model, const Task& task) {
  if (model.shape_of(task).volumes.empty() || model.volumes.attach_limits.empty()) return nullptr;
  NamesByDriver wanted;
  add_attached(model, model.shape_of(task), wanted);
  return wanted.empty() ? nullptr : std::make_unique<VolumeLimitFilter>(model, std::move(wanted));
}

std::unique_ptr<NodeScorer> make_storage_scorer(const Model& model, const UtilizationShape& shape, double weight,
                                                const Task& task) {
  const Shape& pod = model.shape_of(task);
  if (weight == 0 || pod.volumes.empty() || model.volumes.capacities.empty()) return nullptr;
  return std::make_unique<StorageScorer>(model, shape, weight, task);
}

}  // namespace scheduler
