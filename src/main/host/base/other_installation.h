// Does somebody else on this cluster decide about the same pods? Leases keep the replicas of one installation apart;
// each installation has its Lease in its own namespace (as Volcano's chart says), so two of them do not see each other.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "client/client.h"
#include "rt/env.h"

namespace volcano_main {

// The pods that a scheduler's, or controllers', flags make it care for, and who waits for whom.
struct Installation {
  std::vector<std::string> scheduler_names;
  bool elects = true;
  std::string lease_namespace, lease_name;
  bool shares = false;    // nodes or pods are divided between schedulers on purpose
  bool all_jobs = false;  // controllers: all Jobs and Queues, whatever their scheduler
};

struct OtherInstallationOptions {
  std::string program;  // as messages name it
  std::string app;      // value of the label `app` that both charts give its pods
  std::string ns;       // where this one is installed
  Installation own;
  // From what another one's container is started with; nothing if they cannot be read.
  std::function<std::optional<Installation>(const std::vector<std::string>& arguments)> read;
};

// The words that start the first container of a pod (or of a Deployment's template): its command, then its arguments.
std::vector<std::string> words_of_program(const api::Json& pod);

// The conflict of `pod` with this installation, and what to do; empty: nothing.
std::string conflict_with(const api::Json& pod, const OtherInstallationOptions& options);

// Looks every minute and tells in the log when that changes. All on the loop of `env`, which must outlive it, as must
// `client`.
class OtherInstallations {
 public:
  OtherInstallations(rt::Env& env, client::Client& client, OtherInstallationOptions options);
  void start();

 private:
  void look();
  void take(const base::Result<api::Json>& pods);

  rt::Env& env_;
  client::Client& client_;
  OtherInstallationOptions options_;
  std::string reported_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace volcano_main
