// The pods of a job: what became of them, and those that are missing (training.md 4.5, 7.4, 8.5).
#include <algorithm>
#include <optional>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "controllers/framework/counts.h"
#include "controllers/framework/disruption.h"
#include "controllers/groups/waiting.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods.h"
#include "controllers/training/training_step.h"

namespace controllers::training {

using api::Json;
namespace resources = api::resources;

namespace {

// The rest comes at the next look.
constexpr std::size_t kPodsPerLook = 256;
// Pods that are told of thousands of others are large, and many jobs may be looked at before the first are written.
constexpr std::size_t kBytesPerLook = std::size_t{8} << 20;
// From here on a container was ended from outside, and may be tried again.
constexpr std::int64_t kRetryableFrom = 128;

std::optional<std::int64_t> index_of(const Json& pod) {
  const std::string_view text = api::label_of(pod, kReplicaIndex);
  if (text.empty()) return 0;  // a launcher
  const auto index = base::parse_number<std::int64_t>(text);
  return index && *index >= 0 ? index : std::nullopt;
}

std::string_view phase_of(const Json& pod) { return pod["status"]["phase"].as_string(); }

}  // namespace

bool is_launcher(const Json& pod) { return api::label_of(pod, kReplicaType) == "launcher"; }

std::optional<std::int64_t> exit_code_of(const Json& pod, std::string_view container) {
  for (const Json& one : pod["status"]["containerStatuses"].items())
    if (one["name"].as_string() == container && one["state"]["terminated"].is_object())
      return one["state"]["terminated"]["exitCode"].as_int();
  return std::nullopt;
}

void TrainingStep::sort_pods() {
  for (const Replica& replica : job_.replicas) pods_[replica.lower] = {};
  const Replica* worker = job_.find("Worker");
  const std::int64_t first = worker ? first_index(job_, *worker) : 0;
  for (const Json* pod : seen_.pods) {
    const auto buckets = pods_.find(api::label_of(*pod, kReplicaType));
    // There is one launcher, whatever its labels say.
    const auto label = is_launcher(*pod) ? first : index_of(*pod);
    if (buckets == pods_.end() || !label) continue;
    if (const std::int64_t index = *label - first; index >= 0) buckets->second[index].push_back(pod);
  }
}

// Its pods are the Job's; it says itself when it is over.
void TrainingStep::look_at_launcher_job() {
  if (!seen_.launcher_job) return;
  Counts& counts = verdict_.all_counts()["Launcher"];
  for (const Json* pod : seen_.launcher_pods) {
    counts.active += phase_of(*pod) == "Running" && !api::is_deleting(*pod);
    if (!api::is_deleting(*pod)) mirror_trouble(*pod);
  }
  const Json& status = (*seen_.launcher_job)["status"];
  counts.failed = status["failed"].as_int();
  for (const Json& one : status["conditions"].items()) {
    if (one["status"].as_string() != "True") continue;
    counts.active = 0;  // pods that are on their way out
    if (one["type"].as_string() == "Complete") counts.succeeded = 1;
    if (one["type"].as_string() == "Failed")
      verdict_.launcher_failure = base::format("{}: {}", one["reason"].as_string(), one["message"].as_string());
  }
}

void TrainingStep::look_at_pods() {
  for (const Replica& replica : job_.replicas) {
    verdict_.all_counts()[replica.type] = {};
    for (const auto& [index, pods] : pods_[replica.lower]) {
      // The numbers of a spec that makes no sense make none either.
      if (index >= replica.count && is_valid()) {
        for (const Json* pod : pods) remove_pod(*pod);
      } else if (pods.size() == 1) {
        look_at(replica, *pods.front());
      }
    }
  }
  if (is_valid() && job_.framework->has_services && static_cast<std::int64_t>(seen_.services.size()) > job_.total())
    remove_surplus_services();
  look_at_launcher_job();
  if (has_launcher_pods()) verdict_.all_counts()["Launcher"].failed = failed_launchers(false);
}

// As a Job counts: each pod that failed, also those that are gone.
std::int64_t TrainingStep::failed_launchers(bool all_end) const {
  std::int64_t failed = status_["restartCount"].as_int();
  const Replica* launcher = job_.find("Launcher");
  const auto found = launcher ? pods_.find(launcher->lower) : pods_.end();
  if (found == pods_.end()) return failed;
  for (const auto& [index, pods] : found->second)
    for (const Json* pod : pods) {
      const bool ends = phase_of(*pod) == "Failed" || (all_end && phase_of(*pod) != "Succeeded");
      const bool is_counted =
          is_restart_counted(*pod) || decision_.memory.restarts.contains(std::string(api::uid_of(*pod)));
      failed += ends && !is_counted && !is_taken_away(*pod);
    }
  return fit_count(failed);
}

// Also of pods that went before: their services may have stayed.
void TrainingStep::remove_surplus_services() {
  for (const Json* service : seen_.services) {
    const std::string_view type = api::label_of(*service, kReplicaType);
    const auto replica = std::ranges::find_if(job_.replicas, [&](const Replica& one) { return one.lower == type; });
    const auto index = index_of(*service);
    if (replica == job_.replicas.end() || !index || *index >= replica->count) remove_service(*service);
  }
}

void TrainingStep::look_at(const Replica& replica, const Json& pod) {
  const std::string_view phase = phase_of(pod);
  const auto exit_code = exit_code_of(pod, job_.framework->container);
  say_how_it_ended(pod, exit_code);
  if (is_taken_away(pod)) return make_up_for(pod);
  if (const auto known = restarts_before_.find(std::string(api::uid_of(pod))); known != restarts_before_.end())
    decision_.memory.restarts.insert(*known);
  if (phase == "Failed" && !api::is_deleting(pod)) restart_or_fail(replica, pod);
  Counts& counts = verdict_.all_counts()[replica.type];
  if (phase == "Running") {
    ++counts.active;
  } else if (phase == "Succeeded") {
    ++counts.succeeded;
    if (replica.type == "Worker" && index_of(pod) == 0 && exit_code.value_or(0) == 0)
      verdict_.first_worker_is_done = true;
  } else if (phase == "Failed") {
    ++counts.failed;
  }
  if ((phase == "Running" || phase == "Pending") && !api::is_deleting(pod)) mirror_trouble(pod);
}

// COMPAT(training-disruptions): such a pod counts nowhere, and its place is filled again.
bool TrainingStep::is_taken_away(const Json& pod) const {
  if (restarts_before_.contains(std::string(api::uid_of(pod)))) return false;  // the operator itself removes it
  if (api::is_deleting(pod)) return !ended_before_deletion(pod);
  // A job whose spec gives no other pod ends as its pods end.
  return phase_of(pod) == "Failed" && is_valid() && is_disrupted(pod);
}

void TrainingStep::make_up_for(const Json& pod) {
  if (api::is_deleting(pod)) return;
  const Json& status = pod["status"];
  const std::string_view reason = status["reason"].as_string();
  const std::string_view why = status["message"].as_string();
  say_once("Warning", reason.empty() ? "Disrupted" : reason,
           base::format("Pod {} was taken away and is made again{}{}", api::name_of(pod), why.empty() ? "" : ": ", why),
           api::uid_of(pod));
  to_make_again_.push_back(&pod);
}

// COMPAT(training-events): that a worker is done is in its pod's status.
void TrainingStep::say_how_it_ended(const Json& pod, std::optional<std::int64_t> exit_code) {
  if (exit_code && (*exit_code != 0 || api::label_of(pod, kJobRole) == "master"))
    say_once("Normal", "ExitedWithCode",
             base::format("Pod: {}.{} exited with code {}", job_.ns, api::name_of(pod), *exit_code), api::uid_of(pod));
  if (!api::is_deleting(pod)) mirror_waiting_for_master(pod);
}

bool TrainingStep::is_made_again(const Replica& replica) const {
  return replica.tried_again && (!job_.framework->restarts_by_exit_code_only || replica.restart_policy == "ExitCode");
}

// Such a failure would come again.
bool TrainingStep::is_permanent(const Replica& replica, const Json& failed) const {
  return replica.restart_policy == "ExitCode" &&
         exit_code_of(failed, job_.framework->container).value_or(kRetryableFrom) < kRetryableFrom;
}

// Whether the status has it, although the pod is still there.
bool TrainingStep::is_restart_counted(const Json& pod) const {
  const auto found = restarts_before_.find(std::string(api::uid_of(pod)));
  return found != restarts_before_.end() && (*seen_.job)["status"]["restartCount"].as_int() >= found->second;
}

void TrainingStep::restart_or_fail(const Replica& replica, const Json& pod) {
  if (!is_made_again(replica)) return;
  if (is_permanent(replica, pod))
    return verdict_.failed(
        base::format("job \"{}\" is failing because \"{}\" replica(s) failed.", job_.name, replica.type), "Warning");
  if (!is_valid()) return;  // no other would take its place
  const std::string uid(api::uid_of(pod));
  const bool is_counted = is_restart_counted(pod);
  if (!is_counted) status_.set("restartCount", fit_count(status_["restartCount"].as_int() + 1));
  decision_.memory.restarts[uid] = is_counted ? restarts_before_[uid] : status_["restartCount"].as_int();
  to_make_again_.push_back(&pod);
  count("training_operator_jobs_restarted_total");
  verdict_.restarting(base::format("job {} is restarting because {} replica(s) failed.", job_.name, replica.type));
}

void TrainingStep::remove_failed() {
  if (to_make_again_.empty()) return;
  plan().begin_stage();
  for (const Json* pod : to_make_again_) remove_pod(*pod);
}

// COMPAT(training-master): whoever gave up says so where it is looked for.
void TrainingStep::mirror_waiting_for_master(const Json& pod) {
  for (const Json& one : pod["status"]["initContainerStatuses"].items()) {
    if (one["name"].as_string() != kWaitsForMaster) continue;
    for (const char* state : {"state", "lastState"})
      if (one[state]["terminated"]["exitCode"].as_int() != 0)
        return say_once("Warning", "MasterNotResolved",
                        base::format("Pod {} waited in vain for the name {}-master-0 to resolve; look at that pod, its "
                                     "service, and the cluster's DNS",
                                     api::name_of(pod), job_.name),
                        api::uid_of(pod));
  }
}

// The trouble of a pod is said of its job, too.
void TrainingStep::mirror_trouble(const Json& pod) {
  const auto say = [&](const Json& reason, const std::string& text) {
    if (!reason.as_string().empty()) say_once("Warning", reason.as_string(), text, api::uid_of(pod));
  };
  const std::string_view name = api::name_of(pod);
  const Json& containers = pod["status"]["containerStatuses"];
  for (const Json& one : containers.items()) {
    const Json& ended = one["state"]["terminated"];
    const Json& waits = one["state"]["waiting"];
    if (ended["exitCode"].as_int() != 0)
      say(ended["reason"],
          base::format("Error pod {} container {} exitCode: {} terminated message: {}", name, one["name"].as_string(),
                       ended["exitCode"].as_int(), ended["message"].as_string()));
    else if (!waits["message"].as_string().empty())
      say(waits["reason"], base::format("Error pod {} container {} waiting message: {}", name, one["name"].as_string(),
                                        waits["message"].as_string()));
  }
  if (!containers.empty()) return;
  if (const Json* trouble = trouble_of(pod["status"]))
    say((*trouble)["reason"],
        base::format("Error pod {} condition message: {}", name, (*trouble)["message"].as_string()));
}

// COMPAT(training-priority): a job that names a class that is not there waits for it, as a pod of that class would be
// refused. A job that has begun goes on. If not even the system's classes are seen, they are hidden from us.
bool TrainingStep::are_priorities_known() {
  if (!seen_.pods.empty() || group() || seen_.view->all(resources::kPriorityClasses).empty()) return true;
  for (const auto& [path, name] : priority_classes_of(*job_.framework, job_.object)) {
    if (seen_.view->find(resources::kPriorityClasses, name)) continue;
    say_once("Warning", "PriorityClassNotFound",
             base::format("{}: no PriorityClass with name {} was found; create it, or name another one: until then the "
                          "job has no pods",
                          path, name));
    return false;
  }
  return true;
}

bool TrainingStep::admit_group() {
  if (!options_.gang) return true;
  const PriorityOf priority_of = [this](std::string_view name) {
    const Json* found = seen_.view->find(resources::kPriorityClasses, name);
    return found ? (*found)["value"].as_int() : 0;
  };
  // COMPAT(mpi-scheduler-warning)
  if (names_other_scheduler(job_, options_))
    say_once("Warning",
             job_.framework->kind == "MPIJob" ? "SettedPodTemplateSchedulerName" : "SetPodTemplateSchedulerName",
             "Another scheduler is specified when gang-scheduling is enabled and it will not be overwritten");
  const Json* found = group();
  if (!found) {
    Action& action = plan().create(group_resource(options_), group_for(job_, options_, priority_of));
    action.failure_reason = "FailedCreatePodGroup";
    action.failure_text = "Error creating: {}";
    action.stops_nothing = true;  // the status says at least that the job is there
    count("created_pod_groups_total");
    return false;
  }
  if (!is_ours(*found)) {
    say_once("Warning", "FailedCreatePodGroup",
             base::format("PodGroup {} exists and does not belong to this job; delete it, or give the job another name",
                          key(job_.name)));
    return false;
  }
  if (api::is_deleting(*found)) return false;
  if (!good_group_.same_as(*found)) {
    good_group_ = Json();
    if (auto patch = group_patch(job_, options_, *found, priority_of)) {
      Action& action = plan().patch(group_resource(options_), *found, client::PatchType::kJson, *std::move(patch));
      action.stops_nothing = true;
      action.failure_reason = "FailedUpdatePodGroup";
      action.failure_text = "Error updating: {}";
    } else if (!reading_->names_classes) {
      good_group_ = *found;
    }
  }
  // Other schedulers want to see the pods first, and so it is with MPIJobs of v2beta1.
  if (!options_.plugin_scheduler.empty() || job_.framework->launcher_is_a_job) return true;
  const std::string_view phase = (*found)["status"]["phase"].as_string();
  const bool admitted = !phase.empty() && phase != "Pending";
  // COMPAT(training-waits): a job without pods has nothing else that could say it.
  if (const std::string why = waiting_sentence(trouble_of_group(*found)); !admitted && !why.empty())
    say_once("Warning", "PodGroupPending", base::format("PodGroup {} waits: {}", key(job_.name), why));
  return admitted;
}

// False if one of them belongs to somebody else; nothing that comes after it is made then.
bool TrainingStep::make_own_objects() {
  if (!job_.framework->objects) return true;
  std::vector<std::string> running;
  int launchers = 0;
  for (const Json* pod : seen_.pods) {
    const bool runs = phase_of(*pod) == "Running" && !api::is_deleting(*pod);
    if (is_launcher(*pod))
      launchers += runs;
    else if (runs)
      running.emplace_back(api::name_of(*pod));
  }
  std::sort(running.begin(), running.end());
  const Replica* worker = job_.find("Worker");
  for (const Json* pod : seen_.launcher_pods) launchers += phase_of(*pod) == "Running" && !api::is_deleting(*pod);
  if (launchers > 0 && running.size() == static_cast<std::size_t>(worker ? worker->count : 0))
    say_once("Normal", "MPIJobRunning", base::format("MPIJob {} is running", key(job_.name)));
  plan().begin_stage();
  for (const OwnObject& one : job_.framework->objects(job_, running, options_)) {
    const Json* have = seen_.view->find(one.resource, api::key_of(one.object));
    // A binding gives what the Role of its name says: it is not sent before that one is known to be the job's own, also
    // where this view does not show somebody else's yet.
    if (one.resource == kRoleBindings) plan().begin_stage();
    if (!have) {
      Action& action = plan().create(one.resource, one.object);
      action.addition = one.addition;
      action.failure_reason = "FailedCreate";
      action.failure_text = "Error creating: {}";
    } else if (!is_ours(*have)) {
      say_once("Warning", "ErrResourceExists",
               base::format(R"(Resource "{}" of MPIJobKind "{}" already exists and is not managed by MPIJob)",
                            api::name_of(one.object), api::kind_of(one.object)));
      plan().requeue_after(kStrangerPause);
      return false;
    } else if (one.content && (*have)[one.content] != one.object[one.content]) {
      Json patch = Json::array({Json::object(
          {{"op", "add"}, {"path", base::format("/{}", one.content)}, {"value", one.object[one.content]}})});
      Action& action = plan().patch(one.resource, *have, client::PatchType::kJson, std::move(patch));
      action.failure_reason = "FailedUpdate";
      action.failure_text = "Error updating: {}";
    }
  }
  return true;
}

void TrainingStep::make_missing() {
  plan().begin_stage();
  // In an MPIJob workers come before the launcher.
  if (job_.framework->kind == "MPIJob") {
    for (auto one = job_.replicas.rbegin(); one != job_.replicas.rend(); ++one) make_replicas(*one);
  } else {
    for (const Replica& one : job_.replicas) make_replicas(one);
  }
}

bool TrainingStep::are_workers_ready() const {
  const Replica* worker = job_.find("Worker");
  const auto found = pods_.find("worker");
  std::int64_t ready = 0;
  if (found != pods_.end())
    for (const auto& [index, pods] : found->second)
      for (const Json* pod : pods)
        for (const Json& one : (*pod)["status"]["conditions"].items())
          ready += one["type"].as_string() == "Ready" && one["status"].as_string() == "True";
  return !worker || ready >= worker->count;
}

void TrainingStep::make_launcher_job(const Replica& replica) {
  if (seen_.launcher_job) return patch_suspend(false);
  warn_of_template(replica);
  make(kBatchJobs, launcher_job(job_, pod_for(job_, replica, 0, options_)), "Job");
}

void TrainingStep::make_replicas(const Replica& replica) {
  if (job_.framework->launcher_is_a_job && replica.type == "Launcher") {
    const bool waits = job_.launcher_waits();
    if (waits && pods_[replica.lower].empty() && !seen_.launcher_job && !are_workers_ready()) return;
    if (has_launcher_job()) return make_launcher_job(replica);
  }
  const Buckets& pods = pods_[replica.lower];
  for (std::int64_t index = 0; index < replica.count; ++index) {
    if (made_ >= kPodsPerLook || bytes_ >= kBytesPerLook) return plan().requeue_after({});
    const std::string name = job_.pod_name(replica, index);
    const auto there = pods.find(index);
    const base::Duration rest = decision_.memory.pauses.left(name, turn_.now);
    if (rest > base::Duration{}) plan().requeue_after(rest);
    if (rest <= base::Duration{} && (there == pods.end() || there->second.empty())) {
      warn_of_template(replica);
      Json pod = pod_for(job_, replica, index, options_);
      const auto bytes = bytes_of(pod);
      if (!bytes) return;
      bytes_ += *bytes;
      make(resources::kPods, std::move(pod), "Pod");
      ++made_;
    }
    if (job_.framework->has_services && !service_named(name))
      make(resources::kServices, service_for(job_, replica, index), "Service");
  }
}

// As text, about. Nothing: every container is told of every other pod, and that is more than can be stored; it is not
// sent, and may be more than there is memory.
std::optional<std::size_t> TrainingStep::bytes_of(const Json& pod) {
  constexpr std::size_t kMeasuredMax = api::kObjectBytesMax + api::kObjectBytesMax / 16;  // it measures too much
  if (const auto extent = api::extent_within(pod, {.bytes = kMeasuredMax})) return extent->bytes;
  say_once(
      "Warning", "FailedCreatePod",
      base::format("Error creating: pod \"{}\", with what its containers are told of each other, is larger than {} "
                   "bytes",
                   api::name_of(pod), api::kObjectBytesMax));
  return std::nullopt;
}

void TrainingStep::make(const api::ResourceId& resource, Json object, std::string_view kind) {
  const std::string name(api::name_of(object));
  const std::string word = lower_case(kind);
  if (const Json* other = seen_.view->find(resource, key(name))) {
    if (is_ours(*other)) return;
    say_once("Warning", base::format("FailedCreate{}", kind),
             base::format("Error creating: {} \"{}\" exists and does not belong to this job", word, name));
    return plan().requeue_after(kStrangerPause);
  }
  Action& action = plan().create(resource, std::move(object));
  action.stops_nothing = true;
  action.fate = kind;  // what is refused to one, as by a quota, need not be asked for all
  action.success_reason = base::format("SuccessfulCreate{}", kind);
  // COMPAT(training-events): one event for all that are made at a time.
  action.success_text = base::format("Created {}: {{}}", word);
  action.success_name = name;
  if (job_.framework->kind == "MPIJob") {
    const bool of_launcher = name.ends_with("-launcher");
    if (of_launcher) action.success_reason = "MPIJobRunning";
    action.success_text =
        of_launcher ? base::format("launcher {} created success: {{}}", word) : "Created worker pod: {}";
  }
  action.failure_reason = base::format("FailedCreate{}", kind);
  action.failure_text = "Error creating: {}";
  if (kind != "Job") count(kind == "Pod" ? "created_pods_total" : "succeeded_service_creation_total");
}

void TrainingStep::warn_of_template(const Replica& replica) {
  if (replica.pod_template["spec"]["restartPolicy"].as_string().empty()) return;
  say_once("Warning",
           job_.framework->kind == "MPIJob" ? "SettedPodTemplateRestartPolicy" : "SetPodTemplateRestartPolicy",
           "Restart policy in pod template will be overwritten by restart policy in replica spec", replica.type);
}

}  // namespace controllers::training
