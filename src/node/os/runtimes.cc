// Which runtime this machine and these options give.
#include "base/format.h"
#include "node/machine/machine.h"
#include "node/os/process_runtime.h"
#include "node/os/runc/runc_runtime.h"
#include "rt/files/files.h"

namespace node {

base::Result<std::unique_ptr<Runtime>> make_runtime(const Options& options) {
  if (options.data_dir.empty())
    return base::make_error(base::Code::kBadRequest, "the node agent needs a data directory");
  const std::string missing = missing_for_containers(options);
  if (options.mode == Mode::kRunc && !missing.empty())
    return base::make_error(base::Code::kUnavailable,
                            base::format("pods cannot be containers on this machine: {} is missing", missing));
  if (options.mode == Mode::kProcess || !missing.empty())
    return std::unique_ptr<Runtime>(std::make_unique<ProcessRuntime>(options));
  return std::unique_ptr<Runtime>(std::make_unique<RuncRuntime>(options));
}

base::Result<std::optional<std::string>> pod_gateway(const Options& options) {
  if (options.mode == Mode::kProcess || !missing_for_containers(options).empty()) return std::optional<std::string>();
  TRY_VOID(rt::make_folders(options.data_dir, 0711));
  Network network;
  TRY_VOID(network.open(options.data_dir, options.bridge_subnet));
  return std::optional(network.gateway());
}

}  // namespace node
