// The table of routes. COMPAT(pipelines-rest)
#include "pipelines/rest/v1beta1/routes.h"

#include <array>

#include "pipelines/rest/experiments.h"
#include "pipelines/rest/recurring_runs.h"
#include "pipelines/rest/v1beta1/both_versions.h"
#include "pipelines/rest/v1beta1/catalogue.h"
#include "pipelines/rest/v1beta1/jobs.h"
#include "pipelines/rest/v1beta1/runs.h"

namespace pipelines::rest::v1beta1 {

namespace {

base::Result<Reply> health(const Call&, Facts&) { return Reply{api::Json::object({{"multi_user", true}})}; }

constexpr std::array kRoutes = {
    Route{"GET", "healthz", health},
    Route{"POST", "experiments", create_experiment},
    Route{"GET", "experiments", list_experiments},
    Route{"POST", "experiments/{}:archive", archive_experiment},
    Route{"POST", "experiments/{}:unarchive", unarchive_experiment},
    Route{"GET", "experiments/{}", get_experiment},
    Route{"DELETE", "experiments/{}", delete_experiment},
    Route{"POST", "pipelines/upload", upload_pipeline},
    Route{"POST", "pipelines/upload_version", upload_version},
    Route{"POST", "pipelines", create_pipeline},
    Route{"GET", "pipelines", list_pipelines},
    Route{"GET", "pipelines/{}", get_pipeline},
    Route{"DELETE", "pipelines/{}", delete_pipeline},
    Route{"GET", "pipelines/{}/templates", get_pipeline_template},
    Route{"POST", "pipelines/{}/default_version/{}", set_default_version},
    Route{"POST", "pipeline_versions", create_version},
    Route{"GET", "pipeline_versions", list_versions},
    Route{"GET", "pipeline_versions/{}", get_version},
    Route{"DELETE", "pipeline_versions/{}", delete_version},
    Route{"GET", "pipeline_versions/{}/templates", get_version_template},
    Route{"POST", "runs", create_run},
    Route{"POST", "jobs", create_job},
    Route{"GET", "jobs", list_jobs},
    Route{"POST", "jobs/{}/enable", enable_recurring_run},
    Route{"POST", "jobs/{}/disable", disable_recurring_run},
    Route{"GET", "jobs/{}", get_job},
    Route{"DELETE", "jobs/{}", delete_recurring_run},
};

}  // namespace

std::vector<RouteTable> routes() {
  return {{"/apis/v2beta1/", runs_as_v2()}, {"/apis/v1beta1/", runs_as_v1()}, {"/apis/v1beta1/", kRoutes}};
}

}  // namespace pipelines::rest::v1beta1
