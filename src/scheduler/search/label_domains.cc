// In which domain of a node label do the pods of a group lie, that share one?
#include "scheduler/search/label_domains.h"

#include <algorithm>
#include <map>

#include "base/format.h"

namespace scheduler {

// A pod that is on its way out is still there: a group that starts again waits for it, or joins it.
const LabelDomains::Finding& LabelDomains::find(const Job& job) {
  const Symbol key = job.extras().domain_key;
  const std::uint64_t labels = model_.nodes.static_generation();
  if (last_.job == job.id && last_.job_changes == job.changes && last_.labels == labels) return last_;
  last_ = {.job = job.id, .job_changes = job.changes, .labels = labels, .domain = {}};
  for (const TaskId id : job.tasks) {
    const Task& task = model_.task(id);
    if (!task.node.is_set() || is_terminated(task.status)) continue;
    const Symbol value = value_of(model_.nodes[task.node].labels, key);
    if (last_.is_placed && value != last_.domain.value) {
      last_.domain.value = {};
      break;
    }
    last_.domain.value = value;
    last_.is_placed = true;
  }
  NodeSet& nodes = last_.domain.nodes = model_.nodes.known();
  if (!last_.is_placed)
    nodes &= model_.nodes.nodes_with_key(key);
  else if (last_.domain.value.is_set())
    nodes &= model_.nodes.nodes_with(key, last_.domain.value);
  else
    nodes.clear();
  return last_;
}

const NodeSet* LabelDomains::around(const Task& task) {
  if (!task.job.is_set()) return nullptr;
  const Job& job = model_.job(task.job);
  if (!job.extras().domain_key.is_set()) return nullptr;
  if (confined_.second != nullptr && confined_.first == job.id) return &confined_.second->nodes;
  return &find(job).domain.nodes;
}

std::string LabelDomains::name_of(const Task& task) {
  const Job& job = model_.job(task.job);
  const bool is_confined = confined_.second != nullptr && confined_.first == job.id;
  const Symbol value = is_confined ? confined_.second->value : find(job).domain.value;
  return value.is_set()
             ? base::format("{}={}", model_.symbols.text(job.extras().domain_key), model_.symbols.text(value))
             : "";
}

std::vector<LabelDomain> LabelDomains::open_to(const Job& job) {
  const Finding& found = find(job);
  if (found.is_placed)
    return found.domain.value.is_set() ? std::vector<LabelDomain>{found.domain} : std::vector<LabelDomain>();
  std::map<std::string_view, LabelDomain> by_value;
  found.domain.nodes.for_each([&](std::uint32_t n) {
    const Symbol value = value_of(model_.nodes[NodeId{n}].labels, job.extras().domain_key);
    const auto [slot, is_new] = by_value.try_emplace(model_.symbols.text(value), LabelDomain{value, {}});
    if (!is_new) return;
    slot->second.nodes = model_.nodes.known();
    slot->second.nodes &= model_.nodes.nodes_with(job.extras().domain_key, value);
  });
  std::vector<LabelDomain> out;
  for (auto& [value, domain] : by_value) out.push_back(std::move(domain));
  return out;
}

}  // namespace scheduler
