// How a program logs.
#include "main/host/base/log_setup.h"

#include "base/format.h"
#include "base/log.h"

namespace volcano_main {
namespace {

base::LogLevel level_of(std::int64_t verbosity) {
  constexpr std::int64_t kDebugFrom = 4;
  return verbosity >= kDebugFrom ? base::LogLevel::kDebug : base::LogLevel::kInfo;
}

}  // namespace

base::Status set_up_log(std::int64_t verbosity, const std::string& format) {
  if (format != "text" && format != "json")
    return base::make_error(base::Code::kInvalid,
                            base::format("--log-format: \"{}\" is neither text nor json", format));
  base::configure_log(level_of(verbosity), format == "json" ? base::LogFormat::kJson : base::LogFormat::kText);
  return {};
}

void set_log_verbosity(std::int64_t verbosity) { base::set_log_level(level_of(verbosity)); }

}  // namespace volcano_main
