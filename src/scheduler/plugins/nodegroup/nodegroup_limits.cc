// How much may a queue use of each group of nodes, and how much does it use?
#include "scheduler/plugins/nodegroup/nodegroup_limits.h"

#include <algorithm>

namespace scheduler {

std::optional<NodeGroupLimits> NodeGroupLimits::of(Model& model, QueueId queue) {
  const api::Json* text = model.queue(queue).annotations.find("volcano.sh/nodegroup-resource-limits");
  if (text == nullptr || text->as_string().empty()) return std::nullopt;
  NodeGroupLimits out;
  out.queue_ = queue;
  const auto parsed = api::parse_json(text->as_string());
  out.valid_ = parsed.ok() && parsed->is_object();
  if (!out.valid_) return out;
  for (const auto& group : parsed->members()) {
    out.valid_ = out.valid_ && group.value.is_object();
    for (const auto& amount : group.value.members())
      out.valid_ = out.valid_ && api::Quantity::from_json(amount.value).has_value();
    std::map<Dim, double>& limits = out.limits_[std::string(group.name())];
    const api::ResourceList amounts = api::resource_list_from(group.value);
    model.dimensions.know(amounts);
    for (const auto& [name, quantity] : amounts) {
      const std::optional<Dim> dim = model.dimensions.dim_of(name);
      if (dim) limits[*dim] = static_cast<double>(Dimensions::amount_of(*dim, quantity));
    }
  }
  return out;
}

// The queue's tasks on nodes of each group, with what is promised in this cycle.
void NodeGroupLimits::follow(const Model& model) {
  if (seen_epoch_ == model.touched_epoch() && seen_touched_ == model.touched().size()) return;
  seen_epoch_ = model.touched_epoch();
  seen_touched_ = model.touched().size();
  used_.clear();
  const Symbol key = model.symbols.find(kNodeGroupLabel);
  if (!key.is_set()) return;
  model.for_each_job_unsorted([&](const Job& job) {
    if (job.queue != queue_) return;
    for (const TaskId id : job.tasks) {
      const Task& task = model.task(id);
      if (!task.node.is_set() || !(is_allocated_like(task.status) || task.status == TaskStatus::kPipelined)) continue;
      const Symbol group = value_of(model.nodes[task.node].labels, key);
      if (group.is_set()) used_[model.symbols.text(group)] += Resource(model.shape_of(task).request);
    }
  });
}

bool NodeGroupLimits::exceeds(const Model& model, const std::string& group, const Request& more) {
  const auto limit = limits_.find(group);
  if (limit == limits_.end()) return false;
  follow(model);
  const Resource sum = used_[group] + Resource(more);
  return std::any_of(limit->second.begin(), limit->second.end(),
                     [&](const auto& one) { return sum.get(one.first) - one.second >= kResourceEpsilon; });
}

}  // namespace scheduler
