// One step: commands taken over, due delays, one request answered by its policy, one operation.
#include "controllers/job/step.h"

#include <algorithm>
#include <optional>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/job/runs.h"

namespace controllers::job {

using api::Json;

namespace {

// One at a time: if its deletion fails, no other command's request is lost with the plan.
void take_command(const Job& job, const Json& command, Plan& plan, Memory& memory) {
  const std::string action = command["action"].str();
  plan.remove(api::resources::kCommands, command).missing_is_fine = false;  // whoever deletes it may act
  plan.begin_stage();
  plan.event(
      job.object, "Normal", "CommandIssued",
      base::format("Start to execute command {}, and clean it up to make sure executed not more than once.", action));
  Request request{.event = "CommandIssued", .action = action, .version = job.version, .from_command = true};
  memory.requests.push_back(std::move(request));
}

void register_delay(const Request& request, const Verdict& verdict, base::Time now, Memory& memory) {
  Delayed delayed{.request = request, .cause = request.event, .due = {}};
  delayed.request.action = verdict.action;
  delayed.due = (request.when.is_set() ? request.when : now) + verdict.delay;
  for (Delayed& one : memory.delayed) {
    if (one.request.pod != request.pod) continue;
    if (one.request.action != verdict.action) one = std::move(delayed);
    return;
  }
  memory.delayed.push_back(std::move(delayed));
}

void take_due(base::Time now, const Job& job, Memory& memory) {
  for (auto one = memory.delayed.begin(); one != memory.delayed.end();) {
    if (one->due > now) {
      ++one;
      continue;
    }
    Request request = one->request;
    request.event.clear();
    request.cause = one->cause;
    request.version = job.version;
    memory.requests.push_back(std::move(request));
    one = memory.delayed.erase(one);
  }
}

void cancel_same_class(const Request& request, Memory& memory) {
  const ActionClass ran = class_of(request.action);
  if (ran == ActionClass::kNone) return;
  std::erase_if(memory.delayed, [&](const Delayed& one) {
    if (class_of(one.request.action) != ran) return false;
    switch (ran) {
      case ActionClass::kJob: return true;
      case ActionClass::kTask: return one.request.task == request.task;
      case ActionClass::kPod: return one.request.pod == request.pod;
      case ActionClass::kPartition: return one.request.partition == request.partition;
      case ActionClass::kNone: return false;
    }
    return false;
  });
}

bool have_one_target(const Request& a, const Request& b) {
  switch (class_of(a.action)) {
    case ActionClass::kTask: return a.task == b.task;
    case ActionClass::kPod: return a.pod == b.pod;
    case ActionClass::kPartition: return a.task == b.task && a.partition == b.partition;
    default: return false;
  }
}

// The requests of a target's pods from before it was restarted have happened with it: eight pods of a task that fail
// together restart it once. And pods of it that were on their way out already end because of this restart, whatever
// else.
void settle_target(const Job& job, const Observed& seen, const Request& ran, Memory& memory) {
  const ActionClass of = class_of(ran.action);
  if (move_for(job.phase, ran.action, ran.from_command).operation != Operation::kKillTarget) return;
  std::erase_if(memory.requests, [&](const Request& one) {
    Request asked = one;
    asked.action = evaluate(job, one).action;
    return class_of(asked.action) == of && have_one_target(ran, asked);
  });
  for (const Json* pod : seen.pods) {
    const auto known = memory.pods.find(std::string(api::name_of(*pod)));
    if (known != memory.pods.end() && api::is_deleting(*pod) && is_target(*pod, ran)) known->second.out_of_sync = true;
  }
}

// The first request that asks for more than a sync; syncs melt into one.
Request next_request(const Job& job, base::Time now, Plan& plan, Memory& memory) {
  while (!memory.requests.empty()) {
    Request request = std::move(memory.requests.front());
    memory.requests.pop_front();
    const Verdict verdict = evaluate(job, request);
    if (verdict.delay.ns > 0) {
      register_delay(request, verdict, now, memory);
      plan.event(job.object, "Normal", "ExecuteAction",
                 base::format("Execute action {} after {}", verdict.action, base::format_go_duration(verdict.delay)));
      continue;
    }
    if (verdict.action == "SyncJob") continue;
    request.action = verdict.action;
    return request;
  }
  return {.event = "OutOfSync", .action = "SyncJob"};
}

void act(const Job& job, const Observed& seen, const FindTaken& find_taken, const Request& request, const Turn& turn,
         Plan& plan) {
  const Move move = move_for(job.phase, request.action, request.from_command);
  if (move.operation == Operation::kSync)
    sync(job, seen, find_taken, move.rule, turn, plan);
  else
    kill(job, seen, find_taken, move, request, turn, plan);
}

// The server erases some pods at once (finished ones, and those that no node has), so memory must know that it was us.
void mark_deleted(const Plan& plan, Memory& memory) {
  for (const Stage& stage : plan.stages())
    for (const Action& action : stage.actions) {
      if (action.verb != Action::Verb::kDelete || action.resource != api::resources::kPods) continue;
      const auto pod = memory.pods.find(action.name);
      if (pod != memory.pods.end() && pod->second.uid == action.body["preconditions"]["uid"].as_string())
        pod->second.out_of_sync = true;
    }
}

// A pod that the job has too many of ended because of that.
void forget_surplus(const Plan& plan, RestartPauses& pauses) {
  for (const Stage& stage : plan.stages())
    for (const Action& action : stage.actions)
      if (action.verb == Action::Verb::kDelete && action.resource == api::resources::kPods)
        pauses.forget(action.body["preconditions"]["uid"].as_string());
}

// The words for a job that can never be carried out; nothing: it can.
std::optional<std::string> why_hopeless(const Job& job, const Observed& seen, const Memory& memory, const Turn& turn,
                                        const Options& options) {
  if (job.phase == Phase::kPending && !seen.group && ends_with_jobs_before(job)) {
    if (JobsBefore before = waits_for_jobs(job, seen.jobs_before); before.have_failed)
      return std::move(before.sentence);
  }
  if (options.requeues_max < 0) return std::nullopt;
  if (const std::string* refusal = memory.refusals.given_up(options.requeues_max)) return *refusal;
  if (turn.failures > options.requeues_max) return turn.error;
  return std::nullopt;
}

}  // namespace

std::string refused_thing(Action::Verb verb, std::string_view kind, std::string_view name, std::string_view fate) {
  using Verb = Action::Verb;
  if (verb != Verb::kCreate && verb != Verb::kUpdate && verb != Verb::kPatch) return {};
  if (kind != "Pod") return base::format("{} {}", kind, name);
  return verb == Verb::kCreate ? base::format("pods of task {}", fate) : std::string();
}

bool counts_wait(const Turn& turn, Plan& plan) {
  if (turn.counts_wait <= base::Duration{}) return false;
  plan.requeue_after(turn.counts_wait);
  return true;
}

Action& write_status(const Job& job, Json status, client::Urgency urgency, Plan& plan) {
  Json object = job.object;
  object.set("status", std::move(status));
  Action& write = plan.set_status(api::resources::kJobs, std::move(object));
  write.urgency = urgency;
  return write;
}

Decision step(const Job& job, const Observed& seen, const FindTaken& find_taken, Memory memory, const Turn& turn,
              const Options& options) {
  Decision decision{.plan = {}, .memory = std::move(memory)};
  Plan& plan = decision.plan;
  Memory& after = decision.memory;
  plan.set_subject(job.object);
  if (!seen.commands.empty()) {
    take_command(job, *first_to_arrive(seen.commands), plan, after);
    plan.requeue_after({});
    return decision;
  }
  if (job.deleting) {
    after = {};
    return decision;
  }
  take_due(turn.now, job, after);
  if (const auto why = why_hopeless(job, seen, after, turn, options)) {
    plan.event(job.object, "Normal", "ExecuteAction",
               base::format("Job failed on action {} for retry limit reached", after.last_action));
    after.requests.clear();
    act(job, seen, find_taken, {.action = "TerminateJob", .cause = *why}, turn, plan);
    mark_deleted(plan, after);
    return decision;
  }
  const Request request = next_request(job, turn.now, plan, after);
  after.last_action = request.action;
  if (request.action != "SyncJob")
    plan.event(job.object, "Normal", "ExecuteAction", base::format("Start to execute action {} ", request.action));
  act(job, seen, find_taken, request, turn, plan);
  const bool kills = move_for(job.phase, request.action, request.from_command).operation != Operation::kSync;
  if (kills) after.refusals.clear();
  if (request.from_command) after.pauses.clear();  // what somebody asks for is done at once
  if (!kills) forget_surplus(plan, after.pauses);
  mark_deleted(plan, after);
  settle_target(job, seen, request, after);
  cancel_same_class(request, after);
  if (!after.requests.empty()) plan.requeue_after({});
  for (const Delayed& one : after.delayed) plan.requeue_after(std::max(base::milliseconds(1), one.due - turn.now));
  return decision;
}

}  // namespace controllers::job
