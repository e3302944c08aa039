// The REST back ends of Kubeflow's web applications (kubeflow.md 4, 5.1): which there are, and what a handler of one is
// given. Handlers are those of pipelines/rest: pure, and run again with each fact that they asked for.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "pipelines/rest/routes.h"

namespace webapps {

using pipelines::rest::Call;
using pipelines::rest::Facts;
using pipelines::rest::Reply;
using pipelines::rest::Route;

struct App {
  std::string_view name;  // its paths begin with "/NAME/"
  std::span<const Route> routes;
  bool has_page;      // it shows one, which sets the cookie that its writes must send back
  bool has_envelope;  // answers say who asked, and whether it went well
};

// In the order of the specification. The tables live as long as the program.
std::span<const App> apps();
// Null for a path that none of them has.
const App* app_of(std::string_view path);

// Rows of several applications.
extern const Route kInfo, kNamespaces, kStorageClasses, kDefaultStorageClass, kPodDefaults;

std::span<const Route> jupyter_routes();
std::span<const Route> volumes_routes();
std::span<const Route> tensorboards_routes();
std::span<const Route> access_routes();

}  // namespace webapps
