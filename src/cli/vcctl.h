// The vcctl command tree.
#pragma once

#include "cli/command.h"

namespace cli {

Command vcctl_root();

// The nouns (all.cc lists them).
Command job_commands();
Command queue_commands();
Command explain_commands();
Command pod_commands();
Command jobflow_commands();
Command jobtemplate_commands();
Command top_command();
Command completion_command();
Command version_command();

// The six lines of `version` and of `--version`.
std::string version_block(const std::string& version);

}  // namespace cli
