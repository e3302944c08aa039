// Services on this node: names for pods, rules for the kernel, variables for containers.
#include <algorithm>

#include "api/ipv4.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"
#include "node/pod/names.h"

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

ServiceObjects Agent::State::service_objects() const {
  ServiceObjects objects{all_of(services), all_of(slices), {}, options.api_host};
  objects.machine_ip = options.host_ip;
  for (const auto& [uid, worker] : workers) {
    if (worker->state.sandbox != Sandbox::kReady || is_over(worker->pod, worker->state) ||
        worker->pod["spec"]["hostNetwork"].as_bool())
      continue;
    for (HostPort& port : host_ports_of(worker->pod, worker->state.ip)) objects.host_ports.push_back(std::move(port));
  }
  return objects;
}

// One change of the kernel at a time; what happens meanwhile is the next one.
void Agent::State::set_services() {
  // Before everything is known, rules that pods of an earlier run rely on would be taken away.
  if (!service_proxy() || services_busy || closing || !services.synced() || !slices.synced() || !pods.synced()) return;
  ServiceDecision decision = service_rules(service_objects());
  tell_left_out(decision.left_out);
  auto rules = std::make_shared<const ServiceRules>(std::move(decision.rules));
  if (services_set && *services_set == *rules) return;
  services_busy = true;
  off_loop<base::Status>([rules](Runtime& machine) { return machine.set_services(*rules); },
                         [this, rules](base::Status set) {
                           if (!set.ok()) return set_services_apart(set.error());
                           services_busy = false;
                           services_set = rules;
                           services_back_off = {};
                           set_services();
                         });
}

// An event at each service of which targets are left out, when that changes, and a number for whoever runs the machine.
void Agent::State::tell_left_out(const std::vector<LeftOut>& left_out) {
  std::map<std::string, std::string> now;
  std::int64_t targets = 0;
  for (const LeftOut& one : left_out) {
    targets += one.targets - one.kept;
    const std::string key = api::key_of(*one.service);
    now[key] = one.why;
    const auto told = services_told.find(key);
    if (told == services_told.end() || told->second != one.why)
      event(*one.service, "Warning", "TooManyTargets", one.why);
  }
  services_told = std::move(now);
  if (options.metrics != nullptr)
    options.metrics->gauge("volcano_node_service_targets_left_out").set(static_cast<double>(targets));
}

// The kernel has refused the rules: those of the namespaces that it takes are set, so that nobody's services wait for
// those of another. Tried again as a whole later.
void Agent::State::set_services_apart(const base::Error& error) {
  struct Outcome {
    std::vector<std::string> refused;  // namespaces
    base::Status set;
  };
  const ServiceObjects all = service_objects();
  std::map<std::string, ServiceObjects> namespaces;
  for (const Json* service : all.services)
    namespaces[std::string(api::namespace_of(*service))].services.push_back(service);
  for (const Json* slice : all.slices)
    if (const auto of = namespaces.find(std::string(api::namespace_of(*slice))); of != namespaces.end())
      of->second.slices.push_back(slice);
  auto parts = std::make_shared<std::vector<ServicePart>>();
  for (auto& [ns, objects] : namespaces) {
    objects.gateway = all.gateway;
    objects.machine_ip = all.machine_ip;
    parts->push_back({ns, service_rules(objects).rules});
  }
  ServiceObjects ports;
  ports.host_ports = all.host_ports;
  auto first = std::make_shared<ServiceRules>(service_rules(ports).rules);
  off_loop<Outcome>(
      [parts, first](Runtime& machine) {
        Outcome outcome;
        ServiceRules& accepted = *first;
        outcome.refused =
            add_accepted(*parts, accepted, [&](const ServiceRules& rules) { return machine.try_services(rules).ok(); });
        outcome.set = machine.set_services(accepted);
        return outcome;
      },
      [this, error](const Outcome& outcome) {
        services_busy = false;
        services_set.reset();
        std::string refused;
        for (const std::string& ns : outcome.refused) refused += (refused.empty() ? "" : ", ") + ns;
        // A machine that says no for long is not worth a line each time.
        if (services_back_off == base::Duration{})
          base::log_error("node",
                          base::format("rules of services: {}; {}", error.message,
                                       !outcome.set.ok() ? "none was changed"
                                       : refused.empty() ? "those of each namespace are set"
                                                         : "those of all namespaces are set but of " + refused));
        if (options.metrics != nullptr) options.metrics->counter("volcano_node_service_rules_refused_total").add();
        services_back_off =
            services_back_off == base::Duration{} ? kRetryFirst : std::min(services_back_off * 2, kRetryMax);
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
