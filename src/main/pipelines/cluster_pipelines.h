// The REST API of pipelines on a cluster: the Service ml-pipeline, at the port and the paths that Kubeflow's clients
// know, each request made with the rights of the user who asks.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "client/http/kubeconfig.h"
#include "main/pipelines/pipeline_callers.h"
#include "rt/http/server/http_server.h"

namespace volcano_main {

struct ClusterPipelineOptions {
  std::string address = ":8888";
  std::string tls_cert_file, tls_private_key_file;  // neither: plain HTTP
  std::string ns = {};                              // the only namespace whose objects are known; empty: all of them
  ProxyHeaders headers = {};
  bool web_apps = false;  // the REST back ends of Kubeflow's web applications, too
};

// With a loop of its own.
class ClusterPipelines {
 public:
  static base::Result<std::unique_ptr<ClusterPipelines>> start(const client::ServerAccess& access,
                                                               const ClusterPipelineOptions& options);
  ~ClusterPipelines();
  ClusterPipelines(const ClusterPipelines&) = delete;
  ClusterPipelines& operator=(const ClusterPipelines&) = delete;

 private:
  class Service;
  ClusterPipelines() = default;

  std::unique_ptr<rt::RealEnv> env_;
  std::shared_ptr<Service> service_;  // on the loop
  std::unique_ptr<rt::HttpServer> server_;
};

}  // namespace volcano_main
