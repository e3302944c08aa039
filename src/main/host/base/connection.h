// Which API server a program of ours talks to: flags, then the environment, then the pod it runs in.
#pragma once

#include <string>

#include "base/result.h"
#include "client/http/kubeconfig.h"

namespace volcano_main {

// For servers: --kubeconfig, --master, or the pod's service account.
base::Result<client::ServerAccess> server_access(const std::string& kubeconfig, const std::string& master);
// For people: also KUBECONFIG, ~/.kube/config, and at last http://localhost:8080.
base::Result<client::ServerAccess> user_access(const std::string& kubeconfig, const std::string& master);
// The namespace of the context that user_access() takes, or of the pod; empty: none is named, or nothing can be read.
// No program is run for it.
std::string user_namespace(const std::string& kubeconfig);
// The namespace in which a program is installed: the namespace of its pod, or `otherwise` where it runs outside the
// cluster.
std::string own_namespace(const client::ServerAccess& access, const std::string& otherwise);

}  // namespace volcano_main
