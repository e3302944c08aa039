// Finding the API server.
#include "main/host/base/connection.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>

#include "api/json/json.h"
#include "base/format.h"
#include "base/time.h"
#include "node/os/command.h"
#include "rt/http/client/proxy_environment.h"
#include "rt/http/url.h"

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

// The answers of programs, until they expire: a kubeconfig is read often, and its programs may ask a person or a
// service that counts. Any thread.
class CredentialPrograms {
 public:
  base::Result<std::string> answer_of(const client::CredentialProgram& program) {
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    // The server is told in the environment, so it is part of the question.
    const auto key = std::pair(program.words, program.environment);
    if (const auto known = answers_.find(key); known != answers_.end()) {
      if (!known->second.expires_at || now() < *known->second.expires_at) return known->second.text;
      answers_.erase(known);
    }
    TRY(std::string text, run_credential_program(program));
    std::optional<base::Time> expires_at;
    if (const auto parsed = api::parse_json(text); parsed.ok())
      expires_at = base::parse_rfc3339((*parsed)["status"]["expirationTimestamp"].as_string());
    answers_.insert_or_assign(key, Answer{text, expires_at});
    return text;
  }
  void forget() {
    const std::lock_guard<std::mutex> one_at_a_time(mutex_);
    answers_.clear();
  }

 private:
  struct Answer {
    std::string text;
    std::optional<base::Time> expires_at;
  };
  // A little ahead, so that what is sent with them arrives in time.
  static base::Time now() {
    const auto since = std::chrono::system_clock::now().time_since_epoch() + 2 * std::chrono::seconds(10);
    return base::Time{std::chrono::duration_cast<std::chrono::nanoseconds>(since).count()};
  }

  std::mutex mutex_;
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, Answer> answers_;
};

// Through what the environment names, where the kubeconfig names no proxy and the server has TLS.
base::Result<client::ServerAccess> by_environment(base::Result<client::ServerAccess> access) {
  if (!access.ok() || access->proxy) return access;
  const bool has_scheme = access->server.find("://") != std::string::npos;
  const auto url = rt::parse_server_url(has_scheme ? access->server : "https://" + access->server);
  if (!url.ok() || !url->tls) return access;  // what is wrong with it is said when it is asked
  const auto either = [](const char* upper, const char* lower) {
    std::string value = variable(upper);
    return value.empty() ? variable(lower) : value;
  };
  TRY(access->proxy, rt::proxy_of_environment(either("HTTPS_PROXY", "https_proxy"), either("NO_PROXY", "no_proxy"),
                                              url->host, url->port));
  return access;
}

bool in_pod() { return !variable("KUBERNETES_SERVICE_HOST").empty() && !variable("KUBERNETES_SERVICE_PORT").empty(); }

}  // namespace

base::Result<client::ServerAccess> server_access(const std::string& kubeconfig, const std::string& master) {
  const auto programs = std::make_shared<CredentialPrograms>();
  const auto read = [kubeconfig, master, programs](bool refused) -> base::Result<client::ServerAccess> {
    if (refused) programs->forget();
    client::ServerAccess access;
    if (!kubeconfig.empty()) {
      auto loaded = client::load_kubeconfig(
          kubeconfig, {}, [&](const client::CredentialProgram& program) { return programs->answer_of(program); });
      if (!loaded.ok()) return base::within(loaded.take_error(), "--kubeconfig");
      access = *std::move(loaded);
      if (access.server.empty() && master.empty())
        return base::make_error(base::Code::kInvalid, base::format("--kubeconfig: {} names no current-context, which "
                                                                   "says the server, and there is no --master",
                                                                   kubeconfig));
    } else if (master.empty()) {
      if (!in_pod())
        return base::make_error(base::Code::kInvalid,
                                "neither --kubeconfig nor --master is given, and this is not a pod");
      return by_environment(
          client::in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT")));
    }
    if (!master.empty()) access.server = master;
    return by_environment(std::move(access));
  };
  TRY(client::ServerAccess access, read(false));
  access.again = read;
  return access;
}

base::Result<client::ServerAccess> user_access(const std::string& kubeconfig, const std::string& master) {
  const std::vector<std::string> paths =
      kubeconfig.empty() ? usual_kubeconfigs() : std::vector<std::string>{kubeconfig};
  client::ServerAccess access;
  if (!paths.empty()) {
    TRY(access, client::load_kubeconfigs(paths, {}, run_credential_program));
  }
  // A pod may have no token; as in Kubernetes' client library it is then like any other place.
  if (access.server.empty() && master.empty() && in_pod() && exists(std::string(client::kAccountFolder) + "/token")) {
    return by_environment(
        client::in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT")));
  }
  if (!master.empty()) access.server = master;
  if (access.server.empty()) access.server = variable("KUBERNETES_MASTER");
  if (access.server.empty()) access.server = "http://localhost:8080";
  return by_environment(std::move(access));
}

std::string user_namespace(const std::string& kubeconfig) {
  const std::vector<std::string> paths =
      kubeconfig.empty() ? usual_kubeconfigs() : std::vector<std::string>{kubeconfig};
  if (!paths.empty()) {
    // Credentials are of no use here, so those of a program are made up.
    const auto access = client::load_kubeconfigs(paths, {}, [](const client::CredentialProgram&) {
      return base::Result<std::string>(R"({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
                                           "status": {"token": "none"}})");
    });
    if (!access.ok()) return {};
    if (!access->server.empty()) return access->ns;
  }
  if (!in_pod()) return {};
  const auto access =
      client::in_cluster_access(variable("KUBERNETES_SERVICE_HOST"), variable("KUBERNETES_SERVICE_PORT"));
  return access.ok() ? access->ns : "";
}

std::string own_namespace(const client::ServerAccess& access, const std::string& otherwise) {
  return in_pod() && !access.ns.empty() ? access.ns : otherwise;
}

}  // namespace volcano_main
