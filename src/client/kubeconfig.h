// Which API server to talk to, and as whom: a kubeconfig file, or what a pod in a cluster is given.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace client {

// Everything a connection needs. File contents are read already, except the token file, which changes while we run.
struct ServerAccess {
  std::string server;  // "https://host:port[/prefix]"
  std::string ca_pem;  // empty: the system's roots
  std::string certificate_pem;
  std::string key_pem;
  std::string token;
  std::string token_file;  // read again every minute; wins over `token`
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string ns;  // the context's namespace, or empty
};

// `folder` resolves relative paths in the text. An empty `context` means current-context.
base::Result<ServerAccess> parse_kubeconfig(std::string_view text, const std::string& folder,
                                            const std::string& context = {});
// Reads the file at `path`.
base::Result<ServerAccess> load_kubeconfig(const std::string& path, const std::string& context = {});
// From the service account's folder; `host` and `port` are the values of KUBERNETES_SERVICE_HOST and _PORT.
base::Result<ServerAccess> in_cluster_access(
    const std::string& host, const std::string& port,
    const std::string& folder = "/var/run/secrets/kubernetes.io/serviceaccount");

}  // namespace client
