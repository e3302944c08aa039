// Which tasks of a group shall stand together, and which apart? (task-topology)
#include "scheduler/plugins/topology/task_buckets.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/split.h"

namespace scheduler {
namespace {

// Roles come from minTaskMember, too, and each is held against each.
constexpr std::size_t kRolesMax = 1024;
using RolesByName = std::unordered_map<std::string_view, std::uint32_t>;

// Positions of the named roles; nothing when one is unknown or named twice. Annotations name very many at times.
std::optional<std::vector<std::uint32_t>> roles_named(std::string_view list, const RolesByName& known) {
  std::vector<std::uint32_t> out;
  std::vector<bool> named(kRolesMax);
  for (const std::string_view name : base::split_words(list, ',')) {
    const auto found = known.find(name);
    if (found == known.end() || named[found->second]) return std::nullopt;
    named[found->second] = true;
    out.push_back(found->second);
  }
  return out;
}

bool relate(std::string_view groups, const RolesByName& known, std::vector<std::vector<bool>>& matrix) {
  using Roles = std::bitset<kRolesMax>;
  std::vector<Roles> rows(matrix.size());
  for (const std::string_view group : base::split_words(groups, ';')) {
    const auto roles = roles_named(group, known);
    if (!roles) return false;
    Roles all;
    for (const std::uint32_t role : *roles) all.set(role);
    for (const std::uint32_t role : *roles) {
      const bool is_itself = rows[role].test(role) || roles->size() == 1;
      rows[role] |= all;
      rows[role].set(role, is_itself);
    }
  }
  for (std::size_t a = 0; a < matrix.size(); ++a) {
    for (std::size_t b = 0; b < matrix.size(); ++b) matrix[a][b] = rows[a].test(b);
  }
  return true;
}

double score_of(const Request& request) {
  double out = 0;
  for (const Part& part : request.parts) {
    out += part.dim == kMemory ? static_cast<double>(part.amount) / (1024 * 1024) : static_cast<double>(part.amount);
  }
  return out;
}

}  // namespace

std::optional<RoleTopology> role_topology_from(const TaskTopologyPreference& preference, const Job& job) {
  const std::size_t count = job.roles.size();
  if (count > kRolesMax) return std::nullopt;
  RoleTopology out;
  out.together.assign(count, std::vector<bool>(count));
  out.apart = out.together;
  out.order.assign(count, 0);
  out.priority.assign(count, 0);
  RolesByName known;
  for (std::uint32_t role = 0; role < count; ++role)
    if (job.roles[role].is_used()) known.emplace(job.roles[role].name.view(), role);
  if (!relate(preference.affinity, known, out.together) || !relate(preference.anti_affinity, known, out.apart))
    return std::nullopt;
  const auto order = roles_named(preference.order, known);
  if (!order) return std::nullopt;
  for (std::size_t i = 0; i < order->size(); ++i) out.order[(*order)[i]] = static_cast<int>(order->size() - i);
  for (std::size_t a = 0; a < count; ++a) {
    for (std::size_t b = 0; b < count; ++b) {
      const int together = !out.together[a][b] ? 0 : a == b ? 2 : 3;
      const int apart = !out.apart[a][b] ? 0 : a == b ? 4 : 1;
      out.priority[a] = std::max({out.priority[a], together, apart});
    }
  }
  return out;
}

TaskBuckets::TaskBuckets(const Model& model, const Job& job, RoleTopology topology)
    : model_(model), topology_(std::move(topology)), related_(topology_.priority.size()) {
  for (std::uint32_t role = 0; role < related_.size(); ++role) {
    for (std::uint32_t other = 0; other < related_.size(); ++other) {
      if (topology_.together[role][other]) related_[role].together.push_back(other);
      if (topology_.apart[role][other]) related_[role].apart.push_back(other);
    }
  }
  std::vector<TaskId> tasks;
  for (const TaskId id : job.tasks) {
    const Task& task = model.task(id);
    const bool counts = task.node.is_set() || task.status == TaskStatus::kPending;
    if (counts && topology_.priority[task.role] > 0 && model.details.role_is_annotated(id)) tasks.push_back(id);
  }
  sort(tasks);
  std::map<std::uint32_t, std::uint32_t> bucket_of_node;
  for (const TaskId id : tasks) {
    const Task& task = model.task(id);
    if (!task.node.is_set()) {
      put(task, bucket_for(task.role));
      continue;
    }
    const auto known = bucket_of_node.find(task.node.index);
    const std::uint32_t bucket = known != bucket_of_node.end() ? known->second : add_bucket();
    bucket_of_node[task.node.index] = bucket;
    put(task, bucket);
  }
  for (Bucket& bucket : buckets_) {
    std::sort(bucket.waiting.begin(), bucket.waiting.end(),
              [&](TaskId a, TaskId b) { return model.text(a).uid < model.text(b).uid; });
    largest_ = std::max(largest_, bucket.size);
  }
}

// Tasks with a node first, then the user's order, then what constrains most, then the name.
void TaskBuckets::sort(std::vector<TaskId>& tasks) const {
  std::sort(tasks.begin(), tasks.end(), [&](TaskId a, TaskId b) {
    const Task &left = model_.task(a), &right = model_.task(b);
    if (left.node.is_set() != right.node.is_set()) return left.node.is_set();
    if (topology_.order[left.role] != topology_.order[right.role])
      return topology_.order[left.role] > topology_.order[right.role];
    if (topology_.priority[left.role] != topology_.priority[right.role])
      return topology_.priority[left.role] > topology_.priority[right.role];
    return model_.text(a).name < model_.text(b).name;
  });
}

std::uint32_t TaskBuckets::add_bucket() {
  buckets_.push_back({});
  buckets_.back().pull.assign(topology_.priority.size(), 0);
  return static_cast<std::uint32_t>(buckets_.size() - 1);
}

// The bucket that suits the role best; the lighter of equals; a new one rather than one that hinders.
std::uint32_t TaskBuckets::bucket_for(std::uint32_t role) {
  std::optional<std::uint32_t> best;
  std::int32_t most = 0;
  for (std::uint32_t i = 0; i < buckets_.size(); ++i) {
    const std::int32_t here = buckets_[i].pull[role];
    if (best && (here < most || (here == most && buckets_[i].score >= buckets_[*best].score))) continue;
    best = i;
    most = here;
  }
  return best && most >= 0 ? *best : add_bucket();
}

void TaskBuckets::put(const Task& task, std::uint32_t at) {
  Bucket& bucket = buckets_[at];
  const Request& request = model_.shape_of(task).request;
  of_task_[task.id.index] = at;
  ++bucket.size;
  for (const std::uint32_t other : related_[task.role].together) ++bucket.pull[other];
  for (const std::uint32_t other : related_[task.role].apart) --bucket.pull[other];
  if (task.node.is_set()) {
    ++bucket.on_node[task.node.index];
    return;
  }
  bucket.score += score_of(request);
  bucket.waiting.push_back(task.id);
  bucket.request += Resource(request);
}

std::optional<std::uint32_t> TaskBuckets::bucket_of(TaskId task) const {
  const auto found = of_task_.find(task.index);
  return found == of_task_.end() ? std::nullopt : std::optional(found->second);
}

void TaskBuckets::placed(const Task& task) {
  const auto at = bucket_of(task.id);
  if (!at) return;
  ++changes_;
  Bucket& bucket = buckets_[*at];
  ++bucket.on_node[task.node.index];
  PlacedNow& here = placed_now_[task.node.index];
  here.count.resize(topology_.priority.size());
  here.push.resize(topology_.priority.size());
  ++here.count[task.role];
  for (const std::uint32_t other : related_[task.role].apart) ++here.push[other];
  const auto waits = std::find(bucket.waiting.begin(), bucket.waiting.end(), task.id);
  if (waits == bucket.waiting.end()) return;
  bucket.waiting.erase(waits);
  bucket.request -= Resource(model_.shape_of(task).request);
}

void TaskBuckets::removed(const Task& task) {
  const auto at = bucket_of(task.id);
  if (!at || !task.node.is_set()) return;
  ++changes_;
  Bucket& bucket = buckets_[*at];
  // Taken back before this heard of the placement: another plugin refused it.
  if (std::find(bucket.waiting.begin(), bucket.waiting.end(), task.id) != bucket.waiting.end()) return;
  if (const auto here = bucket.on_node.find(task.node.index); here != bucket.on_node.end() && --here->second == 0)
    bucket.on_node.erase(here);
  if (const auto here = placed_now_.find(task.node.index);
      here != placed_now_.end() && here->second.count[task.role] > 0) {
    --here->second.count[task.role];
    for (const std::uint32_t other : related_[task.role].apart) --here->second.push[other];
  }
  if (is_releasing(task.status)) return;  // a pod that is evicted is not placed again
  const auto before = [&](TaskId a, TaskId b) { return model_.text(a).uid < model_.text(b).uid; };
  bucket.waiting.insert(std::lower_bound(bucket.waiting.begin(), bucket.waiting.end(), task.id, before), task.id);
  bucket.request += Resource(model_.shape_of(task).request);
}

double TaskBuckets::room(NodeId node, Dim dim) const {
  return static_cast<double>(model_.nodes.idle(dim)[node.index] + model_.nodes.releasing(dim)[node.index]);
}

void TaskBuckets::make_remainders(const Task& task, const Bucket& bucket) {
  remainders_ = {.stays = task.id, .change = changes_};
  for (Dim d = 0; d < bucket.request.size(); ++d) {
    if (!bucket.request.has(d)) continue;
    remainders_.dims.push_back(d);
    remainders_.amounts.push_back(bucket.request.get(d));
  }
  const std::vector<Dim>& dims = remainders_.dims;
  std::vector<double>& amounts = remainders_.amounts;
  amounts.reserve((bucket.waiting.size() + 1) * dims.size());
  for (const TaskId id : bucket.waiting) {
    if (id == task.id) continue;
    const std::size_t before = amounts.size() - dims.size();
    for (std::size_t i = 0; i < dims.size(); ++i) amounts.push_back(amounts[before + i]);
    for (const Part& part : model_.shape_of(model_.task(id)).request.parts) {
      const auto at = std::lower_bound(dims.begin(), dims.end(), part.dim);
      if (at == dims.end() || *at != part.dim) continue;  // it asks for nothing of this
      amounts[before + dims.size() + static_cast<std::size_t>(at - dims.begin())] -= static_cast<double>(part.amount);
      remainders_.falls &= part.amount >= 0;
    }
    ++remainders_.others;
  }
}

std::size_t TaskBuckets::left_out(NodeId node) {
  room_.clear();
  for (const Dim d : remainders_.dims) room_.push_back(room(node, d));
  const auto fits = [&](std::size_t step) {
    const double* wanted = remainders_.amounts.data() + step * room_.size();
    for (std::size_t i = 0; i < room_.size(); ++i) {
      if (wanted[i] > room_[i]) return false;  // both are whole numbers: no tolerance is needed
    }
    return true;
  };
  std::size_t low = 0, high = remainders_.others;
  if (!remainders_.falls) {
    while (low < high && !fits(low)) ++low;
    return low;
  }
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    fits(middle) ? high = middle : low = middle + 1;
  }
  return low;
}

std::int32_t TaskBuckets::score(const Task& task, NodeId node) {
  const auto at = bucket_of(task.id);
  if (!at) return 0;
  for (const Part& part : model_.shape_of(task).request.parts) {
    if (room(node, part.dim) < static_cast<double>(part.amount)) return 0;
  }
  const Bucket& bucket = buckets_[*at];
  if (remainders_.stays != task.id || remainders_.change != changes_) make_remainders(task, bucket);
  const auto here = bucket.on_node.find(node.index);
  std::int32_t out = here == bucket.on_node.end() ? 0 : here->second;
  if (const auto placed = placed_now_.find(node.index); placed != placed_now_.end()) {
    out -= placed->second.push[task.role];
  }
  return out + static_cast<std::int32_t>(bucket.waiting.size() - left_out(node));
}

}  // namespace scheduler
