// NetworkPolicies on this node: the rules of the kernel are set before a pod that they speak of begins.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/watch/informer.h"
#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_table.h"
#include "node/policies/policy_book.h"

namespace node {

// Owns the watches of policies and namespaces, the rules that the kernel has, and the pods that wait for them. Asks the
// table which pods there are, and the runtime to set rules. Loop thread only.
class NodePolicies {
 public:
  // `passed` is called for each pod given to guard(), with the kernel's refusal if a policy isolates it.
  using Passed = std::function<void(const std::string& uid, const base::Status& set)>;

  NodePolicies(AgentLoop& loop, client::Client& client, const PodTable& pods, PodEvents& events, Passed passed);

  // Once the runtime is open.
  void start();
  client::Informer& watch() { return policies_; }
  client::Informer& namespaces() { return namespaces_; }
  // Rules follow once per turn of the loop, however many objects changed.
  void refresh();
  // The pod has its address, and begins when the next rules are set.
  void guard(const std::string& uid);
  // Ends changes of the kernel's rules.
  void close() { closed_ = true; }

 private:
  PolicyObjects objects() const;
  void set_rules();
  void retry(const base::Error& error);
  void report_left_out();
  void pass(const std::vector<std::string>& uids, const base::Status& set);

  AgentLoop& loop_;
  const PodTable& pods_;
  PodEvents& events_;
  Passed passed_;
  client::Informer policies_, namespaces_;
  bool started_ = false;
  bool closed_ = false;
  std::string no_effect_;  // why policies have no effect; empty: they have
  bool due_ = false;       // a look at the rules is posted
  bool busy_ = false;      // the kernel's are being changed
  PolicyBook book_;
  std::shared_ptr<const PolicyRules> set_;                // in the kernel; null: not known
  base::Duration back_off_;                               // after failures
  std::map<std::string, std::size_t> left_out_reported_;  // by key: the number of rules of a policy that has too many
  std::vector<std::string> guarded_;                      // uids of pods that begin when the next rules are set
};

}  // namespace node
