// The shared parts of the programs that run controllers on a cluster.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/http/kubeconfig.h"
#include "main/host/base/arguments.h"
#include "main/host/flags/controller_flags.h"
#include "main/host/hosts/training_webhook.h"

namespace volcano_main {

struct ControllerProgram {
  std::string name;                // of the program, for messages and the API server
  std::string app = {};            // label of its pods, by which a second installation is found; empty: none is sought
  std::vector<std::string> flags;  // names of those of ControllerFlags that it has; empty: all
  // Sets defaults, before the flags are read.
  std::function<void(ControllerFlags&)> preset;
  // Flags that only this program has; they live as long as it runs.
  std::vector<base::Flag> own_flags = {};
  // After the flags are read: what the program's own mean for the others.
  std::function<base::Status(ControllerFlags&)> settle = {};
  // Judges the flags beyond ControllerFlags::check(); unset: nothing more is asked for.
  std::function<base::Status(const ControllerFlags&)> check = {};
  std::string not_ready = {};  // what /readyz says before the reason; empty: the reason alone
  // Resources of which the server is asked, before anything starts, whether it serves them; and what follows from those
  // that it does not.
  std::vector<api::ResourceId> asked_for = {};
  std::function<base::Status(ControllerFlags&, const std::set<api::ResourceId>& absent)> learn = {};
  // An admission webhook beside the controllers, which begin when it is ready; unset: none. Asked once learn() was.
  std::function<std::optional<TrainingWebhookOptions>()> webhook = {};
  // A server beside the controllers, in every replica, which ends when it is destroyed; unset: none.
  std::function<base::Result<std::shared_ptr<void>>(const client::ServerAccess& access)> beside = {};
};

// Runs until a signal; returns the exit status.
int run_controllers(const ControllerProgram& kind, const Arguments& arguments);

}  // namespace volcano_main
