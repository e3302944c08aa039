// The programs whose names and letters are those of Slurm's: vsub, vjobs, vqueues, vcancel, vsuspend, vresume.
#pragma once

#include "cli/command.h"

namespace cli {

// `variable` reads the environment, where vsub finds its defaults.
std::vector<Command> slurm_roots(const std::function<std::string(const std::string&)>& variable);

}  // namespace cli
