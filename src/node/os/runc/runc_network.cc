// How the network of containers is opened, serves names and ports, and ends.
#include "node/os/runc/runc_network.h"

#include <utility>

#include "api/ipv4.h"
#include "base/log.h"
#include "node/os/pod_folders.h"

namespace node {

base::Status RuncNetwork::open() {
  TRY_VOID(network_.open(options_.data_dir, options_.bridge_subnet));
  no_service_proxy_ = service_proxy_.open({.name = {},
                                           .bridge = network_.bridge(),
                                           .subnet = network_.subnet(),
                                           .gateway = network_.gateway(),
                                           .api_port = options_.api_port});
  if (no_service_proxy_.empty())
    network_.reach(options_.service_range);
  else
    no_service_proxy_ += "; their names lead to the addresses of their pods";
  no_policies_ = missing_for_policies(options_);
  if (no_policies_.empty())
    no_policies_ = policy_filter_.open({.name = {}, .bridge = network_.bridge(), .subnet = network_.subnet()});
  return {};
}

base::Status RuncNetwork::ensure() {
  TRY_VOID(network_.ensure_bridge());
  const std::lock_guard lock(mutex_);
  if (std::exchange(name_server_tried_, true)) return {};
  auto server = start_name_server(network_.gateway(), read_text("/etc/resolv.conf"));
  if (!server.ok()) {
    base::log_warning("node", server.error().message + "; pods cannot look up names of services");
    return {};
  }
  name_server_ = std::move(*server);
  if (names_) name_server_->set_names(names_);
  return {};
}

void RuncNetwork::set_names(std::shared_ptr<const NameTable> names) {
  const std::lock_guard lock(mutex_);
  names_ = std::move(names);
  if (name_server_) name_server_->set_names(names_);
}

base::Status RuncNetwork::set_services(const ServiceRules& rules) {
  TRY_VOID(service_proxy_.set(rules));
  const bool reached = api::parse_ipv4(options_.host_ip) && !options_.host_ip.starts_with("127.");
  const std::lock_guard lock(mutex_);
  if (stopped_) return {};
  if (!loopback_ports_)
    loopback_ports_ = std::make_unique<LoopbackPorts>(reached ? options_.host_ip : network_.gateway());
  loopback_ports_->set(tcp_ports_of_machine(rules));
  return {};
}

void RuncNetwork::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  loopback_ports_.reset();
  name_server_.reset();
}

void RuncNetwork::close() {
  service_proxy_.close();
  policy_filter_.close();
  network_.close();
}

}  // namespace node
