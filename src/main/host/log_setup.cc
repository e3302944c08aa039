// How a program logs.
#include "main/host/log_setup.h"

#include "base/format.h"
#include "base/log.h"

namespace volcano_main {

base::Status set_up_log(std::int64_t verbosity, const std::string& format) {
  constexpr std::int64_t kDebugFrom = 4;
  if (format != "text" && format != "json")
    return base::make_error(base::Code::kInvalid,
                            base::format("--log-format: \"{}\" is neither text nor json", format));
  base::configure_log(verbosity >= kDebugFrom ? base::LogLevel::kDebug : base::LogLevel::kInfo,
                      format == "json" ? base::LogFormat::kJson : base::LogFormat::kText);
  return {};
}

}  // namespace volcano_main
