// The sync procedure: what a job needs while it is to run, in the order in which it needs it.
#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/utf8.h"
#include "controllers/groups/waiting.h"
#include "controllers/job/ending.h"
#include "controllers/job/plugins/plugin.h"
#include "controllers/job/podgroup.h"
#include "controllers/job/pods.h"
#include "controllers/job/runs.h"
#include "controllers/job/status.h"
#include "controllers/job/step.h"
#include "controllers/job/viewed.h"
#include "controllers/job/volumes.h"

namespace controllers::job {

using api::Json;

namespace {

struct Sync {
  Job job;  // the phase and the claim names as they will be
  const Observed& seen;
  const FindTaken& find_taken;
  const Turn& turn;
  Plan& plan;
  Json status;      // as last written
  Json controlled;  // status.controlledResources as it will be
  bool forwarding = false;
  std::optional<std::map<std::string, std::int64_t>> ready = {};  // pods by task, where tasks depend on others
  bool can_never_begin = false;                                   // jobs before it have failed
  std::string held = {};                                          // why pods of a task are not made yet; the first
};

void begin(Sync& s) {
  if (s.job.phase != Phase::kNone) return;
  s.job.phase = Phase::kPending;
  Json status = with_edit(s.status, {.counts = {},
                                     .phase = Phase::kPending,
                                     .version = s.job.version,
                                     .retry_count = s.job.retry_count,
                                     .min_available = s.job.min_available,
                                     .controlled_resources = s.controlled});
  stamp(status, Phase::kPending, s.turn.now);
  s.plan.begin_stage("JobStatusError", "Failed to initialize job status, err: {}");
  write_status(s.job, status, client::Urgency::kPhase, s.plan);
  s.status = std::move(status);
}

// False if the job has to wait for its queue. COMPAT(missing-queue): it waits; it is not terminated.
bool find_queue(Sync& s) {
  if (!s.seen.queue) {
    if (s.seen.group) return true;
    s.plan.event(
        s.job.object, "Warning", "PodGroupError",
        base::format("Failed to create PodGroup, err: queue.scheduling.volcano.sh \"{}\" not found", s.job.queue));
    return false;
  }
  s.forwarding = !(*s.seen.queue)["spec"]["extendClusters"].empty();
  if (s.forwarding && s.job.annotation("volcano.sh/job-forwarding") != "true") {
    // In the job itself, because the group takes the job's annotations.
    s.job.object.edit_path({"metadata", "annotations"}).set("volcano.sh/job-forwarding", "true");
    s.plan.begin_stage();
    s.plan.update(api::resources::kJobs, s.job.object);
  }
  return true;
}

bool is_marked(const Sync& s, std::string_view plugin) { return s.controlled.has("plugin-" + std::string(plugin)); }

// Objects that the view holds are compared; the others (secrets, network policies) are made when the mark is missing.
void make_plugin_object(Sync& s, const PluginObject& object, bool marked) {
  if (!is_viewed(object)) {
    if (marked) return;
    Action& action = s.plan.create(object.resource, object.body);
    action.addition = object.addition;
    action.existing_is_fine = true;
    action.existing_has = object.existing_has;
    return;
  }
  const Json* existing = s.find_taken(object.resource, api::name_of(object.body));
  if (!existing) {
    s.plan.create(object.resource, object.body);
    return;
  }
  const bool ours = api::controller_of(*existing)["uid"].as_string() == s.job.uid;
  if (ours && object.follows_job && (*existing)["data"] != object.body["data"]) {
    Json next = *existing;
    next.set("data", object.body["data"]);
    s.plan.update(object.resource, std::move(next));  // Volcano's role may update, but not patch
  }
}

bool make_plugin_objects(Sync& s) {
  const auto objects = plugin_objects(s.job);
  if (!objects.ok()) {
    s.plan.event(s.job.object, "Warning", "PluginError",
                 "Execute plugin when job add failed, err: " + objects.error().message);
    s.plan.fail(objects.error());
    return false;
  }
  s.plan.begin_stage("PluginError", "Execute plugin when job add failed, err: {}");
  for (const PluginObject& object : *objects) make_plugin_object(s, object, is_marked(s, object.plugin));
  for (const Plugin& plugin : all_plugins()) {
    const bool used = std::any_of(s.job.plugins.begin(), s.job.plugins.end(),
                                  [&](const auto& one) { return one.first == plugin.name; });
    if (used && plugin.marked) s.controlled.set("plugin-" + std::string(plugin.name), plugin.name);
  }
  return true;
}

bool is_ready(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (phase == "Succeeded") return true;
  if (phase != "Running") return false;
  for (const Json& container : pod["status"]["containerStatuses"].items())
    if (!container["ready"].as_bool()) return false;
  return true;
}

std::map<std::string, std::int64_t> ready_pods(const Sync& s) {
  std::map<std::string, std::int64_t> ready;
  for (const Json* pod : s.seen.pods) {
    const Task* task = s.job.find_task(task_of(*pod));
    if (task && index_of(*pod) < task->replicas && !api::is_deleting(*pod) && is_ready(*pod)) ++ready[task->name];
  }
  return ready;
}

bool dependency_ready(Sync& s, const std::string& name) {
  const Task* task = s.job.find_task(name);
  if (!task || !task->min_available) return true;
  if (!s.ready) s.ready = ready_pods(s);
  const auto found = s.ready->find(name);
  return (found == s.ready->end() ? 0 : found->second) >= *task->min_available;
}

// For people.
std::string held_sentence(Sync& s, const Task& task) {
  for (const std::string& name : task.depends_on)
    if (const Task* before = s.job.find_task(name); before && !dependency_ready(s, name)) {
      const auto found = s.ready->find(name);
      return base::format("task {} waits for task {} (dependsOn): {} of {} pods are ready", task.name, name,
                          found == s.ready->end() ? 0 : found->second, *before->min_available);
    }
  return {};
}

bool may_start(Sync& s, const Task& task) {
  if (task.depends_on.empty()) return true;
  const auto ready = [&s](const std::string& name) { return dependency_ready(s, name); };
  if (task.depends_on.size() > 1 && task.depends_on_any)
    return std::any_of(task.depends_on.begin(), task.depends_on.end(), ready);
  return std::all_of(task.depends_on.begin(), task.depends_on.end(), ready);
}

// COMPAT(depends-on-gang): the job as its group is to see it, without the tasks that others hold back, for which a gang
// would wait for ever. It grows as they come. Nothing: no task is held back.
std::optional<Job> without_held_tasks(Sync& s) {
  std::set<std::string, std::less<>> begun;
  if (std::ranges::any_of(s.job.tasks, [](const Task& task) { return !task.depends_on.empty(); }))
    for (const Json* pod : s.seen.pods) begun.insert(task_of(*pod));
  std::vector<Task> free;
  std::int64_t held_minimum = 0, minimum = 0, replicas = 0;
  for (const Task& task : s.job.tasks) {
    const std::int64_t own = task.min_available.value_or(task.replicas);
    if (!begun.contains(task.name) && !may_start(s, task)) {
      held_minimum += own;
      continue;
    }
    minimum += own;
    replicas += task.replicas;
    free.push_back(task);
  }
  if (free.size() == s.job.tasks.size()) return std::nullopt;
  Job part = s.job;
  part.tasks = std::move(free);
  part.min_available = std::min({s.job.min_available, std::max(s.job.min_available - held_minimum, minimum), replicas});
  return part;
}

void keep_group(Sync& s) {
  const std::optional<Job> part = without_held_tasks(s);
  const Job& job = part ? *part : s.job;
  const auto priority_of = [&s](std::string_view name) -> std::int64_t {
    const auto found = s.seen.priorities.find(name);
    return found == s.seen.priorities.end() ? 0 : found->second;
  };
  s.plan.begin_stage("PodGroupError", "Failed to create PodGroup, err: {}");
  if (!s.seen.group) {
    s.plan.create(api::resources::kPodGroups, group_for(job, priority_of));
    return;
  }
  if (auto patch = group_patch(job, *s.seen.group, priority_of))
    s.plan.patch(api::resources::kPodGroups, *s.seen.group, client::PatchType::kJson, std::move(*patch));
}

// COMPAT(waiting-said-once): when the reason is new, with the status that says it too, so that no restart repeats it.
void report_waiting_group(Sync& s, const Json& trouble) {
  const std::string type = base::lower(trouble["type"].str());
  s.plan.event(
      s.job.object, "Warning", "PodGroupPending",
      base::format("PodGroup {}:{} {}, reason: {}", s.job.ns, s.job.name, type, trouble["message"].as_string()));
}

std::string pods_of(const Task& task) { return refused_thing(Action::Verb::kCreate, "Pod", {}, task.name); }

// Whether it is too early to ask again for something that all pods need. The plan then asks for another look.
bool waits_for_refused(Sync& s) {
  if (!s.seen.refusals) return false;
  bool waits = false;
  for (const auto& refusal : s.seen.refusals->all()) {
    const std::string& what = refusal.first;
    const bool is_task =
        std::any_of(s.job.tasks.begin(), s.job.tasks.end(), [&](const Task& task) { return pods_of(task) == what; });
    const base::Duration left = s.seen.refusals->left(what, s.turn.now);
    if (is_task || left <= base::Duration{}) continue;
    s.plan.requeue_after(left);
    waits = true;
  }
  return waits;
}

// A sentence for people about what the server refuses; empty: there is nothing that they should hear of.
std::string refusal_sentence(const Sync& s) {
  if (!s.seen.refusals) return {};
  for (const auto& [what, one] : s.seen.refusals->all()) {
    if (!Refusals::is_reported(one)) continue;
    const std::string shortfall = shortfall_of(one.text);
    const std::string text = base::format("{} cannot be made{}: {}", what,
                                          shortfall.empty() ? "" : base::format(", {}", shortfall), one.text);
    return std::string(base::utf8_prefix(text, 1024));
  }
  return {};
}

constexpr base::Duration kHeldPause = base::seconds(30);

// The objects that one plan creates. It holds its pods whole, and a job may ask for more of them than there is memory.
struct Created {
  static constexpr int kPodsMax = 2'000;
  static constexpr std::size_t kBytesMax = std::size_t{64} << 20;
  static constexpr int kNotifiedMax = 16;
  int pods = 0;
  int held = 0;  // names that others hold
  std::size_t bytes = 0;
  std::int64_t room = std::numeric_limits<std::int64_t>::max();  // of an array whose runs are limited
  bool is_full() const { return is_enough() || pods >= room; }
  bool is_enough() const { return pods >= kPodsMax || bytes >= kBytesMax; }
};

// Creates pod `index`, unless somebody else holds its name.
base::Status create_pod(Sync& s, const Task& task, std::int64_t index, Counts& counts, Created& created) {
  const std::string name = pod_name(s.job, task, index);
  if (const Json* holder = s.find_taken(api::resources::kPods, name)) {
    // A pod of an earlier job of this name goes away by itself.
    const Json& owner = api::controller_of(*holder);
    const bool is_earlier = owner["kind"].as_string() == "Job" && owner["name"].as_string() == s.job.name &&
                            owner["apiVersion"].as_string() == api::resources::kJobs.api_version();
    if (!is_earlier && ++created.held <= Created::kNotifiedMax)
      s.plan.event(s.job.object, "Warning", "FailedCreate",
                   base::format("Error creating pods: [pods \"{}\" already exists]", name));
    return {};
  }
  TRY(MadePod pod, pod_for(s.job, task, index, s.forwarding));
  ++created.pods;
  created.bytes += pod.bytes;
  // COMPAT(refused-pods): a quota that refuses one pod of a task refuses its others, and need not those of other tasks.
  s.plan.create(api::resources::kPods, std::move(pod.object)).fate = task.name;
  counts.add(task.name, "Pending");
  return {};
}

// Whether the next pods of a task are not made yet, because those before ended young. The plan then asks for another
// look.
bool is_resting(Sync& s, const Task& task) {
  const base::Duration left = s.seen.pauses ? s.seen.pauses->left(task.name, s.turn.now) : base::Duration{};
  if (left <= base::Duration{}) return false;
  s.plan.requeue_after(left);
  if (s.held.empty())
    s.held = base::format("pods of task {} ended within a minute of their start; the next ones come after a pause",
                          task.name);
  return true;
}

using Names = std::set<std::string, std::less<>>;

// The pods that are missing. A task that was refused begins with one pod and goes on with twice as many each time.
base::Status create_pods(Sync& s, const Names& known, Counts& counts, Created& created) {
  std::vector<std::pair<const Task*, std::int64_t>> refused;  // and the next index
  for (const Task& task : s.job.tasks) {
    const bool is_held = !may_start(s, task);
    if (is_held && s.held.empty()) s.held = held_sentence(s, task);
    if (is_held || is_resting(s, task)) continue;
    const bool was_refused = s.seen.refusals && s.seen.refusals->knows(pods_of(task));
    if (was_refused) refused.emplace_back(&task, 0);
    for (std::int64_t index = 0; !was_refused && index < task.replicas && !created.is_full(); ++index)
      if (!known.contains(pod_name(s.job, task, index))) TRY_VOID(create_pod(s, task, index, counts, created));
  }
  std::erase_if(refused, [&s](const auto& one) {
    const base::Duration left = s.seen.refusals->left(pods_of(*one.first), s.turn.now);
    if (left > base::Duration{}) s.plan.requeue_after(left);
    return left > base::Duration{};
  });
  for (int batch = 1; !refused.empty() && !created.is_full(); batch *= 2) {
    s.plan.begin_stage("FailedCreate", "Error creating pods: [{}]");
    for (auto& [task, index] : refused)
      for (int made = 0; made < batch && index < task->replicas && !created.is_full(); ++index) {
        if (known.contains(pod_name(s.job, *task, index))) continue;
        ++made;
        TRY_VOID(create_pod(s, *task, index, counts, created));
      }
    std::erase_if(refused, [](const auto& one) { return one.second >= one.first->replicas; });
  }
  return {};
}

// Counts what is there, creates what is missing, deletes what is too many.
base::Status keep_pods(Sync& s, bool admitted, Counts& counts) {
  Names known;
  std::vector<const Json*> surplus;
  Created created{.room = pods_at_once(s.job)};
  for (const Json* pod : s.seen.pods) {
    known.emplace(api::name_of(*pod));
    if (const std::string_view phase = (*pod)["status"]["phase"].as_string(); phase != "Succeeded" && phase != "Failed")
      --created.room;
    if (const std::string_view volume = volume_sentence(*pod); !volume.empty() && s.held.empty())
      s.held = base::format("pod {}: {}", api::name_of(*pod), base::utf8_prefix(volume, 512));
    if (api::is_deleting(*pod)) {
      ++counts.terminating;
      continue;
    }
    // COMPAT(runs-again)
    if (is_to_run_again(s.job, *pod)) {
      if (admitted) surplus.push_back(pod);
      continue;
    }
    const Task* task = s.job.find_task(task_of(*pod));
    const std::int64_t index = index_of(*pod);
    const bool wanted =
        task && index >= 0 && index < task->replicas && !(*pod)["metadata"]["annotations"].has(kOutOfSync);
    if (!wanted && admitted)
      surplus.push_back(pod);
    else
      counts.add(task_of(*pod), (*pod)["status"]["phase"].as_string());
  }
  if (!admitted) return {};
  s.plan.begin_stage("FailedCreate", "Error creating pods: [{}]");
  TRY_VOID(create_pods(s, known, counts, created));
  if (created.is_enough()) s.plan.requeue_after({});  // the next ones
  // The job has no event when a stranger's pod goes.
  if (created.held > 0 && !created.is_enough()) s.plan.requeue_after(kHeldPause);
  // This holds whatever was refused before: it may be the surplus that fills the quota.
  s.plan.begin_stage("FailedDelete", "Error deleting pods: [{}]");
  for (const Json* pod : surplus) {
    s.plan.remove(api::resources::kPods, *pod).fate = api::name_of(*pod);
    ++counts.terminating;
  }
  return {};
}

// For people: why the job waits, what ended it, or what restarts it.
std::string message_for(const Sync& s, Phase phase, const Counts& counts, const std::string& waits_for) {
  const std::string_view last = s.status["state"]["message"].as_string();
  if (phase == Phase::kFailed)
    return s.job.phase == Phase::kRestarting ? why_given_up(s.job, last) : why_failed(s.job, counts, s.seen.pods);
  if (phase == Phase::kRestarting) return std::string(last);
  return is_finished(phase) ? "" : waits_for;
}

void conclude(Sync& s, Rule rule, const Counts& counts) {
  const Phase phase = judge(rule, s.job, counts);
  const Json* trouble = s.seen.group ? trouble_of_group(*s.seen.group) : nullptr;
  const std::string refusal = refusal_sentence(s);
  const std::string group_waits_for = waiting_sentence(trouble);
  const std::string& waits_for = !refusal.empty() ? refusal : group_waits_for.empty() ? s.held : group_waits_for;
  std::string message = message_for(s, phase, counts, waits_for);
  const bool is_refused = !refusal.empty() && message == refusal;
  const bool is_hopeless = s.can_never_begin && s.status["state"]["reason"].as_string() != "DependencyNeverSatisfied";
  const bool is_news = !group_waits_for.empty() && message == group_waits_for && !is_refused &&
                       message != s.status["state"]["message"].as_string();
  Json status = with_edit(s.status, {.counts = counts,
                                     .phase = phase,
                                     .version = s.job.version,
                                     .retry_count = s.job.retry_count,
                                     .min_available = s.job.min_available,
                                     .controlled_resources = s.controlled,
                                     .message = std::move(message),
                                     .reason = is_refused          ? "CreationRefused"
                                               : s.can_never_begin ? "DependencyNeverSatisfied"
                                                                   : ""});
  if (status == s.status) return;
  const bool counts_only = differ_in_counts_only(s.status, status);
  if (counts_only && counts_wait(s.turn, s.plan)) return;
  stamp(status, phase, s.turn.now);
  s.plan.begin_stage();
  write_status(s.job, std::move(status), counts_only ? client::Urgency::kCounts : client::Urgency::kPhase, s.plan);
  if (is_hopeless) s.plan.event(s.job.object, "Warning", "DependencyNeverSatisfied", s.held);
  if (!is_news) return;
  s.plan.begin_stage();
  report_waiting_group(s, *trouble);
}

}  // namespace

void sync(const Job& job, const Observed& seen, const FindTaken& find_taken, Rule rule, const Turn& turn, Plan& plan) {
  Sync s{.job = job,
         .seen = seen,
         .find_taken = find_taken,
         .turn = turn,
         .plan = plan,
         .status = job.object["status"].is_object() ? job.object["status"] : Json::object(),
         .controlled = job.object["status"]["controlledResources"]};
  if (!s.controlled.is_object()) s.controlled = Json::object();
  Counts counts;
  if (rule == Rule::kS && job.retry_count >= job.max_retry) {  // no more attempts: nothing new is made
    if (keep_pods(s, false, counts).ok()) conclude(s, rule, counts);
    return;
  }
  begin(s);
  if (!seen.group) {
    JobsBefore before = waits_for_jobs(s.job, seen.jobs_before);
    if (!before.sentence.empty()) {
      s.held = std::move(before.sentence);
      s.can_never_begin = before.have_failed;
      if (keep_pods(s, false, counts).ok()) conclude(s, rule, counts);
      return;
    }
  }
  if (!find_queue(s)) return;
  if (waits_for_refused(s)) {
    if (keep_pods(s, false, counts).ok()) conclude(s, rule, counts);
    return;
  }
  if (!make_plugin_objects(s)) return;
  // COMPAT(claim-names): a name that somebody took away comes back in every phase.
  const bool volumes_due = s.job.phase == Phase::kPending || has_nameless_claim(s.job);
  if (volumes_due && !keep_volumes(s.job, seen, find_taken, plan, s.controlled)) return;
  keep_group(s);
  const std::string_view group_phase = seen.group ? (*seen.group)["status"]["phase"].as_string() : "";
  const bool admitted = !group_phase.empty() && group_phase != "Pending";
  if (const base::Status pods = keep_pods(s, admitted, counts); !pods.ok()) {
    plan.event(job.object, "Warning", "PluginError",
               "Execute plugin when job add failed, err: " + pods.error().message);
    plan.fail(pods.error());
    return;
  }
  conclude(s, rule, counts);
}

}  // namespace controllers::job
