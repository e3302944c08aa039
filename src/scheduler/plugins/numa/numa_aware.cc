// Numa-aware: a pod that pins CPUs goes where its node's topology policy will admit it, on few NUMA nodes.
//
// An assignment is kept with the pod (DeviceAnnotations) until the pod leaves, or its node's agent reports anew. Pods
// that are on their way out hold nothing.
#include <algorithm>
#include <map>
#include <memory>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"
#include "scheduler/plugins/numa/numa_judge.h"
#include "scheduler/search/node_evaluators.h"

namespace scheduler {
namespace {

constexpr std::string_view kDecision = "volcano.sh/topology-decision";

class NumaFilter final : public NodeFilter {
 public:
  NumaFilter(NumaJudge& judge, NumaJudge::NumaRequestPtr request) : judge_(judge), request_(std::move(request)) {}
  Reach reach() const override { return Reach::kNode; }
  void narrow(NodeSet& nodes, Strictness, FitErrors* errors) override {
    NodeSet bad = nodes;
    nodes.for_each([&](std::uint32_t n) {
      const NumaAnswer& answer = judge_.answer(*request_, NodeId{n});
      if (answer.code == FitCode::kSuccess) return bad.remove(n);
      if (errors != nullptr) errors->add(answer.refusal, 1);
    });
    if (errors != nullptr) errors->add_unresolvable(bad);
    nodes.subtract(bad);
  }
  bool fits(std::uint32_t n) override { return judge_.answer(*request_, NodeId{n}).code == FitCode::kSuccess; }

 private:
  NumaJudge& judge_;
  const NumaJudge::NumaRequestPtr request_;
};

class NumaScorer final : public NodeScorer {
 public:
  NumaScorer(NumaJudge& judge, NumaJudge::NumaRequestPtr request, double weight)
      : judge_(judge), request_(std::move(request)), weight_(weight) {}
  // A node that stays a candidate may touch more NUMA nodes than before, and that scales all scores.
  Reach reach() const override { return Reach::kCluster; }
  Normalise normalise() const override { return Normalise::kReverseMax; }
  double weight() const override { return weight_; }
  std::int64_t raw(std::uint32_t n) override { return judge_.answer(*request_, NodeId{n}).numa_nodes; }

 private:
  NumaJudge& judge_;
  const NumaJudge::NumaRequestPtr request_;
  const double weight_;
};

class NumaAware final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    judge_ = std::make_unique<NumaJudge>(*model_);
    weight_ = setup.arguments().get_weight("weight", 1);
    setup.on<ClassKey>([this](const Task& task) -> std::uint32_t { return matters(task) ? 1 : 0; });
    setup.on<Predicate>([this](const Task& task) -> std::unique_ptr<NodeFilter> {
      if (!matters(task)) return nullptr;
      return std::make_unique<NumaFilter>(*judge_, judge_->request_of(model_->shape_of(task)));
    });
    setup.on<NodeOrder>([this](const Task& task) -> std::unique_ptr<NodeScorer> {
      const Shape& shape = model_->shape_of(task);
      const bool asks = !shape.numa_policy.empty() && shape.numa_policy != "none";
      if (weight_ == 0 || !asks || !matters(task)) return nullptr;
      return std::make_unique<NumaScorer>(*judge_, judge_->request_of(shape), weight_);
    });
    setup.on<TaskPlaced>([this](const Task& task) { return placed(task); });
    setup.on<TaskRemoved>([this](const Task& task) {
      if (is_releasing(task.status) || !task.node.is_set()) return;
      judge_->cpus_changed(task.node);
      if (model_->devices.cpus_of(task.id) != nullptr) model_->devices.revoke(task.id);
    });
  }

  void open(Session&) override { judge_->trim(); }

 private:
  bool matters(const Task& task) const {
    const Shape& shape = model_->shape_of(task);
    return shape.guaranteed && (!shape.numa_policy.empty() || !model_->numa.empty());
  }

  Refusal placed(const Task& task) {
    // An eviction that is taken back finds the pod's CPUs as they were.
    const bool is_new = task.status == TaskStatus::kAllocated || task.status == TaskStatus::kPipelined;
    if (!is_new || !matters(task)) return {};
    model_->devices.forget_cpus(task.id);
    judge_->cpus_changed(task.node);
    const NumaJudge::NumaRequestPtr request = judge_->request_of(model_->shape_of(task));
    const NumaAnswer& answer = judge_->answer(*request, task.node);
    if (answer.code != FitCode::kSuccess) return {"Numa", answer.refusal};
    std::optional<NumaResult> result = judge_->assign(*request, task.node);
    if (!result || result->all.empty()) return {};
    model_->devices.grant(task.id, {{std::string(kDecision), decision_of(task.node, *result)}});
    model_->devices.give_cpus(task.id, std::move(result->all));
    judge_->cpus_changed(task.node);
    return {};
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
  std::unique_ptr<NumaJudge> judge_;
  double weight_ = 1;
};

}  // namespace

std::unique_ptr<Plugin> make_numa_aware() { return std::make_unique<NumaAware>(); }

}  // namespace scheduler
