// The memory that jobs leave in a scheduler when they are gone.
#include "churn.h"

#include <algorithm>
#include <vector>

#include "api/json/json.h"
#include "base/format.h"
#include "loads.h"
#include "main/host/base/resource_use.h"
#include "objects.h"
#include "scheduler/actions/all.h"
#include "scheduler/intake_options.h"
#include "scheduler/plugins/all.h"

namespace bench {
namespace {

using api::Json;

constexpr int kAtOnce = 1'000;
constexpr int kPodsEach = 2;

class Churn {
 public:
  explicit Churn(bool near_each_other)
      : near_each_other_(near_each_other),
        intake_(model_, ledger_, scheduler::intake_options(options_)),
        decider_(model_, ledger_, {scheduler::all_plugins(), scheduler::all_actions()}, 1, options_.names().front()) {}

  base::Status begin() {
    TRY_VOID(decider_.configure(chart_configuration()));
    TRY([[maybe_unused]] Json queue, take(api::resources::kQueues, queue_line("default", 1)));
    for (int n = 0; n < 100; ++n) {
      const std::string name = base::format("n{:03}", n);
      TRY([[maybe_unused]] Json node,
          take(api::resources::kNodes, node_line(name, R"("cpu":"64","memory":"256Gi")", "")));
    }
    return {};
  }

  // Jobs with these numbers, from nothing to nothing.
  base::Status run(int first, int jobs) {
    std::vector<std::pair<api::ResourceId, Json>> made;
    for (int j = first; j < first + jobs; ++j) {
      const std::string group = base::format("job-{:08}", j);
      TRY(Json group_object, take(api::resources::kPodGroups, group_line(group, kPodsEach, "default")));
      made.emplace_back(api::resources::kPodGroups, std::move(group_object));
      for (int i = 0; i < kPodsEach; ++i) {
        const PodLine pod{.name = base::format("{}-w-{}", group, i),
                          .group = group,
                          .requests = R"("cpu":"1","memory":"1Gi")",
                          .spec = near_each_other_ ? near(group) : ""};
        TRY(Json pod_object, take(api::resources::kPods, pod_line(pod)));
        made.emplace_back(api::resources::kPods, std::move(pod_object));
      }
    }
    std::size_t placed = 0;
    for (int cycle = 0; cycle < 3; ++cycle) placed += decide();
    if (placed != static_cast<std::size_t>(jobs) * kPodsEach)
      return base::make_error(base::Code::kInternal,
                              base::format("{} of {} pods found a node", placed, jobs * kPodsEach));
    std::reverse(made.begin(), made.end());
    for (const auto& [id, object] : made) intake_.remove(id, object);
    decide();
    return {};
  }

 private:
  base::Result<Json> take(const api::ResourceId& id, const std::string& line) {
    TRY(Json object, api::parse_json(line));
    intake_.set(id, object);
    return object;
  }
  std::size_t decide() {
    now_ = now_ + base::seconds(1);
    const scheduler::CycleReport report = decider_.run_cycle(now_);
    for (const scheduler::PlannedBind& bind : report.plan.binds)
      model_.move(bind.task, scheduler::TaskStatus::kRunning, model_.task(bind.task).node);
    return report.plan.binds.size();
  }

  // Such a job has a selector, and its pods a shape, of their own.
  static std::string near(const std::string& group) {
    return base::format(
        R"(,"affinity":{{"podAffinity":{{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":50,"podAffinityTerm":)"
        R"({{"topologyKey":"kubernetes.io/hostname","labelSelector":{{"matchLabels":{{"volcano.sh/job-name":"{}"}}}}}}}}]}}}})",
        group);
  }

  bool near_each_other_;
  scheduler::Options options_;
  scheduler::Model model_;
  scheduler::Ledger ledger_;
  scheduler::Intake intake_;
  scheduler::Decider decider_;
  base::Time now_ = base::Time{} + base::seconds(1'700'000'000);
};

}  // namespace

base::Result<double> bytes_left_by_a_job(int jobs, bool near_each_other) {
  Churn churn(near_each_other);
  TRY_VOID(churn.begin());
  const int settled = jobs / 5 / kAtOnce * kAtOnce;
  std::int64_t before = 0;
  for (int first = 0; first < jobs; first += kAtOnce) {
    if (first == settled) before = volcano_main::resident_bytes();
    TRY_VOID(churn.run(first, std::min(kAtOnce, jobs - first)));
  }
  return static_cast<double>(volcano_main::resident_bytes() - before) / std::max(1, jobs - settled);
}

}  // namespace bench
