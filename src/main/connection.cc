// Finding the API server.
#include "main/connection.h"

#include <cstdlib>
#include <filesystem>

namespace volcano_main {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// The first file of the KUBECONFIG list that exists, or the usual place.
std::string usual_kubeconfig() {
  const std::string list = variable("KUBECONFIG");
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    const std::string path = list.substr(start, end - start);
    if (!path.empty() && exists(path)) return path;
    start = end + 1;
  }
  const std::string home = variable("HOME") + "/.kube/config";
  return exists(home) ? home : std::string();
}

bool in_pod() { return !variable("KUBERNETES_SERVICE_HOST").empty() && !variable("KUBERNETES_SERVICE_PORT").empty(); }

}  // namespace

base::Result<client::ServerAccess> server_access(const std::string& kubeconfig, const std::string& master) {
  client::ServerAccess access;
  if (!kubeconfig.empty()) {
    TRY(access, client::load_kubeconfig(kubeconfig));
  } else if (master.empty()) {
    if (!in_pod())
      return base::make_error(base::Code::kInvalid,
                              "neither --kubeconfig nor --master is given, and this is not a pod");
    return client::in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
  }
  if (!master.empty()) access.server = master;
  return access;
}

base::Result<client::ServerAccess> user_access(const std::string& kubeconfig, const std::string& master) {
  const std::string path = kubeconfig.empty() ? usual_kubeconfig() : kubeconfig;
  client::ServerAccess access;
  if (!path.empty()) {
    TRY(access, client::load_kubeconfig(path));
  } else if (master.empty() && in_pod()) {
    return client::in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
  }
  if (!master.empty()) access.server = master;
  if (access.server.empty()) access.server = variable("KUBERNETES_MASTER");
  if (access.server.empty()) access.server = "http://localhost:8080";
  return access;
}

}  // namespace volcano_main
