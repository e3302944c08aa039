// TensorBoards: a Deployment that reads logs from a claim or an object store, and a Service (kubeflow.md 3).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "controllers/framework/controller.h"
#include "controllers/notebooks/options.h"

namespace controllers::notebooks {

std::unique_ptr<Controller> make_tensorboard_controller(Options options);

// The place of logs, as spec.logspath says it.
struct Logs {
  std::string claim;       // empty: no claim
  std::string sub_path;    // in the claim
  std::string mount_path;  // of the claim
  std::string argument;    // of --logdir
  bool google = false;     // with the secret of a Google account
};
Logs logs_of(std::string_view path);

}  // namespace controllers::notebooks
