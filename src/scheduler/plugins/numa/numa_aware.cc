// Numa-aware: a pod that pins CPUs goes where its node's topology policy will admit it, on few NUMA nodes.
//
// What is assigned is kept with the pod (DeviceNotes) until it leaves, or its node's agent reports anew. Pods that are
// on their way out hold nothing.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/numa/numa_assign.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

constexpr std::string_view kDecision = "volcano.sh/topology-decision";

struct Verdict {
  FitCode code = FitCode::kSuccess;
  std::string message;
  std::optional<NumaResult> result;  // when CPUs are assigned
};

Verdict judge(const Model& model, const Shape& shape, NodeId node, TaskId except) {
  const auto refuse = [](FitCode code, std::string message) { return Verdict{code, std::move(message), std::nullopt}; };
  const NumaNode* numa = model.numa.find(model.nodes[node].name);
  const bool asks = !shape.numa_policy.empty() && shape.numa_policy != "none";
  if (!asks && (numa == nullptr || numa->cpu_policy != "static" || numa->topology_policy == "none" ||
                numa->topology_policy.empty()))
    return {};
  if (numa == nullptr) return refuse(FitCode::kError, "numa info is empty");
  if (asks && numa->cpu_policy != "static") return refuse(FitCode::kError, "cpu manager policy isn't static");
  if (asks && numa->topology_policy != shape.numa_policy) {
    return refuse(FitCode::kError, base::format("task topology policy[{}] is different with node[{}]",
                                                shape.numa_policy, numa->topology_policy));
  }
  if (asks && !numa->has_sets) return refuse(FitCode::kError, "no topo information");
  if (asks && numa->allocatable.empty()) return refuse(FitCode::kError, "cpu allocatable map is empty");
  CpuSet free = numa->allocatable;
  for (const TaskId other : model.nodes[node].tasks) {
    const CpuSet* taken = other == except ? nullptr : model.devices.cpus_of(other);
    const TaskStatus status = model.task(other).status;
    if (taken == nullptr || is_releasing(status) || is_terminated(status)) continue;
    std::erase_if(free, [&](std::int32_t cpu) { return std::binary_search(taken->begin(), taken->end(), cpu); });
  }
  // As the kubelet takes them: from all the CPUs that the node has.
  CpuSet all;
  for (const auto& cpu : numa->cpus) all.push_back(cpu.id);
  std::sort(all.begin(), all.end());
  const CpuSet reserved = take_by_topology(*numa, all, std::min(numa->reserved, static_cast<std::int32_t>(all.size())));
  std::erase_if(free, [&](std::int32_t cpu) { return std::binary_search(reserved.begin(), reserved.end(), cpu); });
  Verdict out;
  std::string container;
  out.result = assign_cpus(*numa, free, shape.asks, container);
  if (!out.result)
    return refuse(FitCode::kUnresolvable, base::format("container {} cannot be assigned by numa", container));
  return out;
}

class NumaFilter final : public NodeFilter {
 public:
  NumaFilter(const Model& model, const Task& task) : model_(model), shape_(model.shape_of(task)) {}
  Reach reach() const override { return Reach::kNode; }
  void narrow(NodeSet& nodes, Strictness, FitErrors* errors) override {
    NodeSet bad = nodes;
    nodes.for_each([&](std::uint32_t n) {
      const Verdict verdict = judge(model_, shape_, NodeId{n}, TaskId{});
      if (verdict.code == FitCode::kSuccess) return bad.remove(n);
      if (errors != nullptr) errors->add(verdict.message, 1);
    });
    if (errors != nullptr) errors->add_unresolvable(bad);
    nodes.subtract(bad);
  }
  bool fits(std::uint32_t n) override { return judge(model_, shape_, NodeId{n}, TaskId{}).code == FitCode::kSuccess; }

 private:
  const Model& model_;
  const Shape& shape_;
};

class NumaScorer final : public NodeScorer {
 public:
  NumaScorer(const Model& model, const Task& task, double weight)
      : model_(model), shape_(model.shape_of(task)), weight_(weight) {}
  // A node that stays a candidate may touch more NUMA nodes than before, and that scales all scores.
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kReverseMax; }
  double weight() const override { return weight_; }
  std::int64_t raw(std::uint32_t n) override {
    const Verdict verdict = judge(model_, shape_, NodeId{n}, TaskId{});
    return verdict.result ? verdict.result->numa_nodes : 0;
  }

 private:
  const Model& model_;
  const Shape& shape_;
  const double weight_;
};

class NumaAware final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    weight_ = setup.arguments().get_weight("weight", 1);
    setup.on<ClassKey>([this](const Task& task) -> std::uint32_t { return matters(task) ? 1 : 0; });
    setup.on<Predicate>([this](const Task& task) -> std::unique_ptr<NodeFilter> {
      if (!matters(task)) return nullptr;
      return std::make_unique<NumaFilter>(*model_, task);
    });
    setup.on<NodeOrder>([this](const Task& task) -> std::unique_ptr<NodeScorer> {
      const Shape& shape = model_->shape_of(task);
      const bool asks = !shape.numa_policy.empty() && shape.numa_policy != "none";
      if (weight_ == 0 || !asks || !matters(task)) return nullptr;
      return std::make_unique<NumaScorer>(*model_, task, weight_);
    });
    setup.on<TaskPlaced>([this](const Task& task) -> Refusal {
      // An eviction that is taken back finds the pod's CPUs as they were.
      const bool is_new = task.status == TaskStatus::kAllocated || task.status == TaskStatus::kPipelined;
      if (!is_new || !matters(task)) return {};
      model_->devices.forget_cpus(task.id);
      Verdict verdict = judge(*model_, model_->shape_of(task), task.node, task.id);
      if (verdict.code != FitCode::kSuccess) return {"Numa", verdict.message};
      if (!verdict.result || verdict.result->all.empty()) return {};
      model_->devices.grant(task.id, {{std::string(kDecision), decision_of(task.node, *verdict.result)}});
      model_->devices.give_cpus(task.id, std::move(verdict.result->all));
      return {};
    });
    setup.on<TaskRemoved>([this](const Task& task) {
      if (is_releasing(task.status) || !task.node.is_set()) return;
      if (model_->devices.cpus_of(task.id) != nullptr) model_->devices.revoke(task.id);
    });
  }

 private:
  bool matters(const Task& task) const {
    const Shape& shape = model_->shape_of(task);
    return shape.guaranteed && (!shape.numa_policy.empty() || !model_->numa.empty());
  }

  // {"NUMA id": {"cpu": "how many"}}, as the node's agent reads it.
  std::string decision_of(NodeId node, const NumaResult& result) const {
    std::map<std::int32_t, CpuSet> by_numa;
    for (const Cpu& cpu : model_->numa.find(model_->nodes[node].name)->cpus) {
      if (std::binary_search(result.all.begin(), result.all.end(), cpu.id)) by_numa[cpu.numa].push_back(cpu.id);
    }
    api::Json out = api::Json::object();
    for (const auto& [numa, cpus] : by_numa) {
      out.set(std::to_string(numa), api::Json::object({{"cpu", std::to_string(cpus.size())}}));
    }
    return out.dump();
  }

  Model* model_ = nullptr;
  double weight_ = 1;
};

}  // namespace

std::unique_ptr<Plugin> make_numa_aware() { return std::make_unique<NumaAware>(); }

}  // namespace scheduler
