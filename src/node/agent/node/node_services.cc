// How services become names, rules and variables on this node.
#include "node/agent/node/node_services.h"

#include <algorithm>

#include "api/ipv4.h"
#include "api/meta/resource.h"
#include "api/network_resources.h"
#include "base/format.h"
#include "base/log.h"
#include "node/pod/names.h"
#include "node/pod/pod_plan.h"

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

NodeServices::NodeServices(AgentLoop& loop, client::Client& client, const Options& options, const PodTable& pods,
                           PodEvents& events)
    : loop_(loop),
      options_(options),
      pods_(pods),
      events_(events),
      services_(client, loop.env(), api::resources::kServices),
      slices_(client, loop.env(), api::resources::kEndpointSlices) {}

void NodeServices::start() {
  started_ = true;
  no_proxy_ = loop_.runtime()->network().no_service_proxy();
  if (!has_proxy()) base::log_warning("node", "nothing answers at the addresses of services: " + no_proxy_);
  for (client::Informer* informer : {&services_, &slices_}) {
    informer->on_change([this](const Json*, const Json*, bool) { refresh(); });
    informer->on_synced([this] { refresh(); });
    informer->start();
  }
}

void NodeServices::refresh() {
  if (!started_ || std::exchange(due_, true)) return;
  loop_.post([this] {
    due_ = false;
    set_names();
    set_rules();
  });
}

void NodeServices::set_names() {
  NamedObjects named{all_of(services_), all_of(slices_), {}, has_proxy()};
  for (const auto& [uid, worker] : pods_.workers())
    if (!is_over(worker->pod, worker->state)) named.pods.push_back({&worker->pod, worker->state.ip});
  loop_.runtime()->network().set_names(std::make_shared<const NameTable>(name_table(named)));
}

ServiceObjects NodeServices::objects() const {
  ServiceObjects found{all_of(services_), all_of(slices_), {}, options_.api_host};
  found.machine_ip = options_.host_ip;
  for (const auto& [uid, worker] : pods_.workers()) {
    if (worker->state.sandbox != Sandbox::kReady || is_over(worker->pod, worker->state) ||
        worker->pod["spec"]["hostNetwork"].as_bool())
      continue;
    for (HostPort& port : host_ports_of(worker->pod, worker->state.ip)) found.host_ports.push_back(std::move(port));
  }
  return found;
}

// One change of the kernel at a time; what happens meanwhile is the next one.
void NodeServices::set_rules() {
  // Before everything is known, rules that pods of an earlier run rely on would be taken away.
  if (!has_proxy() || busy_ || closed_ || !services_.synced() || !slices_.synced() || !pods_.synced()) return;
  ServiceDecision decision = service_rules(objects());
  report_left_out(decision.left_out);
  auto rules = std::make_shared<const ServiceRules>(std::move(decision.rules));
  if (set_ && *set_ == *rules) return;
  busy_ = true;
  loop_.off_loop<base::Status>([rules](Runtime& machine) { return machine.network().set_services(*rules); },
                               [this, rules](base::Status set) {
                                 if (!set.ok()) return set_rules_apart(set.error());
                                 busy_ = false;
                                 set_ = rules;
                                 back_off_ = {};
                                 set_rules();
                               });
}

// An event at each service of which targets are left out, when that changes, and a number for whoever runs the machine.
void NodeServices::report_left_out(const std::vector<LeftOut>& left_out) {
  std::map<std::string, std::string> now;
  std::int64_t targets = 0;
  for (const LeftOut& one : left_out) {
    targets += one.targets - one.kept;
    const std::string key = api::key_of(*one.service);
    now[key] = one.why;
    const auto warned = left_out_reported_.find(key);
    if (warned == left_out_reported_.end() || warned->second != one.why)
      events_.record(*one.service, "Warning", "TooManyTargets", one.why);
  }
  left_out_reported_ = std::move(now);
  if (options_.metrics != nullptr)
    options_.metrics->gauge("volcano_node_service_targets_left_out").set(static_cast<double>(targets));
}

// The kernel has refused the rules: those of the namespaces that it takes are set, so that nobody's services wait for
// those of another. Tried again as a whole later.
void NodeServices::set_rules_apart(const base::Error& error) {
  struct Outcome {
    std::vector<std::string> refused;  // namespaces
    base::Status set;
  };
  const ServiceObjects all = objects();
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
  loop_.off_loop<Outcome>(
      [parts, first](Runtime& machine) {
        Outcome outcome;
        ServiceRules& accepted = *first;
        outcome.refused = add_accepted(
            *parts, accepted, [&](const ServiceRules& rules) { return machine.network().try_services(rules).ok(); });
        outcome.set = machine.network().set_services(accepted);
        return outcome;
      },
      [this, error](const Outcome& outcome) {
        busy_ = false;
        set_.reset();
        std::string refused;
        for (const std::string& ns : outcome.refused) refused += (refused.empty() ? "" : ", ") + ns;
        // A machine that says no for long is not worth a line each time.
        if (back_off_ == base::Duration{})
          base::log_error("node",
                          base::format("rules of services: {}; {}", error.message,
                                       !outcome.set.ok() ? "none was changed"
                                       : refused.empty() ? "those of each namespace are set"
                                                         : "those of all namespaces are set but of " + refused));
        if (options_.metrics != nullptr) options_.metrics->counter("volcano_node_service_rules_refused_total").add();
        back_off_ = back_off_ == base::Duration{} ? kRetryFirst : std::min(back_off_ * 2, kRetryMax);
        loop_.after(back_off_, [this] { set_rules(); });
      });
}

std::vector<const Json*> NodeServices::linked_to(const Json& pod) const {
  std::vector<const Json*> linked;
  const auto answers = [](const Json& service) {
    return api::parse_ipv4(service["spec"]["clusterIP"].as_string()).has_value();
  };
  if (!has_proxy()) return linked;
  if (const Json* own = services_.find("default/kubernetes"); own != nullptr && answers(*own)) linked.push_back(own);
  if (!pod["spec"]["enableServiceLinks"].as_bool(true)) return linked;
  for (const auto& [key, service] : services_.objects())
    if (api::namespace_of(service) == api::namespace_of(pod) && answers(service) && key != "default/kubernetes")
      linked.push_back(&service);
  return linked;
}

}  // namespace node
