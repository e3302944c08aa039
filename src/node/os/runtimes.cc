// Which runtime this machine and these options give.
#include <unistd.h>

#include "node/agent.h"
#include "node/os/process_runtime.h"

namespace node {

base::Result<std::unique_ptr<Runtime>> make_runtime(const Options& options) {
  if (options.data_dir.empty()) return base::make_error(base::Code::kBadRequest, "the node agent needs a data directory");
  if (options.mode == Mode::kRunc) return base::make_error(base::Code::kUnavailable, "pods through runc are not available in this build");
  return std::unique_ptr<Runtime>(std::make_unique<ProcessRuntime>(options));
}

}  // namespace node
