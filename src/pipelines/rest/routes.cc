// The table of routes, as Kubeflow's gateway has them. COMPAT(pipelines-rest)
#include "pipelines/rest/routes.h"

#include <array>

#include "base/format.h"
#include "base/split.h"
#include "pipelines/rest/catalogue.h"
#include "pipelines/rest/experiments.h"
#include "pipelines/rest/nodes.h"
#include "pipelines/rest/recurring_runs.h"
#include "pipelines/rest/runs.h"

namespace pipelines::rest {

using base::Code;

namespace {

base::Result<Reply> health(const Call&, Facts&) {
  return Reply{api::Json::object({{"multi_user", true}, {"pipeline_store", "kubernetes"}})};
}

constexpr std::array kRoutes = {
    Route{"GET", "healthz", health},
    Route{"POST", "experiments", create_experiment},
    Route{"GET", "experiments", list_experiments},
    Route{"GET", "experiments/{}", get_experiment},
    Route{"DELETE", "experiments/{}", delete_experiment},
    Route{"POST", "experiments/{}:archive", archive_experiment},
    Route{"POST", "experiments/{}:unarchive", unarchive_experiment},
    Route{"POST", "pipelines/create", create_pipeline_and_version},
    Route{"POST", "pipelines/upload", upload_pipeline},
    Route{"POST", "pipelines/upload_version", upload_version},
    Route{"GET", "pipelines/names/{}", get_pipeline_by_name},
    Route{"POST", "pipelines", create_pipeline},
    Route{"GET", "pipelines", list_pipelines},
    Route{"GET", "pipelines/{}", get_pipeline},
    Route{"PATCH", "pipelines/{}", update_pipeline},
    Route{"DELETE", "pipelines/{}", delete_pipeline},
    Route{"POST", "pipelines/{}/versions", create_version},
    Route{"GET", "pipelines/{}/versions", list_versions},
    Route{"GET", "pipelines/{}/versions/{}", get_version},
    Route{"PATCH", "pipelines/{}/versions/{}", update_version},
    Route{"DELETE", "pipelines/{}/versions/{}", delete_version},
    Route{"POST", "runs", create_run},
    Route{"GET", "runs", list_runs},
    Route{"POST", "runs/{}:archive", archive_run},
    Route{"POST", "runs/{}:unarchive", unarchive_run},
    Route{"POST", "runs/{}:terminate", terminate_run},
    Route{"POST", "runs/{}:retry", retry_run},
    Route{"GET", "runs/{}", get_run},
    Route{"DELETE", "runs/{}", delete_run},
    Route{"GET", "runs/{}/nodes/{}/log", read_log},
    Route{"GET", "runs/{}/nodes/{}/artifacts/{}:read", read_artifact},
    Route{"GET", "runs/{}/nodes/{}/artifacts/{}:view", view_artifact},
    Route{"POST", "recurringruns", create_recurring_run},
    Route{"GET", "recurringruns", list_recurring_runs},
    Route{"POST", "recurringruns/{}:enable", enable_recurring_run},
    Route{"POST", "recurringruns/{}:disable", disable_recurring_run},
    Route{"GET", "recurringruns/{}", get_recurring_run},
    Route{"DELETE", "recurringruns/{}", delete_recurring_run},
};

// "{}:archive" is a name and what is done to it.
bool fits(std::string_view pattern, std::string_view segment, std::vector<std::string>& names) {
  if (!pattern.starts_with("{}")) return pattern == segment;
  pattern.remove_prefix(2);
  if (!pattern.empty()) {
    if (!segment.ends_with(pattern)) return false;
    segment.remove_suffix(pattern.size());
  }
  std::string name = rt::parse_target(segment).path;
  if (name.empty()) return false;
  names.push_back(std::move(name));
  return true;
}

bool fits_all(std::string_view path, const std::vector<std::string_view>& segments, std::vector<std::string>& names) {
  const auto patterns = base::split_words(path, '/');
  if (patterns.size() != segments.size()) return false;
  for (std::size_t i = 0; i < patterns.size(); ++i)
    if (!fits(patterns[i], segments[i], names)) return false;
  return true;
}

}  // namespace

base::Result<Routed> route(std::string_view method, std::string_view path, std::span<const RouteTable> more) {
  // Logs were read under the first version only, and still are.
  const bool is_log = path.substr(0, path.find('?')).ends_with("/log");
  std::vector<RouteTable> tables(more.begin(), more.end());
  tables.push_back({"/apis/v2beta1/", kRoutes});
  if (is_log) tables.push_back({"/apis/v1alpha1/", kRoutes});
  return route_in(tables, method, path);
}

base::Result<Routed> route_in(std::span<const RouteTable> tables, std::string_view method, std::string_view path) {
  const std::string_view named = path.substr(0, path.find('?'));
  bool is_known = false;
  for (const RouteTable& table : tables) {
    if (!named.starts_with(table.prefix)) continue;
    const auto segments = base::split_words(named.substr(table.prefix.size()), '/');
    for (const Route& row : table.routes) {
      std::vector<std::string> names;
      if (!fits_all(row.path, segments, names)) continue;
      is_known = true;
      if (row.method != method) continue;
      return Routed{row.handler,
                    {.method = std::string(method), .names = std::move(names), .target = rt::parse_target(path)}};
    }
  }
  if (is_known)
    return base::make_error(Code::kMethodNotAllowed, base::format("{} of {} is not a method here", method, named));
  return base::make_error(Code::kNotFound, base::format("{} is not a path of this API", named));
}

}  // namespace pipelines::rest
