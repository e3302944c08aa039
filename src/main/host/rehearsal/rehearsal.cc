// The job's group and pods are made by the code of the job controller and join the dump in a one-shot run.
#include "main/host/rehearsal/rehearsal.h"

#include <set>

#include "base/format.h"
#include "controllers/job/podgroup.h"
#include "controllers/job/pods.h"
#include "main/host/flags/manifests.h"
#include "scheduler/one_shot/one_shot.h"

namespace volcano_main {
namespace {

using api::Json;

// Admission, allocation, and the places that evictions free, with some to spare.
constexpr int kCycles = 8;

base::Error refused(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

base::Result<std::vector<Json>> pods_of(const controllers::job::Job& job, PodCompletion& completion) {
  std::vector<Json> pods;
  std::size_t bytes = 0;
  for (const controllers::job::Task& task : job.tasks) {
    if (!task.depends_on.empty()) continue;  // they come later
    for (std::int64_t index = 0; index < task.replicas; ++index) {
      TRY(controllers::job::MadePod made, controllers::job::pod_for(job, task, index, false));
      if (bytes += made.bytes; bytes > kRehearsedBytesMax)
        return refused(base::format("spec.tasks: the pods together have more than the {} MiB that are rehearsed",
                                    kRehearsedBytesMax >> 20));
      made.object.edit_path({"metadata", "annotations", "scheduling.k8s.io/group-name"}) = job.group_name();
      made.object.edit_path({"metadata", "uid"}) = base::format("{}-{}-{}", job.uid, task.name, index);
      made.object.edit_path({"metadata", "creationTimestamp"}) = job.object["metadata"]["creationTimestamp"];
      made.object.edit_path({"status", "phase"}) = "Pending";
      completion.complete(made.object);
      pods.push_back(std::move(made.object));
    }
  }
  return pods;
}

std::string as_lines(const std::vector<Json>& objects) {
  std::string lines;
  for (const Json& object : objects) lines += object.dump() + "\n";
  return lines;
}

Json answer_of(const scheduler::OneShot& run, const std::string& group, const std::vector<Json>& pods) {
  const auto binds = run.binds();
  std::set<std::string> nodes;
  std::int64_t starting = 0;
  for (const Json& pod : pods) {
    const auto found = binds.find(api::key_of(pod));
    if (found == binds.end()) continue;
    ++starting;
    nodes.insert(found->second);
  }
  const auto evictions = std::ranges::count_if(
      run.evictions(), [&](const scheduler::PlannedEviction& one) { return one.for_group == group; });
  const Json result = run.result();
  return Json::object({{"pods", static_cast<std::int64_t>(pods.size())},
                       {"starting", starting},
                       {"nodes", static_cast<std::int64_t>(nodes.size())},
                       {"evictions", static_cast<std::int64_t>(evictions)},
                       {"reason", result["waiting"][group]}});
}

}  // namespace

base::Result<Json> rehearse(const std::string& dump, const Json& object, const std::vector<Json>& claims,
                            const scheduler::Options& options) {
  const controllers::job::Job job = controllers::job::read_job(object);
  if (job.replicas_total() > kRehearsedReplicasMax)
    return refused(base::format("spec.tasks: {} pods are more than the {} that are rehearsed", job.replicas_total(),
                                kRehearsedReplicasMax));
  PodCompletion completion;
  completion.look_at("cluster.json", dump);
  TRY(const std::vector<Json> pods, pods_of(job, completion));
  if (pods.empty()) return refused("spec.tasks: the job has no pods to place");

  scheduler::OneShotOptions run_options;
  run_options.scheduler = options;
  run_options.as_is = true;
  run_options.now_given = false;
  run_options.cycles = kCycles;
  scheduler::OneShot run(std::move(run_options), [] { return std::pair(0.0, 0.0); });
  TRY_VOID(run.configure());
  TRY_VOID(run.load("cluster.json", dump));
  run.finish_loading();
  const auto priority_of = [&classes = run.model().priority_classes](std::string_view name) -> std::int64_t {
    const auto found = classes.find(name);
    return found == classes.end() ? 0 : found->second;
  };
  Json group = controllers::job::group_for(job, priority_of);
  group.edit_path({"metadata", "uid"}) = job.uid + "-group";
  group.edit_path({"metadata", "creationTimestamp"}) = object["metadata"]["creationTimestamp"];
  group.edit_path({"status", "phase"}) = "Pending";
  TRY_VOID(run.load("claims.jsonl", as_lines(claims)));
  TRY_VOID(run.load("group.jsonl", as_lines({std::move(group)})));
  TRY_VOID(run.load("pods.jsonl", as_lines(pods)));
  run.run_phase();
  return answer_of(run, job.ns + "/" + job.group_name(), pods);
}

}  // namespace volcano_main
