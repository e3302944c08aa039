// Building a pod from its task's template, controllers.md 3.10 and 3.11.
#include "controllers/job/pods.h"

#include <set>
#include <utility>
#include <vector>

#include "api/json/json_bulk.h"
#include "api/json/limits.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/random.h"
#include "controllers/job/plugins/arguments.h"
#include "controllers/job/plugins/plugin.h"
#include "controllers/job/runs.h"

namespace controllers::job {

using api::Json;

namespace {

// FNV-1a, 64 bits.
std::uint64_t hash(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325ull) {
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  return seed;
}

void copy_annotation(const Job& job, Json& annotations, std::string_view key) {
  if (const auto* value = job.object["metadata"]["annotations"].find(key)) annotations.set(key, *value);
}

void set_annotations(const Job& job, const Task& task, std::int64_t index, bool forwarding, Json& metadata) {
  Json& annotations = metadata.edit("annotations");
  if (!annotations.is_object()) annotations = Json::object();
  annotations.set("volcano.sh/task-index", std::to_string(index));
  annotations.set("volcano.sh/task-spec", task.name);
  annotations.set("scheduling.k8s.io/group-name", job.group_name());
  annotations.set("volcano.sh/job-name", job.name);
  annotations.set("volcano.sh/queue-name", job.queue);
  annotations.set("volcano.sh/job-version", std::to_string(job.version));
  annotations.set("volcano.sh/template-uid", job.name + "-" + task.name);
  annotations.set("volcano.sh/job-retry-count", std::to_string(job.retry_count));
  if (!task.topology_policy.empty()) annotations.set("volcano.sh/numa-topology-policy", task.topology_policy);
  for (const char* key : {"volcano.sh/preemptable", "volcano.sh/cooldown-time", "volcano.sh/revocable-zone"})
    copy_annotation(job, annotations, key);
  copy_annotation(job, annotations,
                  job.object["metadata"]["annotations"].has("volcano.sh/jdb-min-available")
                      ? "volcano.sh/jdb-min-available"
                      : "volcano.sh/jdb-max-unavailable");
  if (forwarding) annotations.set("volcano.sh/job-forwarding", "true");
}

void set_labels(const Job& job, const Task& task, std::int64_t index, bool forwarding, Json& metadata) {
  Json& labels = metadata.edit("labels");
  if (!labels.is_object()) labels = Json::object();
  labels.set("volcano.sh/task-index", std::to_string(index));
  labels.set("volcano.sh/task-spec", task.name);
  labels.set("volcano.sh/job-name", job.name);
  labels.set("volcano.sh/job-namespace", job.ns);
  labels.set("volcano.sh/queue-name", job.queue);
  if (task.partition) labels.set("volcano.sh/partition-id", partition_of(task, index));
  for (const char* key : {"volcano.sh/preemptable", "volcano.sh/cooldown-time"})
    if (const auto* value = job.object["metadata"]["labels"].find(key)) labels.set(key, *value);
  if (forwarding) labels.set("volcano.sh/job-forwarding", "true");
}

void add_volumes(const Job& job, Json& pod) {
  std::set<std::string> claims;
  std::vector<Json> mounts;
  for (const Volume& volume : job.volumes) {
    if (volume.claim_name.empty() || !claims.insert(volume.claim_name).second) continue;
    // A volume's name is a DNS label, so a long job name is cut.
    const std::string name =
        base::format("{}-{}", job.name.substr(0, 50), derived_text(job.uid, "volume " + volume.claim_name, 12));
    pod.edit("spec").edit("volumes").push_back(
        Json::object({{"name", name}, {"persistentVolumeClaim", Json::object({{"claimName", volume.claim_name}})}}));
    mounts.push_back(Json::object({{"mountPath", volume.mount_path}, {"name", name}}));
  }
  if (mounts.empty()) return;
  for_containers(pod, false, [&mounts](Json& container) {
    for (const Json& mount : mounts) container.edit("volumeMounts").push_back(mount);
  });
}

}  // namespace

std::string derived_text(std::string_view uid, std::string_view salt, std::size_t length) {
  base::Random dice(hash(salt, hash(uid)));
  return dice.text(length, "0123456789abcdefghijklmnopqrstuvwxyz");
}

base::Result<MadePod> pod_for(const Job& job, const Task& task, std::int64_t index, bool forwarding) {
  Json metadata = Json::object({{"name", pod_name(job, task, index)}, {"namespace", job.ns}});
  const Json& given = task.pod_template["metadata"];
  for (const char* kept : {"labels", "annotations"})
    if (!given[kept].empty()) metadata.set(kept, given[kept]);
  set_annotations(job, task, index, forwarding, metadata);
  set_labels(job, task, index, forwarding, metadata);
  metadata.set("ownerReferences", Json::array({api::controller_reference(job.object)}));

  Json spec = task.pod_template["spec"];
  if (!spec.is_object()) spec = Json::object();
  if (spec["schedulerName"].as_string().empty()) spec.set("schedulerName", job.scheduler_name);
  if (spec["priorityClassName"].as_string().empty() && !job.priority_class.empty())
    spec.set("priorityClassName", job.priority_class);
  Json pod = Json::object(
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}, {"spec", std::move(spec)}});
  add_volumes(job, pod);
  TRY_VOID(edit_with_plugins(job, task, index, pod));
  set_array_index(job, index, pod);
  constexpr std::size_t kMeasuredMax = api::kObjectBytesMax + api::kObjectBytesMax / 16;  // it measures too much
  const auto extent = api::extent_within(pod, {.bytes = kMeasuredMax});
  if (!extent)
    return base::make_error(base::Code::kInvalid,
                            base::format("pod {}, with volumes and what plugins add, is larger than {} bytes",
                                         pod_name(job, task, index), api::kObjectBytesMax));
  return MadePod{std::move(pod), extent->bytes};
}

}  // namespace controllers::job
