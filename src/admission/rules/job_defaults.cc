// Defaults of the fields that a Job's author left out (webhooks.md 4).
#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>

#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "base/saturate.h"

namespace admission {

namespace {

// A rewritten task shows canonical quantities, as everybody expects from `get -o yaml`.
void canonical_resources(Json& task) {
  if (!task["template"]["spec"].is_object()) return;
  Json& spec = task.edit("template").edit("spec");
  for (const char* list : {"containers", "initContainers"}) {
    if (!spec.has(list)) continue;
    Json& containers = spec.edit(list);
    for (std::size_t i = 0; i < containers.size(); ++i)
      for (const char* side : {"requests", "limits"}) {
        if (!containers[i]["resources"].has(side)) continue;
        Json& values = containers.edit(i).edit("resources").edit(side);
        const Json before = values;
        for (const Json::Member& member : before.members())
          if (const auto quantity = api::Quantity::from_json(member.value))
            values.set(member.name(), quantity->to_string());
      }
  }
}

bool default_task(Json& task, std::size_t index) {
  bool touched = false;
  if (is_unset_text(task["name"])) {
    task.set("name", base::format("default{}", index));
    touched = true;
  }
  const Json& spec = task["template"]["spec"];
  if (spec["hostNetwork"].as_bool() && is_unset_text(spec["dnsPolicy"])) {
    task.edit_path({"template", "spec"}).set("dnsPolicy", "ClusterFirstWithHostNet");
    touched = true;
  }
  if (task["minAvailable"].is_null()) {
    const Json partition = task["partitionPolicy"];
    std::int64_t minimum = task["replicas"].as_int();
    if (partition["minPartitions"].as_int() > 0)
      minimum = base::saturating_multiply(partition["minPartitions"].as_int(), partition["partitionSize"].as_int());
    task.set("minAvailable", minimum);
    touched = true;
  }
  if (is_unset_number(task["maxRetry"])) {
    task.set("maxRetry", 3);
    touched = true;
  }
  return touched;
}

void default_plugins(Json& plugins) {
  bool distributed = false;
  for (const std::string_view name : kDistributedPlugins) distributed = distributed || plugins.has(name);
  if (distributed && !plugins.has("svc")) plugins.set("svc", Json::array());
  if (plugins.has("mpi") && !plugins.has("ssh")) plugins.set("ssh", Json::array());
}

}  // namespace

void default_job_spec(Json& spec, std::string_view scheduler_name) {
  if (is_unset_text(spec["queue"])) spec.set("queue", "default");
  if (is_unset_text(spec["schedulerName"])) spec.set("schedulerName", std::string(scheduler_name));
  if (is_unset_number(spec["maxRetry"])) spec.set("maxRetry", 3);
  if (spec["tasks"].is_array()) {
    Json tasks = spec["tasks"];
    bool touched = false;
    for (std::size_t i = 0; i < tasks.size(); ++i)
      if (tasks[i].is_object()) touched = default_task(tasks.edit(i), i) || touched;
    if (touched) {
      for (std::size_t i = 0; i < tasks.size(); ++i) {
        if (!tasks[i]["template"].is_object()) continue;
        canonical_resources(tasks.edit(i));
        if (!tasks[i]["template"].has("metadata")) tasks.edit(i).edit("template").set("metadata", Json::object());
      }
      spec.set("tasks", std::move(tasks));
    }
  }
  if (is_unset_number(spec["minAvailable"])) {
    std::int64_t sum = 0;
    for (const Json& task : spec["tasks"].items())
      sum = base::saturating_add(sum, task["minAvailable"].as_int(task["replicas"].as_int()));
    spec.set("minAvailable", std::min<std::int64_t>(sum, INT32_MAX));
  }
  if (spec["plugins"].is_object()) default_plugins(spec.edit("plugins"));
}

AdmissionAnswer default_job(const AdmissionRequest& request, const Options& options) {
  if (request.operation != api::Operation::kCreate) return refuse("expect operation to be 'CREATE' ");
  Json job = request.object;
  if (!job.is_object()) return {};
  if (job["spec"].is_null()) job.set("spec", Json::object());
  if (!job["spec"].is_object()) return {};
  default_job_spec(job.edit("spec"), options.scheduler_names.empty() ? "volcano" : options.scheduler_names.front());
  return changed(std::move(job));
}

namespace {

// The controller has named the claim; an update that does not speak of the name does not take it away.
void keep_claim_names(const Json& old_volumes, Json& spec) {
  if (!spec["volumes"].is_array()) return;
  std::map<std::string_view, std::string_view> names;  // of claims that were made, by the path of the mount; the first
  for (const Json& old : old_volumes.items())
    if (old["volumeClaim"].is_object() && !is_unset_text(old["volumeClaimName"]))
      names.emplace(old["mountPath"].as_string(), old["volumeClaimName"].as_string());
  for (std::size_t i = 0; i < spec["volumes"].size(); ++i) {
    const Json& volume = spec["volumes"][i];
    if (!volume["volumeClaim"].is_object() || !is_unset_text(volume["volumeClaimName"])) continue;
    const auto name = names.find(volume["mountPath"].as_string());
    if (name != names.end()) spec.edit("volumes").edit(i).set("volumeClaimName", name->second);
  }
}

}  // namespace

AdmissionAnswer default_job_again(const AdmissionRequest& request) {
  Json job = request.object;
  if (!job["spec"].is_object() || job["spec"] == request.old_object["spec"]) return {};
  const Json scheduler = request.old_object["spec"]["schedulerName"];
  default_job_spec(job.edit("spec"), scheduler.as_string("volcano"));
  keep_claim_names(request.old_object["spec"]["volumes"], job.edit("spec"));
  return changed(std::move(job));
}

}  // namespace admission
