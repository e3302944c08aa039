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
Command version_command();

// The six lines of `version` and of `--version`.
std::string version_block(const std::string& version);

// job_view.cc: one job in words, with its events.
std::string job_view(const api::Json& job, const std::vector<api::Json>& events, const World& world);

}  // namespace cli
