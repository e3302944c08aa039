// How a template and a patch become a Job.
#include "controllers/jobflow/make_job.h"

#include "api/batch/v1alpha1/job.h"
#include "api/meta/resource.h"
#include "api/schema/patch.h"
#include "base/format.h"

namespace controllers::jobflow {

using api::Json;
using api::Schema;

namespace {

constexpr std::size_t kLabelValueMax = 63;
// All controllers wait while a patch is laid over its template. One of a thousand tasks takes a fifth of this.
constexpr std::uint64_t kPatchStepsMax = std::uint64_t{1} << 20;

void merge_by(Schema& object, std::string_view list, std::string_view key) {
  for (api::SchemaField& field : object.fields) {
    if (field.name != list) continue;
    auto* keyed = new Schema(*field.schema);
    keyed->patch_merge = true;
    keyed->patch_merge_key = std::string(key);
    field.schema = keyed;
  }
}

// The schema of a Job's spec, in which two lists merge that server-side patches of Jobs replace. Lives as long as the
// program, as all schemas do.
const Schema& mergeable_spec() {
  static const Schema& schema = *[] {
    auto* made = new Schema(api::schema_of<api::JobSpec>());
    merge_by(*made, "tasks", "name");
    merge_by(*made, "volumes", "mountPath");
    return made;
  }();
  return schema;
}

// The names that admission gives to the tasks of a Job, so that a patch can name them.
Json with_task_names(Json spec) {
  const std::size_t tasks = spec["tasks"].size();
  for (std::size_t i = 0; i < tasks; ++i)
    if (spec["tasks"][i]["name"].as_string().empty() && spec["tasks"][i].is_object())
      spec.edit("tasks").edit(i).set("name", base::format("default{}", i));
  return spec;
}

}  // namespace

base::Result<Json> patched_spec(const Json& spec, const Json& patch) {
  if (patch.is_null()) return spec;
  if (!patch.is_object()) return base::make_error(base::Code::kInvalid, "jobSpec is not an object");
  return api::apply_strategic_patch(mergeable_spec(), with_task_names(spec), patch, kPatchStepsMax);
}

base::Result<Json> make_job(const Json& flow, const Node& node, const Json& job_template,
                            std::vector<std::string>& left_out) {
  TRY(Json spec, patched_spec(job_template["spec"], node.patch));
  Json labels = Json::object();
  Json annotations = Json::object();
  const auto mark = [&](std::string_view key, std::string_view name) {
    const std::string value = base::format("{}.{}", api::namespace_of(flow), name);
    annotations.set(key, value);
    if (value.size() <= kLabelValueMax)
      labels.set(key, value);
    else
      left_out.push_back(base::format("{}={}", key, value));
  };
  mark(kOfTemplate, node.name);
  mark(kOfFlow, api::name_of(flow));
  Json owner = flow;
  owner.set("apiVersion", "flow.volcano.sh/v1alpha1");
  owner.set("kind", "JobFlow");
  return Json::object(
      {{"apiVersion", "batch.volcano.sh/v1alpha1"},
       {"kind", "Job"},
       {"metadata", Json::object({{"name", node.job},
                                  {"namespace", api::namespace_of(flow)},
                                  {"labels", std::move(labels)},
                                  {"annotations", std::move(annotations)},
                                  {"ownerReferences", Json::array({api::controller_reference(owner)})}})},
       {"spec", std::move(spec)}});
}

}  // namespace controllers::jobflow
