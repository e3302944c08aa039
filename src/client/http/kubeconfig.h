// Which API server to talk to, and as whom: a kubeconfig file, or what a pod in a cluster is given.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rt/http/client/proxy.h"
#include "rt/http/http.h"

namespace client {

// Everything a connection needs. File contents are read already, except the token file, which changes more often.
struct ServerAccess {
  std::string server;  // "https://host:port[/prefix]"
  std::string ca_pem;  // empty: the system's roots
  std::string certificate_pem;
  std::string key_pem;
  std::string token;
  std::string token_file;    // read again every minute; wins over `token`
  rt::Headers acts_as = {};  // with every request: as whom the user wants to act (impersonation)
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::optional<rt::Proxy> proxy = {};  // of a server with TLS
  std::string ns;                       // the context's namespace, or empty
  // Reads where this came from once more; it blocks, so it is called off the loop, on any thread. `refused`: the server
  // did not take these credentials (401), so programs are asked for new ones. Unset: this never changes.
  std::function<base::Result<ServerAccess>(bool refused)> again = {};

  // Whether connections made for the other serve this one, too; tokens, and as whom we act, travel with each request.
  bool has_connection_of(const ServerAccess& other) const;
};

// A program that gives credentials (`exec` of a user).
struct CredentialProgram {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // NAME=value, beside ours
};
// Runs it and returns what it printed. Unset: such users are refused.
using RunProgram = std::function<base::Result<std::string>(const CredentialProgram& program)>;

// `folder` resolves relative paths in the text. An empty `context` means current-context; where that is not given
// either, the access names no server.
base::Result<ServerAccess> parse_kubeconfig(std::string_view text, const std::string& folder,
                                            const std::string& context = {}, const RunProgram& run = {});
// Reads the file at `path`.
base::Result<ServerAccess> load_kubeconfig(const std::string& path, const std::string& context = {},
                                           const RunProgram& run = {});
// Reads several files as one: of clusters, users and contexts with one name the first counts, and the first
// current-context that is given. Paths in each are relative to its own folder.
base::Result<ServerAccess> load_kubeconfigs(const std::vector<std::string>& paths, const std::string& context = {},
                                            const RunProgram& run = {});
inline constexpr const char* kAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";  // in a pod
// From the service account's folder; `host` and `port` are the values of KUBERNETES_SERVICE_HOST and _PORT.
base::Result<ServerAccess> in_cluster_access(const std::string& host, const std::string& port,
                                             const std::string& folder = kAccountFolder);

}  // namespace client
