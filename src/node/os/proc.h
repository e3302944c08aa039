// Facts about processes, from /proc. A process is named by its id, its start and the boot of the machine, so that a
// reused id is not taken for it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace node {

// Which start of the machine this is. Empty: nobody says.
const std::string& boot_id();
// "PID START BOOT", to be kept in a file.
std::string describe_process(pid_t pid);
// The process's id if it still is the one that was described, else 0.
pid_t described_process(std::string_view description);
// The processes that were started with `word` as one of their arguments.
std::vector<pid_t> processes_with_argument(std::string_view word);
std::vector<pid_t> children_of(pid_t parent);
// `root` and everything below it, parents first.
std::vector<pid_t> tree_of(pid_t root);

}  // namespace node
