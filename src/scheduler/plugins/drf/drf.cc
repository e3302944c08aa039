// Dominant resource fairness: the job with the smallest share of its scarcest resource goes first.
#include <bit>
#include <cmath>
#include <unordered_map>

#include "scheduler/framework/plugin.h"
#include "scheduler/plugins/drf/drf_tree.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr double kShareTolerance = 1e-6;

class Drf final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    // Numbers that are not negative stand in the order of their bits.
    setup.on<JobOrder>([this](const Job& job) { return std::bit_cast<std::int64_t>(share(job)); });
    setup.on<Preemptable>([this](const Task& preemptor, const std::vector<TaskId>& candidates) {
      return preemptable(preemptor, candidates);
    });
    hierarchical_ = setup.hierarchy();
    if (!hierarchical_) return;
    setup.on<QueueOrder>([this](const Queue& a, const Queue& b) {
      const double order = tree_.compare(*model_, a.id, b.id);
      return order < 0 ? -1 : order > 0 ? 1 : 0;
    });
    setup.on<Reclaimable>([this](const Task& reclaimer, const std::vector<TaskId>& candidates) {
      return Victims{tree_.reclaimable(*model_, reclaimer, candidates), Vote::kPermit};
    });
    setup.on<TaskPlaced>([this](const Task& task) -> Refusal {
      if (task.job.is_set()) tree_.mark(task.job);
      return {};
    });
    setup.on<TaskRemoved>([this](const Task& task) {
      if (task.job.is_set()) tree_.mark(task.job);
    });
  }

  void open(Session& session) override {
    const Sums& total = session.model().nodes.total();
    totals_.clear();
    for (Dim d = 0; d < total.size(); ++d) {
      if (total.get(d) > 0) totals_.push_back({d, static_cast<double>(total.get(d))});
    }
    if (hierarchical_) tree_.build(session.model());
  }

  void report(const MetricSink& sink) const override {
    model_->for_each_job([&](const Job& job) {
      if (job.has_group) sink("job_share", {std::string(job.ns()), std::string(job.name())}, share(job));
    });
  }

 private:
  struct Total {
    Dim dim;
    double amount;
  };

  // The allocated amounts of plugins include the promises of this cycle.
  double share(const Job& job) const {
    double most = 0;
    for (const Total& total : totals_) {
      const auto used = static_cast<double>(job.allocated.get(total.dim) + job.promised().get(total.dim));
      most = std::max(most, used / total.amount);
    }
    return most;
  }

  double share(const Resource& allocated) const {
    double most = 0;
    for (const Total& total : totals_) most = std::max(most, allocated.get(total.dim) / total.amount);
    return most;
  }

  Resource allocated_of(const Job& job) const { return Resource(job.allocated) + Resource(job.promised()); }

  Victims preemptable(const Task& preemptor, const std::vector<TaskId>& candidates) const {
    Victims out;
    if (!preemptor.job.is_set()) return out;
    const double own = share(allocated_of(model_->job(preemptor.job)) + Resource(model_->shape_of(preemptor).request));
    std::unordered_map<std::uint32_t, Resource> left;
    for (const TaskId id : candidates) {
      const Task& task = model_->task(id);
      if (!task.job.is_set()) continue;
      auto [slot, added] = left.try_emplace(task.job.index);
      if (added) slot->second = allocated_of(model_->job(task.job));
      slot->second -= Resource(model_->shape_of(task).request);
      const double rest = share(slot->second);
      if (own < rest || std::fabs(own - rest) <= kShareTolerance) out.tasks.push_back(id);
    }
    return out;
  }

  Model* model_ = nullptr;
  std::vector<Total> totals_;
  bool hierarchical_ = false;
  DrfTree tree_;
};

}  // namespace

std::unique_ptr<Plugin> make_drf() { return std::make_unique<Drf>(); }

}  // namespace scheduler
