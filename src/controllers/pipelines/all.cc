// One row a controller.
#include "controllers/pipelines/all.h"

#include <functional>
#include <string_view>

#include "controllers/pipelines/recurring_run.h"
#include "controllers/pipelines/run.h"

namespace controllers::pipelines {

namespace {

struct Row {
  std::string_view name;
  std::function<std::unique_ptr<Controller>(const Options&)> make;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
      {"pipeline-run-controller", make_run_controller},
      {"pipeline-recurring-run-controller", [](const Options&) { return make_recurring_run_controller(); }}};
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

}  // namespace controllers::pipelines
