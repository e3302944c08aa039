// Would a node give a pod the CPUs that it pins?
#include "scheduler/plugins/numa/numa_judge.h"

#include <algorithm>

#include "base/format.h"
#include "scheduler/model/core/digest.h"

namespace scheduler {
namespace {

constexpr std::size_t kRequestsMax = 256;
constexpr std::size_t kStatesMin = 1024;

void remove_all(CpuSet& from, const CpuSet& what) {
  std::erase_if(from, [&](std::int32_t cpu) { return std::binary_search(what.begin(), what.end(), cpu); });
}

bool is_same_layout(const NumaNode& a, const NumaNode& b) {
  return a.cpu_policy == b.cpu_policy && a.topology_policy == b.topology_policy && a.has_sets == b.has_sets &&
         a.reserved == b.reserved && a.cpus == b.cpus;
}

// Also pods that ask for no policy.
bool holds_everybody(const NumaNode* numa) {
  return numa != nullptr && numa->cpu_policy == "static" && numa->topology_policy != "none" &&
         !numa->topology_policy.empty();
}

std::uint64_t digest_of(const NumaNode& layout) {
  Digest out;
  out.add(layout.cpu_policy);
  out.add(layout.topology_policy);
  out.add(static_cast<std::uint64_t>(layout.reserved));
  for (const Cpu& cpu : layout.cpus) {
    for (const std::int32_t number : {cpu.id, cpu.numa, cpu.socket, cpu.core})
      out.add(static_cast<std::uint64_t>(number));
  }
  return out.value();
}

// As the kubelet takes them: from all the CPUs that the node has.
CpuSet reserved_of(const NumaNode& numa) {
  CpuSet all;
  for (const Cpu& cpu : numa.cpus) all.push_back(cpu.id);
  std::sort(all.begin(), all.end());
  return take_by_topology(numa, all, std::min(numa.reserved, static_cast<std::int32_t>(all.size())));
}

}  // namespace

void NumaJudge::trim() {
  if (requests_.size() > kRequestsMax)
    std::erase_if(requests_, [](const auto& one) { return one.second.use_count() == 1; });
  if (states_.size() <= kStatesMin + 2 * nodes_.size()) return;
  nodes_.clear();
  layouts_.clear();
  states_.clear();
  layout_by_digest_.clear();
  state_by_digest_.clear();
  ++epoch_;
}

NumaJudge::NumaRequestPtr NumaJudge::request_of(const Shape& shape) {
  NumaRequest request{
      .policy = shape.numa_policy == "none" ? "" : shape.numa_policy, .asks = {}, .by_state = {}, .epoch = epoch_};
  std::string key = base::format("{} {}", request.policy.size(), request.policy);
  for (const ContainerAsk& ask : shape.asks) {
    const std::int32_t count = ask.init ? 0 : whole_cpus(ask);
    if (count == 0) continue;
    request.asks.push_back({.name = ask.name, .init = false, .cpu = ask.cpu, .devices = {}});
    key += base::format(" {} {} {}", count, ask.name.size(), ask.name);
  }
  NumaRequestPtr& slot = requests_[key];
  if (!slot) slot = std::make_shared<NumaRequest>(std::move(request));
  return slot;
}

const NumaAnswer& NumaJudge::answer(NumaRequest& request, NodeId node) {
  const std::uint32_t state = state_of(node);
  if (request.epoch != epoch_) request.by_state.clear(), request.epoch = epoch_;
  if (request.by_state.size() <= state) request.by_state.resize(states_.size());
  std::unique_ptr<const NumaAnswer>& slot = request.by_state[state];
  if (!slot) slot = std::make_unique<const NumaAnswer>(judge(request, states_[state]));
  return *slot;
}

std::optional<NumaResult> NumaJudge::assign(const NumaRequest& request, NodeId node) {
  const State& state = states_[state_of(node)];
  if (state.layout == kNoLayout) return std::nullopt;
  const NumaNode& numa = layouts_[state.layout].facts;
  std::string refusal;
  if (request.policy.empty() && !holds_everybody(&numa)) return std::nullopt;
  return assign_cpus(numa, state.free, request.asks, refusal);
}

NumaAnswer NumaJudge::judge(const NumaRequest& request, const State& state) const {
  const auto refuse = [](FitCode code, std::string text) { return NumaAnswer{code, std::move(text), 0}; };
  const NumaNode* numa = state.layout == kNoLayout ? nullptr : &layouts_[state.layout].facts;
  const bool asks = !request.policy.empty();
  if (!asks && !holds_everybody(numa)) return {};
  if (numa == nullptr) return refuse(FitCode::kError, "numa info is empty");
  if (asks && numa->cpu_policy != "static") return refuse(FitCode::kError, "cpu manager policy isn't static");
  if (asks && numa->topology_policy != request.policy) {
    return refuse(FitCode::kError, base::format("task topology policy[{}] is different with node[{}]", request.policy,
                                                numa->topology_policy));
  }
  if (asks && !numa->has_sets) return refuse(FitCode::kError, "no topo information");
  if (asks && !state.publishes) return refuse(FitCode::kError, "cpu allocatable map is empty");
  std::string refusal;
  const std::optional<NumaResult> result = assign_cpus(*numa, state.free, request.asks, refusal);
  if (!result) return refuse(FitCode::kUnresolvable, std::move(refusal));
  return {FitCode::kSuccess, "", result->numa_nodes};
}

NumaJudge::NodeEntry& NumaJudge::of(NodeId node) {
  if (nodes_.size() <= node.index) nodes_.resize(model_.nodes.size());
  return nodes_[node.index];
}

// Nodes on which pods came, went or changed their status, and nodes that say something else than before.
void NumaJudge::follow() {
  const std::vector<std::uint32_t>& touched = model_.touched();
  if (touched_epoch_ != model_.touched_epoch()) {
    nodes_.clear();
    touched_epoch_ = model_.touched_epoch();
    touched_position_ = touched.size();
  }
  for (; touched_position_ < touched.size(); ++touched_position_) {
    const std::uint32_t node = touched[touched_position_];
    if (node < nodes_.size()) nodes_[node].is_current = false;
  }
}

std::uint32_t NumaJudge::state_of(NodeId node) {
  follow();
  NodeEntry& entry = of(node);
  if (entry.is_current) return entry.state;
  State state = find_state(node, entry);
  Digest digest;
  digest.add(state.layout);
  digest.add(std::uint64_t{state.publishes});
  for (const std::int32_t cpu : state.free) digest.add(static_cast<std::uint64_t>(cpu));
  entry.is_current = true;
  const auto [begin, end] = state_by_digest_.equal_range(digest.value());
  for (auto at = begin; at != end; ++at) {
    if (states_[at->second] == state) return entry.state = at->second;
  }
  entry.state = static_cast<std::uint32_t>(states_.size());
  state_by_digest_.emplace(digest.value(), entry.state);
  states_.push_back(std::move(state));
  return entry.state;
}

NumaJudge::State NumaJudge::find_state(NodeId node, NodeEntry& entry) {
  const NumaNode* numa = model_.numa.find(model_.nodes[node].name);
  if (numa == nullptr) return {};
  entry.layout = layout_for(*numa, entry.layout);
  State out{.layout = entry.layout, .publishes = !numa->allocatable.empty(), .free = numa->allocatable};
  for (const TaskId task : model_.nodes[node].tasks) {
    const CpuSet* taken = model_.devices.cpus_of(task);
    const TaskStatus status = model_.task(task).status;
    if (taken != nullptr && !is_releasing(status) && !is_terminated(status)) remove_all(out.free, *taken);
  }
  remove_all(out.free, layouts_[out.layout].reserved);
  return out;
}

// Machines of one kind are laid out alike: there are few.
std::uint32_t NumaJudge::layout_for(const NumaNode& facts, std::uint32_t likely) {
  if (likely < layouts_.size() && is_same_layout(layouts_[likely].facts, facts)) return likely;
  const std::uint64_t digest = digest_of(facts);
  const auto [begin, end] = layout_by_digest_.equal_range(digest);
  for (auto at = begin; at != end; ++at) {
    if (is_same_layout(layouts_[at->second].facts, facts)) return at->second;
  }
  const auto out = static_cast<std::uint32_t>(layouts_.size());
  layout_by_digest_.emplace(digest, out);
  layouts_.push_back({facts, reserved_of(facts)});
  layouts_.back().facts.allocatable.clear();
  return out;
}

}  // namespace scheduler
