// vsub: a job from a command line, or from a script with #VSUB lines.
#pragma once

#include "cli/command.h"

namespace cli {

// `variable` reads the environment, where vsub finds its defaults.
Command submit_root(const std::function<std::string(const std::string&)>& variable);

// A span of time as Go or Slurm writes it: "90m", "2h30m", "30" (minutes), "10:00", "1:30:00", "2-12:00:00".
base::Result<base::Duration> parse_time_limit(const std::string& text);

}  // namespace cli
