// The network of containers: the bridge, names, rules of services and of policies.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "node/machine/machine.h"
#include "node/machine/node_network.h"
#include "node/os/network/dns.h"
#include "node/os/network/network.h"
#include "node/os/services/loopback_ports.h"
#include "node/os/services/policy_filter.h"
#include "node/os/services/service_proxy.h"

namespace node {

// Owns the bridge, the kernel's rules, the name server, and the ports of this machine's own services. Thread-safe after
// open().
class RuncNetwork : public NodeNetwork {
 public:
  // `options` outlive it.
  explicit RuncNetwork(const Options& options) : options_(options) {}

  base::Status open();
  // The interfaces and addresses of pods.
  Network& pods() { return network_; }
  // Makes the bridge, and once starts the name server.
  base::Status ensure();
  // Ends what answers on this machine; rules and the bridge stay.
  void stop();
  // Takes rules and the bridge away.
  void close();

  void set_names(std::shared_ptr<const NameTable> names) override;
  std::string no_service_proxy() const override { return no_service_proxy_; }
  base::Status set_services(const ServiceRules& rules) override;
  base::Status try_services(const ServiceRules& rules) override { return service_proxy_.try_rules(rules); }
  std::string no_policies() const override { return no_policies_; }
  base::Status set_policies(const PolicyRules& rules) override { return policy_filter_.set(rules); }

 private:
  const Options& options_;
  Network network_;
  ServiceProxy service_proxy_;
  std::string no_service_proxy_;  // why there is none; empty: there is
  PolicyFilter policy_filter_;
  std::string no_policies_;  // why they have no effect; empty: they have
  std::mutex mutex_;         // guards the members below
  std::unique_ptr<NameServer> name_server_;
  std::unique_ptr<LoopbackPorts> loopback_ports_;  // null before the first rules, and at the end
  bool stopped_ = false;
  std::shared_ptr<const NameTable> names_;
  bool name_server_tried_ = false;
};

}  // namespace node
