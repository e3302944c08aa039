// NetworkPolicies on this node: the kernel is told before a pod that they speak of begins.
#include <algorithm>

#include "api/ipv4.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"

namespace node {

using api::Json;

namespace {

constexpr base::Duration kRetryFirst = base::seconds(1), kRetryMax = base::minutes(1);

}  // namespace

void Agent::State::refresh_policies() {
  if (!ready || std::exchange(policies_due, true)) return;
  env.loop().post([weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->policies_due = false;
    self->set_policies();
  });
}

PolicyObjects Agent::State::policy_objects() const {
  PolicyObjects objects;
  for (const auto& [key, object] : namespaces.objects()) objects.namespaces.push_back(&object);
  for (const auto& [key, object] : policies.objects()) objects.policies.push_back(&object);
  for (const auto& [uid, worker] : workers) {
    if (worker->pod["spec"]["hostNetwork"].as_bool() || worker->state.sandbox == Sandbox::kGone ||
        is_over(worker->pod, worker->state))
      continue;
    if (const auto address = api::parse_ipv4(worker->state.ip))
      objects.pods.push_back(policy_pod(worker->pod, *address));
  }
  return objects;
}

// One change of the kernel at a time; what happens meanwhile is the next one.
void Agent::State::set_policies() {
  if (policies_busy || closing) return;
  if (!no_policies.empty()) return pass_guarded(std::exchange(pods_to_guard, {}), {});
  // Before everything is known, rules that pods of an earlier run rely on would be taken away.
  if (!policies.synced() || !namespaces.synced() || !pods.synced()) return;
  auto rules = std::make_shared<const PolicyRules>(policy_book.update(policy_objects()));
  tell_policies_left_out();
  std::vector<std::string> waiting = std::exchange(pods_to_guard, {});
  // Rules that isolate nobody are all the same to the kernel.
  if (policies_set && (*policies_set == *rules || (policies_set->empty() && rules->empty())))
    return pass_guarded(waiting, {});
  policies_busy = true;
  off_loop<base::Status>([rules](Runtime& machine) { return machine.set_policies(*rules); },
                         [this, rules, waiting = std::move(waiting)](const base::Status& set) {
                           policies_busy = false;
                           pass_guarded(waiting, set);
                           if (!set.ok()) return retry_policies(set.error());
                           policies_set = rules;
                           policies_back_off = {};
                           set_policies();
                         });
}

void Agent::State::retry_policies(const base::Error& error) {
  policies_set.reset();
  // A machine that says no for long is not worth a line each time.
  if (policies_back_off == base::Duration{})
    base::log_error("node", base::format("rules of NetworkPolicies: {}; none was changed", error.message));
  policies_back_off = policies_back_off == base::Duration{} ? kRetryFirst : std::min(policies_back_off * 2, kRetryMax);
  env.loop().after(policies_back_off, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->set_policies();
  });
}

// An event at each policy that allows nothing because it has too many rules.
void Agent::State::tell_policies_left_out() {
  for (const auto& [key, count] : policy_book.left_out()) {
    const Json* policy = policies.find(key);
    const auto told = policies_told.find(key);
    if (policy == nullptr || (told != policies_told.end() && told->second == count)) continue;
    event(*policy, "Warning", "TooManyRules",
          base::format("the policy isolates its pods and allows nothing: it takes {} rules of the kernel (peers times "
                       "ports), and the policies of one namespace have {} together",
                       count, kRulesOfANamespace));
  }
  policies_told = policy_book.left_out();
}

// The pods whose addresses are in the rules that were set may begin. Pods that a policy isolates are prepared again
// later if the kernel has refused the rules.
void Agent::State::pass_guarded(const std::vector<std::string>& uids, const base::Status& set) {
  for (const std::string& uid : uids) {
    PodWorker* worker = find(uid);
    if (worker == nullptr || worker->state.sandbox != Sandbox::kPreparing) continue;
    const auto address = api::parse_ipv4(worker->state.ip);
    const bool open = set.ok() || !address || !policy_book.rules().isolates(*address);
    sandbox_made(uid, open ? base::Status() : set);
  }
}

}  // namespace node
