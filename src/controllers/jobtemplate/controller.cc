// Jobs are found by the mark that flows put on them.
#include "controllers/jobtemplate/controller.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"

namespace controllers::jobtemplate {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kMark = "volcano.sh/createdByJobTemplate";

// "<namespace>.<template>", and templates may have dots in their names. The label is missing where it would be too
// long.
Keys template_of(const Json& job) {
  std::string_view mark = api::label_of(job, kMark);
  if (mark.empty()) mark = api::annotation_of(job, kMark);
  if (mark.empty()) return {};
  const std::string prefix = base::format("{}.", api::namespace_of(job));
  if (!mark.starts_with(prefix) || mark.size() == prefix.size()) return {};
  return {base::format("{}/{}", api::namespace_of(job), mark.substr(prefix.size()))};
}

class JobTemplateController final : public Controller {
 public:
  std::string_view name() const override { return "jobtemplate-controller"; }

  std::vector<Write> writes() const override { return {{resources::kJobTemplates, "update", "status"}}; }
  std::vector<Wake> wakes_on() const override {
    return {{.resource = resources::kJobTemplates,
             .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
             .may_be_absent = true},
            {.resource = resources::kJobs,
             .keys = [](const View&, const Json& job) { return template_of(job); },
             .matters =
                 [](const Json* before, const Json* after) {
                   return !before || !after || template_of(*before) != template_of(*after);
                 }}};
  }

  std::vector<IndexBy> indexes() const override { return {{resources::kJobs, "jobtemplate", template_of}}; }

  Plan step(const View& view, const std::string& key, const Turn&) override {
    Plan plan;
    const Json* one = view.find(resources::kJobTemplates, key);
    if (!one || api::is_deleting(*one)) return plan;
    Json names = Json::array();
    for (const Json* job : view.by_index(resources::kJobs, "jobtemplate", key)) names.push_back(api::name_of(*job));
    const Json& listed = (*one)["status"]["jobDependsOnList"];
    if (names == listed || (names.empty() && listed.empty())) return plan;
    plan.set_subject(*one);
    plan.begin_stage("SyncJobTemplate", " JobTemplate failed for {}");
    Json next = *one;
    if (!next["status"].is_object()) next.set("status", Json::object());
    next.edit("status").erase("jobDependsOnList");
    if (!names.empty()) next.edit("status").set("jobDependsOnList", std::move(names));
    plan.set_status(resources::kJobTemplates, std::move(next));
    return plan;
  }
};

}  // namespace

std::unique_ptr<Controller> make_jobtemplate_controller() { return std::make_unique<JobTemplateController>(); }

}  // namespace controllers::jobtemplate
