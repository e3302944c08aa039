// One row a controller.
#include "controllers/notebooks/all.h"

#include <functional>
#include <string_view>

#include "controllers/notebooks/culling.h"
#include "controllers/notebooks/notebook.h"
#include "controllers/notebooks/notebook_events.h"
#include "controllers/notebooks/profile.h"
#include "controllers/notebooks/pvcviewer.h"
#include "controllers/notebooks/tensorboard.h"

namespace controllers::notebooks {

namespace {

struct Row {
  std::string_view name;
  std::function<std::unique_ptr<Controller>(const Options&)> make;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"notebook-controller", make_notebook_controller},
      {"notebook-culling-controller", make_culling_controller},
      {"notebook-event-controller", [](const Options&) { return make_notebook_event_controller(); }},
      {"profile-controller", make_profile_controller},
      {"pvcviewer-controller", make_pvcviewer_controller},
      {"tensorboard-controller", make_tensorboard_controller}};
  return all;
}

}  // namespace

std::vector<std::string> controller_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.emplace_back(row.name);
  return names;
}

std::unique_ptr<Controller> make_controller(const std::string& name, const Options& options) {
  for (const Row& row : rows())
    if (row.name == name) return row.make(options);
  return nullptr;
}

}  // namespace controllers::notebooks
