// The fields of a Job that may change (webhooks.md 5.6): sizes, priority class, and the claim names that the controller
// fills in.
#include "admission/rules/rules.h"
#include "admission/rules/vocabulary.h"
#include "api/kinds.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/saturate.h"
#include "base/trim.h"

namespace admission {

namespace {

// The spec with everything that may change taken out.
Json frozen_part(const Json& spec) {
  if (!spec.is_object()) return spec;
  Json frozen = spec;
  frozen.erase("minAvailable");
  frozen.erase("priorityClassName");
  if (frozen["tasks"].is_array()) {
    Json& tasks = frozen.edit("tasks");
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].is_object()) continue;
      tasks.edit(i).erase("replicas");
      tasks.edit(i).erase("minAvailable");
    }
  }
  if (frozen["volumes"].is_array()) {
    Json& volumes = frozen.edit("volumes");
    for (std::size_t i = 0; i < volumes.size(); ++i)
      if (volumes[i]["volumeClaim"].is_object()) volumes.edit(i).erase("volumeClaimName");
  }
  return frozen;
}

bool may_become(const Json& old_spec, const Json& spec) {
  const api::Schema& schema = *api::find_kind(api::resources::kJobs)->schema->field("spec")->schema;
  return semantically_equal(schema, frozen_part(old_spec), frozen_part(spec));
}

}  // namespace

std::string check_job_update(const Json& old_job, const Json& job) {
  const Json& spec = job["spec"];
  std::int64_t total = 0;
  for (const Json& task : spec["tasks"].items()) {
    const std::string_view name = task["name"].as_string();
    const std::int64_t replicas = task["replicas"].as_int();
    if (replicas < 0) return base::format("'replicas' must be >= 0 in task: {}", name);
    if (task["minAvailable"].is_number()) {
      const std::int64_t minimum = task["minAvailable"].as_int();
      if (minimum < 0) return base::format("'minAvailable' must be >= 0 in task: {}", name);
      if (minimum > replicas) return base::format("'minAvailable' must be <= 'replicas' in task: {}", name);
    }
    if (std::string problem = check_partition(task, job["metadata"]["name"].as_string()); !problem.empty())
      return problem;
    total = base::saturating_add(total, replicas);
  }
  const std::int64_t minimum = spec["minAvailable"].as_int();
  if (minimum > total) return "job 'minAvailable' must not be greater than total replicas";
  if (minimum < 0) return "job 'minAvailable' must be >= 0";
  if (has_both_tiers(spec["networkTopology"])) return std::string(kBothTiers);
  if (old_job["spec"]["tasks"].size() != spec["tasks"].size()) return "job updates may not add or remove tasks";
  if (!may_become(old_job["spec"], spec)) return std::string(kFrozenJob);
  // Jobs that were there before the rule was stay, and may change otherwise.
  if (std::string problem = check_made_names(job); !problem.empty() && check_made_names(old_job).empty())
    return std::string(base::trim(problem));
  return {};
}

}  // namespace admission
