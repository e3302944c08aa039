// Lists of containers, and selectors as texts.
#include "apiserver/kinds/workloads/template_cells.h"

#include <string>
#include <vector>

#include "api/selector_text.h"
#include "apiserver/kinds/cells.h"

namespace apiserver {

using api::Json;

std::pair<Json, Json> containers_of(const Json& pod_template) {
  std::vector<std::string> names, images;
  for (const Json& container : pod_template["spec"]["containers"].items()) {
    names.push_back(container["name"].str());
    images.push_back(container["image"].str());
  }
  return {joined(names, ""), joined(images, "")};
}

Json selector_cell(const Json& selector) { return text_or(Json(api::selector_text(selector)), "<none>"); }

std::vector<Json> replica_counts(const Json& o, base::Time now) {
  const auto [names, images] = containers_of(o["spec"]["template"]);
  return {Json(o["spec"]["replicas"].as_int()),
          Json(o["status"]["replicas"].as_int()),
          Json(o["status"]["readyReplicas"].as_int()),
          age_of(o, now),
          names,
          images,
          selector_cell(o["spec"]["selector"])};
}

}  // namespace apiserver
