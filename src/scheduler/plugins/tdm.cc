// TDM (time division multiplexing): some nodes take revocable pods in their hours, and lose them after.
//
// COMPAT(tdm-midnight): a zone that spans midnight counts from today's start, so that it is inactive after midnight,
// unless the configuration switches that off.
#include <algorithm>
#include <charconv>
#include <ctime>
#include <map>

#include "base/format.h"
#include "scheduler/framework/plugin.h"
#include "scheduler/model/core/count_or_percent.h"
#include "scheduler/model/whole_groups.h"
#include "scheduler/search/node_evaluators.h"
#include "scheduler/session/session.h"

namespace scheduler {
namespace {

constexpr std::string_view kZoneLabel = "volcano.sh/revocable-zone";
constexpr std::string_view kZonePrefix = "tdm.revocable-zone.";
constexpr std::int64_t kMinutesPerDay = 24 * 60;

// "HH:MM" as minutes of the day.
std::optional<std::int64_t> minutes_from(std::string_view text) {
  const std::size_t colon = text.find(':');
  int hour = -1, minute = -1;
  if (colon == std::string_view::npos) return std::nullopt;
  const auto first = std::from_chars(text.data(), text.data() + colon, hour);
  const auto second = std::from_chars(text.data() + colon + 1, text.data() + text.size(), minute);
  if (first.ptr != text.data() + colon || second.ptr != text.data() + text.size()) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return std::nullopt;
  return hour * 60 + minute;
}

struct Zone {
  std::string raw;
  bool valid = false;
  std::int64_t start = 0;
  std::int64_t end = 0;  // beyond kMinutesPerDay when it is on the next day
};

Zone zone_from(std::string raw) {
  Zone out{std::move(raw)};
  const std::size_t dash = out.raw.find('-');
  if (dash == std::string::npos) return out;
  const auto start = minutes_from(std::string_view(out.raw).substr(0, dash)),
             end = minutes_from(std::string_view(out.raw).substr(dash + 1));
  if (!start || !end) return out;
  out.valid = true;
  out.start = *start;
  out.end = *end <= *start ? *end + kMinutesPerDay : *end;
  return out;
}

// Local time of day, in minutes.
double minute_of_day(base::Time now) {
  const auto seconds = static_cast<std::time_t>(now.ns / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  return local.tm_hour * 60 + local.tm_min + (local.tm_sec + static_cast<double>(now.ns % 1'000'000'000) / 1e9) / 60;
}

// The answer of a node's zone to a pod; empty: it may come.
using ZoneTest = std::function<std::string(const std::string& zone)>;

class ZoneFilter final : public NodeFilter {
 public:
  ZoneFilter(const Model& model, ZoneTest test, bool revocable)
      : model_(model), test_(std::move(test)), revocable_(revocable), key_(model.symbols.find(kZoneLabel)) {}
  Reach reach() const override { return Reach::kCluster; }  // follows the clock

  void narrow(NodeSet& nodes, Strictness, FitErrors* errors) override {
    if (!key_.is_set()) return;
    NodeSet zoned = nodes, bad = nodes;
    zoned &= model_.nodes.nodes_with_key(key_);
    bad.clear();
    zoned.for_each([&](std::uint32_t n) {
      const std::string problem = refusal(n);
      if (problem.empty()) return;
      bad.add(n);
      if (errors != nullptr) errors->add(problem, 1);
    });
    if (errors != nullptr) errors->add_unresolvable(bad);
    nodes.subtract(bad);
  }
  bool fits(std::uint32_t n) override { return refusal(n).empty(); }

 private:
  std::string refusal(std::uint32_t n) const {
    const Symbol zone = key_.is_set() ? value_of(model_.nodes[NodeId{n}].labels, key_) : Symbol{};
    if (!zone.is_set() || model_.symbols.text(zone).empty()) return "";
    const std::string problem = test_(model_.symbols.text(zone));
    if (!problem.empty()) return problem;
    return revocable_ ? "" : "not allow to dispatch to revocable node";
  }

  const Model& model_;
  ZoneTest test_;
  bool revocable_;
  Symbol key_;
};

class ZoneScorer final : public NodeScorer {
 public:
  ZoneScorer(const Model& model, ZoneTest test)
      : model_(model), test_(std::move(test)), key_(model.symbols.find(kZoneLabel)) {}
  Reach reach() const override { return Reach::kCluster; }
  double score(std::uint32_t n) override {
    const Symbol zone = key_.is_set() ? value_of(model_.nodes[NodeId{n}].labels, key_) : Symbol{};
    return zone.is_set() && test_(model_.symbols.text(zone)).empty() ? 100 : 0;
  }

 private:
  const Model& model_;
  ZoneTest test_;
  Symbol key_;
};

class Tdm final : public Plugin {
 public:
  void attach(PluginSetup& setup) override {
    model_ = &setup.model();
    setup.depends_on_time();
    const Arguments& arguments = setup.arguments();
    for (const std::string& key : arguments.keys_after(kZonePrefix)) {
      Zone& zone = zones_[key.substr(kZonePrefix.size())] = zone_from(arguments.get_string(key, ""));
      if (!zone.valid) arguments.warn(base::format("{}: {} is not HH:MM-HH:MM; the zone stays closed", key, zone.raw));
    }
    const std::string period = arguments.get_string("tdm.evict.period", "1m");
    if (const auto span = base::parse_go_duration(period))
      period_ = *span;
    else
      arguments.warn(base::format("tdm.evict.period: {} is not a duration; 1m is used", period));
    spans_midnight_ = !setup.is_compat("tdm-midnight");
    const ZoneTest test = [this](const std::string& zone) { return problem_of(zone); };
    setup.on<Predicate>([this, test](const Task& task) -> std::unique_ptr<NodeFilter> {
      return std::make_unique<ZoneFilter>(*model_, test, !model_->shape_of(task).revocable_zone.empty());
    });
    setup.on<NodeOrder>([this, test](const Task& task) -> std::unique_ptr<NodeScorer> {
      if (model_->shape_of(task).revocable_zone.empty()) return nullptr;
      return std::make_unique<ZoneScorer>(*model_, test);
    });
    setup.on<Preemptable>(
        [this](const Task& task, const std::vector<TaskId>& candidates) { return preemptable(task, candidates); });
    setup.on<VictimTasks>([this](const std::vector<TaskId>&) { return victims(); });
    setup.on<JobOrder>([](const Job& job) { return std::int64_t{job.preemptable}; });
    setup.on<JobPipelined>([](const Job& job) { return job.is_pipelined() ? Vote::kPermit : Vote::kReject; });
    setup.on<JobStarving>([](const Job& job) { return !job.preemptable && job.count(TaskStatus::kPending) > 0; });
  }

  void open(Session& session) override { now_ = session.input().now; }

 private:
  std::string problem_of(const std::string& name) const {
    const auto found = zones_.find(name);
    if (found == zones_.end()) return base::format("revocable zone {} not support", name);
    const Zone& zone = found->second;
    if (!zone.valid) return base::format("revocable zone {} format error", zone.raw);
    const double minute = minute_of_day(now_);
    if (static_cast<double>(zone.start) <= minute && minute <= static_cast<double>(zone.end)) return "";
    if (spans_midnight_ && minute + kMinutesPerDay <= static_cast<double>(zone.end)) return "";
    return base::format("current time beyond revocable zone {}:{}", name, zone.raw);
  }

  std::string zone_of(const Task& task) const {
    const Symbol key = model_->symbols.find(kZoneLabel);
    if (!key.is_set() || !task.node.is_set()) return "";
    const Symbol value = value_of(model_->nodes[task.node].labels, key);
    return value.is_set() ? model_->symbols.text(value) : "";
  }

  static std::int64_t victims_max(const Job& job) {
    const std::int64_t tasks = job.task_count(), running = job.count(TaskStatus::kRunning);
    const std::int64_t finished = job.count(TaskStatus::kSucceeded) + job.count(TaskStatus::kFailed);
    // COMPAT(tdm-unreadable-budget): a budget that is not a number is none.
    if (const auto most = count_or_percent_from(job.extras().budget_max_unavailable))
      return std::max<std::int64_t>(0, most->of(tasks) - (tasks - finished - running));
    // COMPAT(tdm-below-minimum): a group that is below its minimum already loses nobody.
    if (const auto least = count_or_percent_from(job.extras().budget_min_available))
      return std::max<std::int64_t>(0, running - least->of(tasks));
    return 1;
  }

  // A group that is disrupted as a whole goes so, unless it names a budget that is smaller.
  static std::size_t whole_of(const Job& job, std::size_t pods) {
    const GroupExtras& extras = job.extras();
    const bool names_budget = !extras.budget_max_unavailable.empty() || !extras.budget_min_available.empty();
    return names_budget && static_cast<std::size_t>(victims_max(job)) < pods ? 0 : pods;
  }

  std::vector<TaskId> cut(const std::map<std::string, std::vector<TaskId>>& by_job) const {
    std::vector<TaskId> out;
    for (const auto& [key, tasks] : by_job) {
      const Job& job = model_->job(model_->find_job(key));
      const std::size_t most = job.disruption == DisruptionMode::kAll ? whole_of(job, tasks.size())
                                                                      : static_cast<std::size_t>(victims_max(job));
      out.insert(out.end(), tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(std::min(most, tasks.size())));
    }
    return out;
  }

  Victims preemptable(const Task& preemptor, const std::vector<TaskId>& candidates) const {
    if (preemptor.preemptable || !model_->shape_of(preemptor).revocable_zone.empty()) return {{}, Vote::kReject};
    std::map<std::string, std::vector<TaskId>> by_job;
    for (const TaskId id : candidates) {
      const Task& task = model_->task(id);
      if (!task.preemptable || task.status != TaskStatus::kRunning || !zone_of(task).empty() || !task.job.is_set())
        continue;
      by_job[model_->job(task.job).key.str()].push_back(id);
    }
    return {cut(by_job), Vote::kPermit};
  }

  // Pods whose zone has closed.
  std::vector<TaskId> victims() {
    base::Time& last_run = model_->last_runs["tdm"];
    last_run = std::min(last_run, now_);  // the clock was set back
    if (last_run.is_set() && now_ < last_run + period_) return {};
    last_run = now_;
    std::map<std::string, std::vector<TaskId>> by_job;
    for (std::uint32_t i = 0; i < model_->task_capacity(); ++i) {
      const Task& task = model_->task(TaskId{i});
      if (!task.in_use || !task.preemptable || task.status != TaskStatus::kRunning || !task.job.is_set()) continue;
      const std::string zone = zone_of(task);
      if (!zones_.contains(zone) || problem_of(zone).empty()) continue;
      std::vector<TaskId>& gone = by_job[model_->job(task.job).key.str()];
      if (goes_whole(*model_, task.id))
        gone = with_all_gone(*model_, {task.id});
      else
        gone.push_back(task.id);
    }
    for (auto& [key, tasks] : by_job)
      std::sort(tasks.begin(), tasks.end(),
                [&](TaskId a, TaskId b) { return model_->text(a).uid < model_->text(b).uid; });
    return cut(by_job);
  }

  Model* model_ = nullptr;
  std::map<std::string, Zone> zones_;
  bool spans_midnight_ = false;
  base::Duration period_ = base::minutes(1);
  base::Time now_;
};

}  // namespace

std::unique_ptr<Plugin> make_tdm() { return std::make_unique<Tdm>(); }

}  // namespace scheduler
