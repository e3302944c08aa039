// Each kind's pods come from the code of its own controller.
#include "main/host/rehearsal/proposal.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "controllers/job/podgroup.h"
#include "controllers/job/pods.h"
#include "controllers/podgroup/controller.h"
#include "controllers/podgroup/native_groups.h"
#include "controllers/training/framework.h"
#include "controllers/training/pods.h"
#include "controllers/workloads/job_groups.h"
#include "controllers/workloads/pods.h"
#include "main/host/rehearsal/rehearsal.h"

namespace volcano_main {
namespace {

using api::Json;
namespace resources = api::resources;

constexpr std::string_view kGroupName = "scheduling.k8s.io/group-name";

base::Error refused(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

const controllers::training::Framework* framework_of(const Json& object) {
  const std::string_view group_version = object["apiVersion"].as_string();
  constexpr std::string_view kGroup = "kubeflow.org/";
  if (!group_version.starts_with(kGroup)) return nullptr;
  return controllers::training::find_framework(object["kind"].as_string(), group_version.substr(kGroup.size()));
}

bool is_of(const Json& object, std::string_view api_version, std::string_view kind) {
  return object["apiVersion"].as_string() == api_version && object["kind"].as_string() == kind;
}
bool is_volcano_job(const Json& object) { return is_of(object, resources::kJobs.api_version(), "Job"); }
bool is_batch_job(const Json& object) { return is_of(object, "batch/v1", "Job"); }
bool is_pod(const Json& object) { return is_of(object, "v1", "Pod"); }
bool is_group(const Json& object) { return is_of(object, resources::kPodGroups.api_version(), "PodGroup"); }

std::int64_t batch_pods_wanted(const Json& spec) {
  const std::int64_t parallel = spec["parallelism"].as_int(1);
  return std::max<std::int64_t>(
      spec["completions"].is_null() ? parallel : std::min(parallel, spec["completions"].as_int()), 0);
}

// True for pods that come when others are ready.
bool comes_later(const controllers::training::TrainingJob& job, const controllers::training::Replica& replica) {
  return job.framework->launcher_is_a_job && replica.type == "Launcher" && job.launcher_waits();
}

// The pods and groups of several workloads, together at most as large as is rehearsed.
class Maker {
 public:
  Maker(const std::vector<std::string>& schedulers, const PriorityOf& priority_of)
      : schedulers_(schedulers), priority_of_(priority_of) {}

  base::Status add(const Json& object) {
    if (is_group(object)) return add_group(object, object), base::Status();
    if (is_volcano_job(object)) return add_volcano_job(object);
    if (is_batch_job(object)) return add_batch_job(object);
    if (is_pod(object)) return add_plain(object, object, {});
    return add_training_job(*framework_of(object), object);
  }

  Proposal take() { return std::move(out_); }

 private:
  base::Status add_volcano_job(const Json& object) {
    const controllers::job::Job job = controllers::job::read_job(object);
    add_group(controllers::job::group_for(job, priority_of_), object);
    for (const controllers::job::Task& task : job.tasks) {
      if (!task.depends_on.empty()) continue;  // they come later
      for (std::int64_t index = 0; index < task.replicas; ++index) {
        TRY(controllers::job::MadePod made, controllers::job::pod_for(job, task, index, false));
        TRY_VOID(check_scheduler(made.object, object));
        made.object.edit_path({"metadata", "annotations"}).set(kGroupName, job.group_name());
        TRY_VOID(add_pod(std::move(made.object), object, made.bytes));
      }
    }
    return {};
  }

  base::Status add_training_job(const controllers::training::Framework& framework, const Json& object) {
    const controllers::training::TrainingJob job = controllers::training::read_job(framework, object);
    const controllers::training::Options options;
    if (const std::string problem = controllers::training::problem_of(job); !problem.empty())
      return refused(base::format("{} {}: {}", framework.kind, job.name, problem));
    if (controllers::training::names_other_scheduler(job, options))
      return refused(base::format("{} {}: another scheduler places its pods", framework.kind, job.name));
    add_group(controllers::training::group_for(job, options, priority_of_), object);
    for (const controllers::training::Replica& replica : job.replicas) {
      if (comes_later(job, replica)) continue;
      for (std::int64_t index = 0; index < replica.count; ++index) {
        Json pod = controllers::training::pod_for(job, replica, index, options);
        const std::size_t bytes = pod.dump().size();
        TRY_VOID(add_pod(std::move(pod), object, bytes));
      }
    }
    return {};
  }

  base::Status add_batch_job(const Json& object) {
    const std::int64_t count = batch_pods_wanted(object["spec"]);
    const bool is_gang = controllers::workloads::has_own_group(object);
    if (is_gang) add_native_group(object);
    for (std::int64_t index = 0; index < count; ++index) {
      Json pod = batch_pod(object, index);
      if (is_gang) pod = in_native_group(std::move(pod), object);
      TRY_VOID(add_plain(std::move(pod), object, {&object}));
    }
    return {};
  }

  static Json batch_pod(const Json& object, std::int64_t index) {
    return controllers::workloads::pod_from(object["spec"]["template"], object, "batch/v1", "Job",
                                            base::format("{}-{}", api::name_of(object), index));
  }

  // The group that follows from spec.scheduling, as the scheduler gets it.
  void add_native_group(const Json& object) {
    const Json workload = controllers::workloads::workload_for(object);
    const Json native = controllers::workloads::group_for(object, workload);
    add_group(controllers::podgroup::group_for_native(native, &workload, batch_pod(object, 0)), object);
  }
  static Json in_native_group(Json pod, const Json& object) {
    if (pod["spec"]["schedulerName"].as_string("default-scheduler") == "default-scheduler")
      pod.edit("spec").set("schedulerName", "volcano");  // as the server does
    pod.edit_path({"metadata", "annotations"}).set(kGroupName, controllers::workloads::group_name_of(object));
    return pod;
  }

  // A pod of no controller of ours: it names a group, or gets one of its own or of its owner.
  base::Status add_plain(Json pod, const Json& from, const std::vector<const Json*>& owners) {
    TRY_VOID(check_scheduler(pod, from));
    if (!controllers::podgroup::native_group_of(pod).empty())
      return refused(base::format("{} {}: pods of groups of scheduling.k8s.io are not rehearsed", api::kind_of(from),
                                  api::name_of(from)));
    if (api::annotation_of(pod, kGroupName).empty()) {
      const std::string name = controllers::podgroup::group_name_for(pod);
      if (std::ranges::none_of(out_.groups, [&](const Json& one) { return is_named(one, pod, name); }))
        add_group(controllers::podgroup::group_for(pod, owners, true), from);
      pod.edit_path({"metadata", "annotations"}).set(kGroupName, name);
    }
    const std::size_t bytes = pod.dump().size();
    return add_pod(std::move(pod), from, bytes);
  }

  base::Status check_scheduler(const Json& pod, const Json& from) const {
    std::string_view scheduler = pod["spec"]["schedulerName"].as_string();
    if (scheduler.empty()) scheduler = "default-scheduler";  // as the API server has it
    if (std::ranges::find(schedulers_, scheduler) != schedulers_.end()) return {};
    return refused(base::format("{} {}: the scheduler \"{}\" places its pods, and is not asked here",
                                api::kind_of(from), api::name_of(from), scheduler));
  }

  static bool is_named(const Json& group, const Json& pod, std::string_view name) {
    return api::name_of(group) == name && api::namespace_of(group) == api::namespace_of(pod);
  }

  void add_group(Json group, const Json& from) {
    if (api::uid_of(group).empty()) group.edit("metadata").set("uid", base::format("{}-group", api::uid_of(from)));
    group.edit("metadata").set("creationTimestamp", from["metadata"]["creationTimestamp"]);
    group.edit("status").set("phase", "Pending");
    out_.groups.push_back(std::move(group));
  }

  base::Status add_pod(Json pod, const Json& from, std::size_t bytes) {
    if (bytes_ += bytes; bytes_ > kRehearsedBytesMax)
      return refused(base::format("{} {}: the pods together have more than the {} MiB that are rehearsed",
                                  api::kind_of(from), api::name_of(from), kRehearsedBytesMax >> 20));
    if (api::uid_of(pod).empty())
      pod.edit("metadata").set("uid", base::format("{}-{}", api::uid_of(from), api::name_of(pod)));
    pod.edit("metadata").set("creationTimestamp", from["metadata"]["creationTimestamp"]);
    pod.edit("status").set("phase", "Pending");
    out_.pods.push_back(std::move(pod));
    return {};
  }

  const std::vector<std::string>& schedulers_;
  const PriorityOf& priority_of_;
  Proposal out_;
  std::size_t bytes_ = 0;
};

}  // namespace

std::optional<api::ResourceId> proposed_resource(const Json& object) {
  if (is_volcano_job(object)) return resources::kJobs;
  if (is_batch_job(object)) return controllers::workloads::kBatchJobs;
  if (is_pod(object)) return resources::kPods;
  if (is_group(object)) return resources::kPodGroups;
  if (const auto* framework = framework_of(object)) return framework->resource;
  return std::nullopt;
}

std::int64_t pods_wanted(const Json& workload) {
  const Json& spec = workload["spec"];
  if (is_volcano_job(workload)) return controllers::job::read_job(workload).replicas_total();
  if (is_pod(workload)) return 1;
  if (is_batch_job(workload)) return spec["suspend"].as_bool() ? 0 : batch_pods_wanted(spec);
  const auto* framework = framework_of(workload);
  if (framework == nullptr) return 0;
  const controllers::training::TrainingJob job = controllers::training::read_job(*framework, workload);
  return job.suspended ? 0 : job.total();
}

base::Result<Proposal> propose(const std::vector<Json>& objects, const std::vector<std::string>& schedulers,
                               const PriorityOf& priority_of) {
  Maker maker(schedulers, priority_of);
  for (const Json& object : objects)
    if (is_group(object) || pods_wanted(object) > 0) TRY_VOID(maker.add(object));
  return maker.take();
}

}  // namespace volcano_main
