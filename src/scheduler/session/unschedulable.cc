// Which wishes can never be met, even if every other pod left?
#include "scheduler/session/unschedulable.h"

#include <algorithm>
#include <set>

#include "base/format.h"
#include "scheduler/framework/amount_text.h"
#include "scheduler/framework/extension_points.h"

namespace scheduler {
namespace {

constexpr std::int64_t kPlacesMax = std::int64_t{1} << 32;

bool counts_for_start(TaskStatus status) {
  return status == TaskStatus::kPending || status == TaskStatus::kPipelined || is_allocated_like(status);
}

std::string text_of(const Dimensions& dimensions, Dim dim, double amount) {
  return amount_text(Dimensions::quantity_of(dim, amount), dimensions.name(dim));
}

// "asks for 64 cpu, the largest node has 32".
std::string asks_text(const Dimensions& dimensions, Dim dim, double wanted, std::string_view who, double has) {
  std::string more = text_of(dimensions, dim, wanted), less = text_of(dimensions, dim, has);
  if (more == less) {
    more = Dimensions::quantity_of(dim, wanted).to_string();
    less = Dimensions::quantity_of(dim, has).to_string();
  }
  return base::format("asks for {} {}, {} {}", more, dimensions.name(dim), who, less);
}

std::string no_node_has(const Dimensions& dimensions, Dim dim) {
  const std::string& name = dimensions.name(dim);
  if (name != kNoSuchResource) return "no node has " + name;
  return base::format("no node has a resource that it names, which is not among the first {} names", kResourceNamesMax);
}

// The parts of a request, in an order that does not depend on which object came first.
std::vector<Part> ordered(const Dimensions& dimensions, const Request& request) {
  std::vector<Part> parts(request.parts.begin(), request.parts.end());
  std::ranges::sort(parts, [&](const Part& a, const Part& b) { return stands_before(dimensions, a.dim, b.dim); });
  return parts;
}

bool set_reason(WaitReason& out, WaitKind kind, std::string detail) {
  out.kind = kind;
  out.is_impossible = true;
  out.detail = std::move(detail);
  return true;
}

}  // namespace

std::int64_t Unschedulable::most(Dim dim) {
  const auto [slot, added] = most_.try_emplace(dim, 0);
  if (!added) return slot->second;
  const Column& has = model_.nodes.allocatable(dim);
  std::int64_t& largest = slot->second;
  model_.nodes.known().for_each([&](std::uint32_t n) {
    if (n < has.size()) largest = std::max(largest, has[n]);
  });
  return largest;
}

std::int64_t Unschedulable::places(ShapeId shape) {
  const auto [slot, added] = places_.try_emplace(shape.index, 0);
  if (!added) return slot->second;
  std::vector<std::pair<const Column*, std::int64_t>> wanted;
  for (const Part& part : model_.shape(shape).request.parts) {
    if (part.amount > 0) wanted.emplace_back(&model_.nodes.allocatable(part.dim), part.amount);
  }
  std::int64_t sum = 0;
  model_.nodes.known().for_each([&](std::uint32_t n) {
    std::int64_t here = kPlacesMax;
    for (const auto& [has, amount] : wanted) here = std::min(here, n < has->size() ? (*has)[n] / amount : 0);
    sum = std::min(sum + std::max<std::int64_t>(here, 0), kPlacesMax);
  });
  return slot->second = sum;
}

template <class Counts>
Unschedulable::Shapes Unschedulable::shapes_of(const Job& job, Counts&& counts) const {
  Shapes out;
  for (const TaskId id : job.tasks) {
    const Task& task = model_.task(id);
    if (!counts(task.status)) continue;
    if (!out.empty() && out.back().first == task.shape)
      ++out.back().second;
    else
      out.emplace_back(task.shape, 1);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.first.index < b.first.index; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (kept > 0 && out[kept - 1].first == out[i].first)
      out[kept - 1].second += out[i].second;
    else
      out[kept++] = out[i];
  }
  out.resize(kept);
  return out;
}

Resource Unschedulable::need_of(const Shapes& shapes, std::int32_t count) const {
  Resource out;
  std::set<Dim> dims;
  for (const auto& one : shapes) {
    for (const Part& part : model_.shape(one.first).request.parts) dims.insert(part.dim);
  }
  std::vector<std::pair<std::int64_t, std::int32_t>> amounts;
  for (const Dim dim : dims) {
    amounts.clear();
    for (const auto& [shape, pods] : shapes) amounts.emplace_back(model_.shape(shape).request.get(dim), pods);
    std::sort(amounts.begin(), amounts.end());
    double sum = 0;
    std::int32_t left = count;
    for (const auto& [amount, pods] : amounts) {
      const std::int32_t taken = std::min(left, pods);
      sum += static_cast<double>(amount) * taken;
      left -= taken;
    }
    if (sum > 0 || dim < kPods) out.set(dim, sum);
  }
  return out;
}

Resource Unschedulable::need_of_pending(const Job& job, std::int32_t count) const {
  return need_of(shapes_of(job, [](TaskStatus status) { return status == TaskStatus::kPending; }), count);
}

std::string Unschedulable::why_no_node(const Request& request) {
  const Part* worst = nullptr;
  const auto excess = [&](const Part& part) {
    return static_cast<double>(part.amount) / static_cast<double>(most(part.dim));
  };
  const std::vector<Part> parts = ordered(model_.dimensions, request);
  for (const Part& part : parts) {
    if (part.amount <= most(part.dim)) continue;
    if (most(part.dim) <= 0) return no_node_has(model_.dimensions, part.dim);
    if (worst == nullptr || excess(part) > excess(*worst)) worst = &part;
  }
  if (worst != nullptr)
    return asks_text(model_.dimensions, worst->dim, static_cast<double>(worst->amount), "the largest node has",
                     static_cast<double>(most(worst->dim)));
  std::string list;
  for (const Part& part : parts) {
    if (part.amount <= 0 || part.dim == kPods) continue;
    list += base::format("{}{} {}", list.empty() ? "" : " and ",
                         text_of(model_.dimensions, part.dim, static_cast<double>(part.amount)),
                         model_.dimensions.name(part.dim));
  }
  return base::format("asks for {}, which no node has together", list);
}

bool Unschedulable::is_pod(const Job& job, const Shapes& shapes, std::int32_t count, WaitReason& out) {
  if (std::all_of(shapes.begin(), shapes.end(), [&](const auto& one) { return places(one.first) > 0; })) return false;
  std::int32_t hopeful = 0;
  TaskId first;  // of the others, by name
  for (const TaskId id : job.tasks) {
    const Task& task = model_.task(id);
    if (!counts_for_start(task.status)) continue;
    const bool may_start = task.status != TaskStatus::kPending || places(task.shape) > 0;
    hopeful += may_start ? 1 : 0;
    if (!may_start && (!first.is_set() || model_.text(id).name < model_.text(first).name)) first = id;
  }
  if (hopeful >= count) return false;
  if (!first.is_set()) return false;
  out.pod = model_.text(first).name.str();
  return set_reason(out, WaitKind::kResources, why_no_node(model_.shape_of(model_.task(first)).request));
}

bool Unschedulable::is_sum(const Request& request, WaitReason& out) {
  const auto total = [&](const Part& part) { return model_.nodes.total().get(part.dim); };
  const auto is_more = [&](const Part& part) { return part.dim != kPods && part.amount > total(part); };
  if (std::ranges::none_of(request.parts, is_more)) return false;
  std::vector<Part> parts = ordered(model_.dimensions, request);
  std::erase_if(parts, [&](const Part& part) { return !is_more(part); });
  const auto none = std::ranges::find_if(parts, [&](const Part& part) { return total(part) <= 0; });
  if (none != parts.end()) return set_reason(out, WaitKind::kResources, no_node_has(model_.dimensions, none->dim));
  const Part& first = parts.front();
  return set_reason(out, WaitKind::kResources,
                    asks_text(model_.dimensions, first.dim, static_cast<double>(first.amount),
                              "all nodes together have", static_cast<double>(total(first))));
}

bool Unschedulable::is_group(const Job& job, WaitReason& out) {
  const std::int32_t count = std::max(job.min_available, 1) - job.count(TaskStatus::kSucceeded);
  const Shapes shapes = shapes_of(job, counts_for_start);
  std::int32_t live = 0;
  for (const auto& one : shapes) live += one.second;
  if (count <= 0 || live < count) return false;
  if (is_pod(job, shapes, count, out)) return true;
  const Resource need = need_of(shapes, count);
  const bool is_whole = job.allocated_count() == 0;  // else some have places that the sums may not know any more
  std::optional<Dim> first;
  const auto total = [&](Dim d) { return static_cast<double>(model_.nodes.total().get(d)); };
  for (Dim d = 0; is_whole && d < need.size(); ++d)
    if (d != kPods && need.get(d) > total(d) && (!first || stands_before(model_.dimensions, d, *first))) first = d;
  if (first)
    return set_reason(out, WaitKind::kResources,
                      asks_text(model_.dimensions, *first, need.get(*first), "all nodes together have", total(*first)));
  if (is_whole && shapes.size() == 1 && places(shapes.front().first) < count) {
    return set_reason(out, WaitKind::kResources,
                      base::format("{} pods start together, empty nodes have room for {} of them", count,
                                   places(shapes.front().first)));
  }
  if (!job.queue.is_set()) return false;
  const auto shortage = plugins_.ask<QueueLimit>(model_.queue(job.queue), need, LimitQuestion::kEver);
  if (!shortage || !shortage->is_impossible()) return false;
  out.shortage = *shortage;
  return set_reason(out, WaitKind::kQueueLimit, {});
}

}  // namespace scheduler
