// What services are on this node: names for pods, rules for the kernel, variables for containers.
#include <algorithm>

#include "api/ipv4.h"
#include "api/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent_state.h"
#include "node/names.h"

namespace node {

using api::Json;

namespace {

constexpr base::Duration kRetryFirst = base::seconds(1), kRetryMax = base::minutes(1);

std::vector<const Json*> all_of(const client::Informer& informer) {
  std::vector<const Json*> objects;
  for (const auto& [key, object] : informer.objects()) objects.push_back(&object);
  return objects;
}

}  // namespace

// Once per turn of the loop, however many objects changed.
void Agent::State::refresh_services() {
  if (!ready || std::exchange(services_due, true)) return;
  env.loop().post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->services_due = false;
    self->set_names();
    self->set_services();
  });
}

void Agent::State::set_names() {
  NamedObjects objects{all_of(services), all_of(slices), {}, service_proxy()};
  for (const auto& [uid, worker] : workers)
    if (!is_over(worker->pod, worker->state)) objects.pods.push_back({&worker->pod, worker->state.ip});
  runtime->set_names(std::make_shared<const NameTable>(name_table(objects)));
}

// One change of the kernel at a time; what happens meanwhile is the next one.
void Agent::State::set_services() {
  // Before everything is known, rules that pods of an earlier run rely on would be taken away.
  if (!service_proxy() || services_busy || closing || !services.synced() || !slices.synced() || !pods.synced()) return;
  ServiceObjects objects{all_of(services), all_of(slices), {}, options.api_host};
  for (const auto& [uid, worker] : workers) {
    if (worker->state.sandbox != Sandbox::kReady || is_over(worker->pod, worker->state) ||
        worker->pod["spec"]["hostNetwork"].as_bool())
      continue;
    for (HostPort& port : host_ports_of(worker->pod, worker->state.ip)) objects.host_ports.push_back(std::move(port));
  }
  auto rules = std::make_shared<const ServiceRules>(service_rules(objects));
  if (services_set && *services_set == *rules) return;
  services_busy = true;
  off_loop<base::Status>([rules](Runtime& machine) { return machine.set_services(*rules); },
                         [this, rules](base::Status set) {
                           services_busy = false;
                           if (set.ok()) {
                             services_set = rules;
                             services_back_off = {};
                             return set_services();
                           }
                           services_set.reset();
                           // A machine that says no for long is not worth a line each time.
                           if (services_back_off == base::Duration{})
                             base::log_error("node", "rules of services: " + set.error().message);
                           services_back_off = services_back_off == base::Duration{}
                                                   ? kRetryFirst
                                                   : std::min(services_back_off * 2, kRetryMax);
                           env.loop().after(services_back_off, [weak = weak_from_this()] {
                             if (const auto self = weak.lock()) self->set_services();
                           });
                         });
}

bool Agent::State::has_begun(const PodWorker& worker) const {
  return worker.state.start_time.is_set() && worker.state.sandbox != Sandbox::kGone && !worker.refused &&
         !is_over(worker.pod, worker.state);
}

// Whether a pod that has begun already has a port that this one asks for.
bool Agent::State::lacks_ports(const PodWorker& worker) const {
  const std::vector<HostPort> wanted = host_ports_of(worker.pod, {});
  if (wanted.empty()) return false;
  return std::ranges::any_of(workers, [&](const auto& entry) {
    const PodWorker& other = *entry.second;
    return &other != &worker && has_begun(other) && share_a_port(wanted, host_ports_of(other.pod, {}));
  });
}

// The services whose variables the containers of a pod have, the API server's first.
std::vector<const Json*> Agent::State::linked_services(const Json& pod) const {
  std::vector<const Json*> linked;
  const auto answers = [](const Json& service) {
    return api::parse_ipv4(service["spec"]["clusterIP"].as_string()).has_value();
  };
  if (!service_proxy()) return linked;
  if (const Json* own = services.find("default/kubernetes"); own != nullptr && answers(*own)) linked.push_back(own);
  if (!pod["spec"]["enableServiceLinks"].as_bool(true)) return linked;
  for (const auto& [key, service] : services.objects())
    if (api::namespace_of(service) == api::namespace_of(pod) && answers(service) && key != "default/kubernetes")
      linked.push_back(&service);
  return linked;
}

}  // namespace node
