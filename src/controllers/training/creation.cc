// Creations, none of which takes the name of somebody else's object.
#include "controllers/training/creation.h"

#include <algorithm>
#include <map>
#include <optional>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/letters.h"
#include "controllers/training/companions.h"
#include "controllers/training/endings.h"
#include "controllers/training/framework.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods.h"

namespace controllers::training {

using api::Json;
namespace resources = api::resources;

namespace {

// The rest comes at the next look.
constexpr std::size_t kPodsPerLook = 256;
// Pods that are told of thousands of others are large, and many jobs may be looked at before the first are written.
constexpr std::size_t kBytesPerLook = std::size_t{8} << 20;

struct Running {
  std::vector<std::string> workers;  // names, sorted
  int launchers = 0;
};

Running running_of(const Observed& seen) {
  Running found;
  for (const Json* pod : seen.pods) {
    const bool runs = pod_phase(*pod) == "Running" && !api::is_deleting(*pod);
    if (is_launcher(*pod))
      found.launchers += runs;
    else if (runs)
      found.workers.emplace_back(api::name_of(*pod));
  }
  std::sort(found.workers.begin(), found.workers.end());
  for (const Json* pod : seen.launcher_pods) found.launchers += pod_phase(*pod) == "Running" && !api::is_deleting(*pod);
  return found;
}

// False: somebody else's object has its name.
bool make_own_object(const TrainingJob& job, const OwnObject& one, const Json* have, Output& out) {
  if (!have) {
    Action& action = out.plan().create(one.resource, one.object);
    action.addition = one.addition;
    action.failure_reason = "FailedCreate";
    action.failure_text = "Error creating: {}";
  } else if (!job.owns(*have)) {
    out.report_once({"Warning", "ErrResourceExists",
                     base::format(R"(Resource "{}" of MPIJobKind "{}" already exists and is not managed by MPIJob)",
                                  api::name_of(one.object), api::kind_of(one.object))});
    out.plan().requeue_after(kStrangerPause);
    return false;
  } else if (one.content && (*have)[one.content] != one.object[one.content]) {
    Json patch = Json::array({Json::object(
        {{"op", "add"}, {"path", base::format("/{}", one.content)}, {"value", one.object[one.content]}})});
    Action& action = out.plan().patch(one.resource, *have, client::PatchType::kJson, std::move(patch));
    action.failure_reason = "FailedUpdate";
    action.failure_text = "Error updating: {}";
  }
  return true;
}

// The size as text, about. Unset: every container is told of every other pod, which is more than can be stored, and may
// be more than there is memory; the pod is not sent.
std::optional<std::size_t> bytes_of(const Json& pod) {
  constexpr std::size_t kMeasuredMax = api::kObjectBytesMax + api::kObjectBytesMax / 16;  // it measures too much
  const auto extent = api::extent_within(pod, {.bytes = kMeasuredMax});
  return extent ? std::optional(extent->bytes) : std::nullopt;
}

Message too_large(const Json& pod) {
  return {"Warning", "FailedCreatePod",
          base::format("Error creating: pod \"{}\", with what its containers are told of each other, is larger than {} "
                       "bytes",
                       api::name_of(pod), api::kObjectBytesMax)};
}

void make(const TrainingJob& job, const FindTaken& find_taken, const api::ResourceId& resource, Json object,
          std::string_view kind, Output& out) {
  const std::string name(api::name_of(object));
  const std::string word = base::lower(kind);
  if (const Json* other = find_taken(resource, name)) {
    if (job.owns(*other)) return;
    out.report_once({"Warning", base::format("FailedCreate{}", kind),
                     base::format("Error creating: {} \"{}\" exists and does not belong to this job", word, name)});
    return out.plan().requeue_after(kStrangerPause);
  }
  Action& action = out.plan().create(resource, std::move(object));
  action.stops_nothing = true;
  action.fate = kind;  // what is refused to one, as by a quota, need not be asked for all
  action.success_reason = base::format("SuccessfulCreate{}", kind);
  // COMPAT(training-events): one event for all that are made at a time.
  action.success_text = base::format("Created {}: {{}}", word);
  action.success_name = name;
  if (job.framework->kind == "MPIJob") {
    const bool of_launcher = name.ends_with("-launcher");
    if (of_launcher) action.success_reason = "MPIJobRunning";
    action.success_text =
        of_launcher ? base::format("launcher {} created success: {{}}", word) : "Created worker pod: {}";
  }
  action.failure_reason = base::format("FailedCreate{}", kind);
  action.failure_text = "Error creating: {}";
  if (kind != "Job") out.count(kind == "Pod" ? "created_pods_total" : "succeeded_service_creation_total");
}

void warn_of_template(const TrainingJob& job, const Replica& replica, Output& out) {
  if (replica.pod_template["spec"]["restartPolicy"].as_string().empty()) return;
  out.report_once(
      {"Warning", job.framework->kind == "MPIJob" ? "SettedPodTemplateRestartPolicy" : "SetPodTemplateRestartPolicy",
       "Restart policy in pod template will be overwritten by restart policy in replica spec", replica.type});
}

void make_launcher_job(const Observed& seen, const FindTaken& find_taken, const Options& options,
                       const Replica& replica, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (seen.launcher_job) return suspend_launcher_job(seen, false, out);
  warn_of_template(job, replica, out);
  make(job, find_taken, kBatchJobs, launcher_job(job, pod_for(job, replica, 0, options)), "Job", out);
}

// The pods of one look.
struct Made {
  std::size_t pods = 0;
  std::size_t bytes = 0;  // as text
};

// The places of one type, and what is made of them.
struct Places {
  const TrainingJob& job;
  const Replica& replica;
  const PodsByIndex& pods;
  const std::set<std::string_view>& services;  // names
};

// The pods of one look with those that it makes here; `made` are those before.
Made make_pods(const Places& places, const FindTaken& find_taken, const Options& options, const RestartPauses& pauses,
               base::Time now, Made made, Output& out) {
  const auto& [job, replica, pods, services] = places;
  for (std::int64_t index = 0; index < replica.count; ++index) {
    if (made.pods >= kPodsPerLook || made.bytes >= kBytesPerLook) {
      out.plan().requeue_after({});
      break;
    }
    const std::string name = job.pod_name(replica, index);
    const auto there = pods.find(index);
    const base::Duration rest = pauses.left(name, now);
    if (rest > base::Duration{}) out.plan().requeue_after(rest);
    if (rest <= base::Duration{} && (there == pods.end() || there->second.empty())) {
      warn_of_template(job, replica, out);
      Json pod = pod_for(job, replica, index, options);
      const auto bytes = bytes_of(pod);
      if (!bytes) {
        out.report_once(too_large(pod));
        break;
      }
      made.bytes += *bytes;
      make(job, find_taken, resources::kPods, std::move(pod), "Pod", out);
      ++made.pods;
    }
    if (job.framework->has_services && !services.contains(name))
      make(job, find_taken, resources::kServices, service_for(job, replica, index), "Service", out);
  }
  return made;
}

// A launcher that waits for its workers.
bool waits_for_workers(const Observed& seen, const PodsByType& pods, const PodsByIndex& launchers) {
  const TrainingJob& job = seen.reading->job;
  return job.launcher_waits() && launchers.empty() && !seen.launcher_job && !are_workers_ready(job, pods);
}

}  // namespace

bool make_own_objects(const Observed& seen, const FindTaken& find_taken, const Options& options, Output& out) {
  const TrainingJob& job = seen.reading->job;
  if (!job.framework->objects) return true;
  const Running running = running_of(seen);
  const Replica* worker = job.find("Worker");
  if (running.launchers > 0 && running.workers.size() == static_cast<std::size_t>(worker ? worker->count : 0))
    out.report_once({"Normal", "MPIJobRunning", base::format("MPIJob {} is running", job.key(job.name))});
  out.plan().begin_stage();
  for (const OwnObject& one : job.framework->objects(job, running.workers, options)) {
    // A binding gives what the Role of its name says: it is not sent before that one is known to be the job's own, also
    // where this view does not show somebody else's yet.
    if (one.resource == kRoleBindings) out.plan().begin_stage();
    if (!make_own_object(job, one, find_taken(one.resource, api::name_of(one.object)), out)) return false;
  }
  return true;
}

void make_replicas(const Observed& seen, const FindTaken& find_taken, const Options& options, const PodsByType& pods,
                   const RestartPauses& pauses, base::Time now, Output& out) {
  const TrainingJob& job = seen.reading->job;
  out.plan().begin_stage();
  std::vector<const Replica*> order;
  for (const Replica& one : job.replicas) order.push_back(&one);
  // In an MPIJob workers come before the launcher.
  if (job.framework->kind == "MPIJob") std::ranges::reverse(order);
  std::set<std::string_view> services;
  if (job.framework->has_services)
    for (const Json* service : seen.services) services.insert(api::name_of(*service));
  Made made;
  for (const Replica* replica : order) {
    const PodsByIndex& of_type = pods.at(replica->lower);
    if (job.framework->launcher_is_a_job && replica->type == "Launcher") {
      if (waits_for_workers(seen, pods, of_type)) continue;
      if (has_launcher_job(job, options)) {
        make_launcher_job(seen, find_taken, options, *replica, out);
        continue;
      }
    }
    made = make_pods({job, *replica, of_type, services}, find_taken, options, pauses, now, made, out);
  }
}

}  // namespace controllers::training
