// The table of applications, by the names under which Kubeflow's dashboard has them.
#include "webapps/apps.h"

#include <array>

namespace webapps {

std::span<const App> apps() {
  static const std::array kApps = {
      App{"jupyter", jupyter_routes(), true, true}, App{"volumes", volumes_routes(), true, true},
      App{"tensorboards", tensorboards_routes(), true, true}, App{"kfam", access_routes(), false, false}};
  return kApps;
}

const App* app_of(std::string_view path) {
  for (const App& app : apps())
    if (path.size() > app.name.size() + 1 && path.starts_with('/') && path.substr(1).starts_with(app.name) &&
        path[app.name.size() + 1] == '/')
      return &app;
  return nullptr;
}

}  // namespace webapps
