// How nft is called, and what is found out about the machine.
#include "node/os/services/service_proxy.h"

#include <unistd.h>

#include "base/format.h"
#include "base/log.h"
#include "node/machine/container_text.h"
#include "node/os/command.h"
#include "node/os/network/network.h"
#include "node/os/pod_folders.h"

namespace node {

namespace {

base::Status run_nft(const std::string& text) { return must_run({"nft", "-f", "-"}, {.input = text}); }

}  // namespace

std::string ServiceProxy::open(ProxyTable place) {
  const std::lock_guard lock(mutex_);
  if (find_program("nft").empty()) return "the program nft is missing";
  table_ = std::move(place);
  table_.name = table_.bridge;
  table_.masquerade_all = !sees_bridged_packets();
  const base::Status tried = run_trial({});
  return tried.ok() ? std::string() : reason_text(tried.error().message);
}

// Made and taken away again in one transaction, under a name that nothing else has.
base::Status ServiceProxy::run_trial(const ServiceRules& rules) const {
  ProxyTable trial = table_;
  trial.name += "_trial";
  return run_nft(transaction(trial, nullptr, rules) + base::format("delete table ip {}\n", trial.name));
}

base::Status ServiceProxy::try_rules(const ServiceRules& rules) {
  const std::lock_guard lock(mutex_);
  return closed_ ? base::Status() : run_trial(rules);
}

base::Status ServiceProxy::set(const ServiceRules& rules) {
  const std::lock_guard lock(mutex_);
  if (closed_) return {};
  const std::string text = transaction(table_, present_ ? &*present_ : nullptr, rules);
  if (text.empty()) return {};
  if (base::Status set = run_nft(text); !set.ok()) {
    present_.reset();
    return set;
  }
  present_ = rules;
  return {};
}

void ServiceProxy::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  if (table_.name.empty()) return;
  // Named first, so that one that is not there is no error.
  if (const base::Status gone = run_nft(base::format("table ip {0}\ndelete table ip {0}\n", table_.name)); !gone.ok())
    base::log_warning("node", base::format("the rules of services stay: {}", gone.error().message));
  present_.reset();
}

}  // namespace node
