// PDB: victims are chosen within what PodDisruptionBudgets still allow.
//
// COMPAT(pdb-unlabelled): a pod without labels is never a victim, although no budget can select it; the configuration
// can switch that off.
#include "scheduler/framework/plugin.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

class Pdb final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    spares_unlabelled_ = setup.is_compat("pdb-unlabelled");
    const auto victims = [this](const Task&, const std::vector<TaskId>& candidates) {
      return Victims{allowed(candidates), Vote::kPermit};
    };
    setup.on<Preemptable>(victims);
    setup.on<Reclaimable>(victims);
    setup.on<VictimTasks>([this](const std::vector<TaskId>& tasks) { return allowed(tasks); });
  }

 private:
  // In the given order; each victim uses up a disruption of every budget that selects it.
  std::vector<TaskId> allowed(const std::vector<TaskId>& candidates) const {
    std::vector<TaskId> out;
    std::vector<std::int64_t> left;
    for (const auto& [key, budget] : model_->budgets) left.push_back(budget.allowed);
    for (const TaskId id : candidates) {
      const LabelSet& set = model_->pods.label_set(model_->task(id).labels);
      if (set.labels.empty()) {
        if (!spares_unlabelled_) out.push_back(id);
        continue;
      }
      if (!violates(set, model_->text(id).name.str(), left)) out.push_back(id);
    }
    return out;
  }

  bool violates(const LabelSet& set, const std::string& pod, std::vector<std::int64_t>& left) const {
    bool out = false;
    std::size_t i = 0;
    for (const auto& [key, budget] : model_->budgets) {
      std::int64_t& rest = left[i++];
      if (budget.ns != set.ns || !budget.selector.present || budget.selector.is_empty()) continue;
      if (!budget.selector.matches(set.labels, model_->symbols) || budget.disrupted.contains(pod)) continue;
      out |= --rest < 0;
    }
    return out;
  }

  Model* model_ = nullptr;
  bool spares_unlabelled_ = true;
};

}  // namespace

std::unique_ptr<Plugin> make_pdb() { return std::make_unique<Pdb>(); }

}  // namespace scheduler
