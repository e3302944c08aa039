// Finding the API server.
#include "main/host/connection.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/format.h"
#include "node/os/command.h"

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

// The files of the KUBECONFIG list that exist; without a list, the one in the usual place.
std::vector<std::string> usual_kubeconfigs() {
  std::vector<std::string> paths;
  const std::string list = variable("KUBECONFIG");
  for (std::size_t start = 0; start < list.size();) {
    const std::size_t end = std::min(list.find(':', start), list.size());
    const std::string path = list.substr(start, end - start);
    if (!path.empty() && exists(path)) paths.push_back(path);
    start = end + 1;
  }
  const std::string home = variable("HOME") + "/.kube/config";
  if (list.empty() && exists(home)) paths.push_back(home);
  return paths;
}

base::Result<std::string> run_credential_program(const client::CredentialProgram& program) {
  node::CommandOptions options{.timeout = base::minutes(1)};
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view own = *one;
    const bool replaced = std::ranges::any_of(program.environment, [own](const std::string& other) {
      return own.substr(0, own.find('=')) == std::string_view(other).substr(0, other.find('='));
    });
    if (!replaced) options.environment.emplace_back(own);
  }
  options.environment.insert(options.environment.end(), program.environment.begin(), program.environment.end());
  TRY(const node::CommandResult result, node::run_command(program.words, options));
  if (result.exit_code != 0)
    return base::make_error(base::Code::kUnavailable, base::format("{} failed with exit code {}: {}", program.words[0],
                                                                   result.exit_code, result.err));
  return result.out;
}

bool in_pod() { return !variable("KUBERNETES_SERVICE_HOST").empty() && !variable("KUBERNETES_SERVICE_PORT").empty(); }

}  // namespace

base::Result<client::ServerAccess> server_access(const std::string& kubeconfig, const std::string& master) {
  client::ServerAccess access;
  if (!kubeconfig.empty()) {
    auto loaded = client::load_kubeconfig(kubeconfig, {}, run_credential_program);
    if (!loaded.ok()) return base::within(loaded.take_error(), "--kubeconfig");
    access = *std::move(loaded);
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
  const std::vector<std::string> paths =
      kubeconfig.empty() ? usual_kubeconfigs() : std::vector<std::string>{kubeconfig};
  client::ServerAccess access;
  if (!paths.empty()) {
    TRY(access, client::load_kubeconfigs(paths, {}, run_credential_program));
  } else if (master.empty() && in_pod()) {
    return client::in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
  }
  if (!master.empty()) access.server = master;
  if (access.server.empty()) access.server = variable("KUBERNETES_MASTER");
  if (access.server.empty()) access.server = "http://localhost:8080";
  return access;
}

std::string lease_identity(rt::Env& env) {
  char host[256] = "localhost";
  ::gethostname(host, sizeof host - 1);
  return base::format("{}_{}", host, env.random().uuid());
}

}  // namespace volcano_main
