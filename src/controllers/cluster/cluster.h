// The parts of a cluster besides us, for the machine that has no Kubernetes (`volcano up`).
#pragma once

#include <memory>
#include <string>

#include "controllers/framework/controller.h"

namespace controllers::cluster {

// Deletes what has lost its last owner, and carries out foreground and orphaning deletion.
std::unique_ptr<Controller> make_owner_controller();

// Gives each namespace its default service account and, with a certificate of the cluster's authority, the ConfigMap
// kube-root-ca.crt; empties a namespace that is being deleted.
std::unique_ptr<Controller> make_namespace_controller(std::string root_ca = {});

// Endpoints of services with a selector.
std::unique_ptr<Controller> make_endpoints_controller();

// EndpointSlices of services: with a selector from their pods, without one from Endpoints that somebody made.
std::unique_ptr<Controller> make_endpoint_slice_controller();

// Makes the resource claims that pods ask for by template; frees claims whose pods are gone.
std::unique_ptr<Controller> make_claim_controller();

// Makes the volume claims of pods' ephemeral volumes.
std::unique_ptr<Controller> make_ephemeral_volume_controller();

// Gathers the rules of ClusterRoles that have an aggregationRule.
std::unique_ptr<Controller> make_role_controller();

// Makes the service account for runs of pipelines that name none, in the namespace "default".
std::unique_ptr<Controller> make_runner_account_controller();

// Keeps an APIService for each group and version that is served.
std::unique_ptr<Controller> make_api_service_controller();

// Gives Services of type LoadBalancer the address of the node, where their ports are free.
std::unique_ptr<Controller> make_load_balancer_controller(std::string node_name);

struct VolumeOptions {
  std::string folder;     // local volumes are folders below it; empty: no volume is made
  std::string node_name;  // of the one machine
};
// Binds claims to volumes; makes local ones for the class `local-path`, which it creates as the default class.
std::unique_ptr<Controller> make_volume_controller(VolumeOptions options);

}  // namespace controllers::cluster
