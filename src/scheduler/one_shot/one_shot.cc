// One-shot runs (`volcano schedule`): cycles, their effects, and the answer.
#include "scheduler/one_shot/one_shot.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "scheduler/actions/all.h"
#include "scheduler/intake_options.h"
#include "scheduler/plugins/all.h"

namespace scheduler {
namespace {

constexpr int kCyclesMax = 100'000;  // until_idle: a configuration that never settles ends here
constexpr std::uint64_t kSeed = 1;   // only names sessions; nothing is decided by chance

}  // namespace

OneShot::OneShot(OneShotOptions options, Stopwatch stopwatch)
    : options_(std::move(options)),
      stopwatch_(std::move(stopwatch)),
      intake_(model_, ledger_, intake_options(options_.scheduler)),
      decider_(model_, ledger_, {all_plugins(), all_actions()}, kSeed, options_.scheduler.names().front()),
      now_(options_.now) {
  decider_.sample(sampling_options(options_.scheduler));
  decider_.keep_reasons(options_.reasons);
}

base::Status OneShot::configure() {
  TRY_VOID(options_.scheduler.check());
  for (const std::string& warning : intake_.options().gates.warnings()) warnings_.push_back(warning);
  if (options_.config) TRY_VOID(decider_.configure(*options_.config));
  for (const std::string& warning : decider_.warnings()) warnings_.push_back(warning);
  return {};
}

void OneShot::take_effect(const Plan& plan) {
  for (const PlannedBind& bind : plan.binds) {
    binds_.emplace_back(bind.ns + "/" + bind.pod, bind.node);
    model_.move(bind.task, TaskStatus::kRunning, model_.task(bind.task).node);
  }
  for (const PlannedEviction& eviction : plan.evictions) {
    evictions_.push_back(eviction);
    leaving_.push_back(eviction);
  }
  for (const PlannedGateRemoval& gate : plan.gate_removals) {
    const TaskId task = model_.find_task(gate.ns + "/" + gate.pod);
    if (task.is_set()) model_.ungate(task);
  }
}

// Without somebody who asks, nobody answers: that is an error like any other that an extender can make.
void OneShot::answer(std::vector<ExternalQuestion> questions) {
  for (const ExternalQuestion& question : questions) {
    ExternalAnswer answer{false, "nobody is asked here", now_};
    if (options_.asker) answer = options_.asker(question);
    answer.at = now_;
    model_.outside.put(question, std::move(answer));
  }
}

bool OneShot::run_cycle(OneShotStats::Phase& phase) {
  if (!options_.leave_evicted) {
    for (const PlannedEviction& gone : leaving_) {
      const TaskId task = model_.find_task(gone.ns + "/" + gone.pod);
      if (task.is_set()) model_.remove_task(task);
    }
  }
  leaving_.clear();
  std::vector<GroupPhase> phases_before(model_.job_capacity());  // by job
  model_.for_each_job_unsorted([&](const Job& job) { phases_before[job.id.index] = job.phase; });
  const auto before = stopwatch_();
  CycleReport report = decider_.run_cycle(now_, options_.tasks, stopwatch_);
  take_effect(report.plan);
  const auto after = stopwatch_();
  phase.cycles.push_back({after.first - before.first, after.second - before.second, std::move(report.actions)});
  phase.binds += report.plan.binds.size();
  phase.evictions += report.plan.evictions.size();
  cycles_.emplace_back(report.plan.binds.size(), report.plan.evictions.size());
  pipelined_ = std::move(report.pipelined);
  if (options_.tasks) tasks_ = std::move(report.tasks);
  now_ = now_ + options_.scheduler.schedule_period;
  std::vector<ExternalQuestion> questions = model_.outside.take_questions();
  const bool waits_for_answers =
      std::any_of(questions.begin(), questions.end(), [](const auto& one) { return !one.is_notification; });
  if (!questions.empty()) answer(std::move(questions));
  bool decided = waits_for_answers || !report.plan.binds.empty() || !report.plan.evictions.empty() ||
                 !report.plan.gate_removals.empty();
  for (const PlannedGroupStatus& group : report.plan.groups) {
    const JobId job = model_.find_job(group.ns + "/" + group.name);
    decided |= job.index >= phases_before.size() || phases_before[job.index] != group.status.phase;
  }
  return decided;
}

void OneShot::finish_loading() {
  for (const api::Json& pod : std::exchange(early_pods_, {})) take_in(api::resources::kPods, pod);
}

void OneShot::run_phase() {
  OneShotStats::Phase& phase = stats_.phases.emplace_back();
  finish_loading();
  if (!started_ && !options_.as_is) add_missing_queues();
  started_ = true;
  const std::uint64_t looked_at = decider_.nodes_looked_at();
  const auto before = stopwatch_();
  const int most = options_.until_idle ? kCyclesMax : options_.cycles;
  for (int i = 0; i < most; ++i) {
    if (!run_cycle(phase) && options_.until_idle) break;
  }
  const auto after = stopwatch_();
  phase.wall_s += after.first - before.first + std::exchange(intake_wall_s_, 0.0);
  phase.cpu_s += after.second - before.second + std::exchange(intake_cpu_s_, 0.0);
  phase.nodes_looked_at = decider_.nodes_looked_at() - looked_at;
}

std::map<std::string, std::string> OneShot::binds() const {
  std::map<std::string, std::string> out;
  for (const auto& [pod, node] : binds_) out.insert_or_assign(pod, node);
  return out;
}

api::Json OneShot::groups_json() const {
  api::Json out = api::Json::object();
  model_.for_each_job([&](const Job& job) {
    if (!job.has_group) return;
    api::Json one = api::Json::object({{"phase", name_of(job.phase)}});
    std::vector<api::Json> conditions;
    for (const GroupCondition& condition : ledger_.group(job.id).status.conditions) {
      conditions.push_back(api::Json::object({{"type", condition.type.view()},
                                              {"status", condition.status.view()},
                                              {"reason", condition.reason.view()},
                                              {"message", condition.message.view()}}));
    }
    one.set("conditions", api::Json::array(std::move(conditions)));
    out.set(job.key.str(), std::move(one));
  });
  return out;
}

api::Json OneShot::result() const {
  api::Json out = api::Json::object();
  api::Json binds = api::Json::object(), pipelined = api::Json::object(), queues = api::Json::object();
  for (const auto& [pod, node] : this->binds()) binds.set(pod, node);
  for (const auto& [pod, node] : pipelined_) pipelined.set(pod, node);
  std::vector<api::Json> evictions, cycles;
  for (const PlannedEviction& one : evictions_) {
    evictions.push_back(api::Json::object({{"pod", one.ns + "/" + one.pod},
                                           {"node", one.node},
                                           {"action", one.action},
                                           {"for", one.for_group},
                                           {"reason", one.action}}));
  }
  for (const auto& [bound, evicted] : cycles_) {
    cycles.push_back(api::Json::object(
        {{"binds", static_cast<std::int64_t>(bound)}, {"evictions", static_cast<std::int64_t>(evicted)}}));
  }
  for (std::uint32_t q = 0; q < model_.queue_count(); ++q) {
    const Queue& queue = model_.queue(QueueId{q});
    if (queue.in_use)
      queues.set(queue.name, api::Json::object({{"allocated", api::to_json(ledger_.queue(queue.id).allocated)}}));
  }
  out.set("binds", std::move(binds));
  out.set("evictions", api::Json::array(std::move(evictions)));
  out.set("pipelined", std::move(pipelined));
  out.set("podGroups", groups_json());
  out.set("queues", std::move(queues));
  out.set("waiting", waiting_json(decider_.waiting()));
  out.set("cycles", api::Json::array(std::move(cycles)));
  if (options_.tasks) {
    api::Json tasks = api::Json::object();
    for (const auto& [pod, report] : tasks_) {
      tasks.set(pod, api::Json::object({{"status", name_of(report.status)}, {"node", report.node}}));
    }
    out.set("tasks", std::move(tasks));
  }
  return out.sorted();
}

std::string OneShot::text() const {
  std::string out;
  for (const auto& [pod, node] : binds()) out += base::format("bind     {} {}\n", pod, node);
  for (const PlannedEviction& one : evictions_) {
    out += base::format("evict    {}/{} {} {}\n", one.ns, one.pod, one.node, one.action);
  }
  for (const auto& [pod, node] : pipelined_) out += base::format("promise  {} {}\n", pod, node);
  const api::Json waiting = waiting_json(decider_.waiting());
  for (const auto& member : waiting.members()) {
    out += base::format("wait     {} {}: {}\n", member.name(), member.value["reason"].as_string(),
                        member.value["message"].as_string());
  }
  return out;
}

}  // namespace scheduler
