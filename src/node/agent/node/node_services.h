// Services on this node: names for pods, rules for the kernel, variables for containers.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/watch/informer.h"
#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_events.h"
#include "node/agent/core/pod_table.h"
#include "node/machine/machine.h"

namespace node {

// Owns the watches of services and their slices, the rules that the kernel has, and the reports about targets that are
// left out. Asks the table which pods there are, and the runtime to set names and rules. Loop thread only.
class NodeServices {
 public:
  NodeServices(AgentLoop& loop, client::Client& client, const Options& options, const PodTable& pods,
               PodEvents& events);

  // Once the runtime is open.
  void start();
  client::Informer& watch() { return services_; }
  // Names and rules follow once per turn of the loop, however many objects changed.
  void refresh();
  // Ends changes of the kernel's rules.
  void close() { closed_ = true; }
  // Whether something answers at the addresses of services. After start().
  bool has_proxy() const { return no_proxy_.empty(); }
  // The services whose variables the containers of a pod have, the API server's first.
  std::vector<const api::Json*> linked_to(const api::Json& pod) const;

 private:
  void set_names();
  ServiceObjects objects() const;
  void set_rules();
  void set_rules_apart(const base::Error& error);
  void report_left_out(const std::vector<LeftOut>& left_out);

  AgentLoop& loop_;
  const Options& options_;
  const PodTable& pods_;
  PodEvents& events_;
  client::Informer services_, slices_;
  bool started_ = false;
  bool closed_ = false;
  bool due_ = false;                                      // a refresh is posted
  bool busy_ = false;                                     // the kernel's rules are being changed
  std::shared_ptr<const ServiceRules> set_;               // in the kernel; null: not known
  base::Duration back_off_;                               // after failures
  std::map<std::string, std::string> left_out_reported_;  // by key: why targets of a service are left out
  std::string no_proxy_;                                  // why there is none; empty: there is
};

}  // namespace node
