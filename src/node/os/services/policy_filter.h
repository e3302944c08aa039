// NetworkPolicies in the kernel: a table of nftables of the cluster's own.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "node/policies/policy_rules.h"

namespace node {

// Thread-safe; its methods block.
class PolicyFilter {
 public:
  // Why this machine cannot do it, or nothing. To be called before anything else. `place`: without a name.
  std::string open(PolicyTable place);
  // Makes the kernel do what `rules` say. An error has changed nothing, and the next call makes all of it anew.
  base::Status set(const PolicyRules& rules);
  // Takes the table away.
  void close();

 private:
  base::Status remove();

  std::mutex mutex_;
  PolicyTable table_;
  std::optional<PolicyRules> present_;  // unset: what the kernel has is not known
  bool closed_ = false;
};

}  // namespace node
