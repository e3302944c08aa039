// Service rules in the kernel: a table of nftables of the cluster's own.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "node/machine/service_rules.h"

namespace node {

// Thread-safe; its methods block.
class ServiceProxy {
 public:
  // Why this machine cannot do it (no program, no such kernel), or nothing. To be called before anything else.
  // `place`: without a name and without what is found out here.
  std::string open(ProxyTable place);
  // Makes the kernel do what `rules` say. An error has changed nothing, and the next call makes all of it anew.
  base::Status set(const ServiceRules& rules);
  // Whether the kernel would take these rules.
  base::Status try_rules(const ServiceRules& rules);
  // Takes the table away.
  void close();

 private:
  base::Status run_trial(const ServiceRules& rules) const;

  std::mutex mutex_;
  ProxyTable table_;
  std::optional<ServiceRules> present_;  // unset: what the kernel has is not known
  bool closed_ = false;
};

}  // namespace node
