// How nft is called for policies.
#include "node/os/services/policy_filter.h"

#include "base/format.h"
#include "base/log.h"
#include "node/machine/container_text.h"
#include "node/machine/machine.h"
#include "node/os/command.h"
#include "node/os/network/guard.h"
#include "node/os/network/network.h"

namespace node {

std::string missing_for_policies(const Options& options) {
  if (options.mode == Mode::kProcess) return "pods are plain processes on this machine's own network";
  if (const std::string missing = missing_for_containers(options); !missing.empty())
    return "pods are plain processes on this machine's own network, since containers need " + missing;
  if (find_program("nft").empty()) return "the program nft is missing";
  if (!sees_bridged_packets()) return "this kernel has no br_netfilter, and does not judge what pods say to each other";
  return {};
}

std::string PolicyFilter::open(PolicyTable place) {
  const std::lock_guard lock(mutex_);
  table_ = std::move(place);
  table_.name = policy_table_of(table_.bridge);
  PolicyTable trial = table_;
  trial.name += "_trial";
  const std::string text = transaction(trial, nullptr, {}) + base::format("delete table ip {}\n", trial.name);
  const base::Status tried = must_run({"nft", "-f", "-"}, {.input = text});
  return tried.ok() ? std::string() : reason_text(tried.error().message);
}

base::Status PolicyFilter::set(const PolicyRules& rules) {
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  if (rules.empty()) return remove();  // packets cost nothing then
  const std::string text = transaction(table_, present_ ? &*present_ : nullptr, rules);
  if (text.empty()) return {};
  if (base::Status set = must_run({"nft", "-f", "-"}, {.input = text}); !set.ok()) {
    present_.reset();
    return set;
  }
  present_ = rules;
  return {};
}

base::Status PolicyFilter::remove() {
  present_.reset();
  // Named first, so that one that is not there is no error.
  return must_run({"nft", "-f", "-"}, {.input = base::format("table ip {0}\ndelete table ip {0}\n", table_.name)});
}

void PolicyFilter::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (table_.name.empty()) return;
  if (const base::Status gone = remove(); !gone.ok())
    base::log_warning("node", base::format("the rules of NetworkPolicies stay: {}", gone.error().message));
}

}  // namespace node
