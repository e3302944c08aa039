// How NetworkPolicies become rules of the kernel on this node.
#include "node/agent/node/node_policies.h"

#include <algorithm>

#include "api/ipv4.h"
#include "api/meta/resource.h"
#include "api/network_resources.h"
#include "base/format.h"
#include "base/log.h"
#include "node/pod/pod_plan.h"

namespace node {

using api::Json;

namespace {

constexpr base::Duration kRetryFirst = base::seconds(1), kRetryMax = base::minutes(1);

}  // namespace

NodePolicies::NodePolicies(AgentLoop& loop, client::Client& client, const PodTable& pods, PodEvents& events,
                           Passed passed)
    : loop_(loop),
      pods_(pods),
      events_(events),
      passed_(std::move(passed)),
      policies_(client, loop.env(), api::resources::kNetworkPolicies),
      namespaces_(client, loop.env(), api::resources::kNamespaces) {}

void NodePolicies::start() {
  started_ = true;
  no_effect_ = loop_.runtime()->network().no_policies();
  if (!no_effect_.empty()) base::log_warning("node", "NetworkPolicies have no effect: " + no_effect_);
  for (client::Informer* informer : {&policies_, &namespaces_}) {
    informer->on_change([this](const Json*, const Json*, bool) { refresh(); });
    informer->on_synced([this] { refresh(); });
    informer->start();
  }
}

void NodePolicies::refresh() {
  if (!started_ || std::exchange(due_, true)) return;
  loop_.post([this] {
    due_ = false;
    set_rules();
  });
}

void NodePolicies::guard(const std::string& uid) {
  guarded_.push_back(uid);
  set_rules();
}

PolicyObjects NodePolicies::objects() const {
  PolicyObjects found;
  for (const auto& [key, object] : namespaces_.objects()) found.namespaces.push_back(&object);
  for (const auto& [key, object] : policies_.objects()) found.policies.push_back(&object);
  for (const auto& [uid, worker] : pods_.workers()) {
    if (worker->pod["spec"]["hostNetwork"].as_bool() || worker->state.sandbox == Sandbox::kGone ||
        is_over(worker->pod, worker->state))
      continue;
    if (const auto address = api::parse_ipv4(worker->state.ip)) found.pods.push_back(policy_pod(worker->pod, *address));
  }
  return found;
}

// One change of the kernel at a time; what happens meanwhile is the next one.
void NodePolicies::set_rules() {
  if (busy_ || closed_) return;
  if (!no_effect_.empty()) return pass(std::exchange(guarded_, {}), {});
  // Before everything is known, rules that pods of an earlier run rely on would be taken away.
  if (!policies_.synced() || !namespaces_.synced() || !pods_.synced()) return;
  auto rules = std::make_shared<const PolicyRules>(book_.update(objects()));
  report_left_out();
  std::vector<std::string> waiting = std::exchange(guarded_, {});
  // Rules that isolate nobody are all the same to the kernel.
  if (set_ && (*set_ == *rules || (set_->empty() && rules->empty()))) return pass(waiting, {});
  busy_ = true;
  loop_.off_loop<base::Status>([rules](Runtime& machine) { return machine.network().set_policies(*rules); },
                               [this, rules, waiting = std::move(waiting)](const base::Status& set) {
                                 busy_ = false;
                                 pass(waiting, set);
                                 if (!set.ok()) return retry(set.error());
                                 set_ = rules;
                                 back_off_ = {};
                                 set_rules();
                               });
}

void NodePolicies::retry(const base::Error& error) {
  set_.reset();
  // A machine that says no for long is not worth a line each time.
  if (back_off_ == base::Duration{})
    base::log_error("node", base::format("rules of NetworkPolicies: {}; none was changed", error.message));
  back_off_ = back_off_ == base::Duration{} ? kRetryFirst : std::min(back_off_ * 2, kRetryMax);
  loop_.after(back_off_, [this] { set_rules(); });
}

// An event at each policy that allows nothing because it has too many rules.
void NodePolicies::report_left_out() {
  for (const auto& [key, count] : book_.left_out()) {
    const Json* policy = policies_.find(key);
    const auto warned = left_out_reported_.find(key);
    if (policy == nullptr || (warned != left_out_reported_.end() && warned->second == count)) continue;
    events_.record(
        *policy, "Warning", "TooManyRules",
        base::format("the policy isolates its pods and allows nothing: it takes {} rules of the kernel (peers times "
                     "ports), and the policies of one namespace have {} together",
                     count, kRulesOfANamespace));
  }
  left_out_reported_ = book_.left_out();
}

// The pods whose addresses are in the rules that were set may begin. Pods that a policy isolates are prepared again
// later if the kernel has refused the rules.
void NodePolicies::pass(const std::vector<std::string>& uids, const base::Status& set) {
  for (const std::string& uid : uids) {
    const PodWorker* worker = pods_.find(uid);
    if (worker == nullptr || worker->state.sandbox != Sandbox::kPreparing) continue;
    const auto address = api::parse_ipv4(worker->state.ip);
    const bool open = set.ok() || !address || !book_.rules().isolates(*address);
    passed_(uid, open ? base::Status() : set);
  }
}

}  // namespace node
