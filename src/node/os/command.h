// Other programs, run to their end.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace node {

struct CommandResult {
  int exit_code = 0;  // 128 + signal for one that was killed
  std::string out;
  std::string err;
};

struct CommandOptions {
  std::string input = {};
  std::vector<std::string> environment = {};  // NAME=value; empty: ours
  base::Duration timeout = base::seconds(30);
  const std::atomic<bool>* cancelled = nullptr;  // once true, the program is killed
  // Asked a few times a second; an error kills the program and is the result.
  std::function<base::Status()> guard = {};
  std::string folder = {};                  // where the program runs; empty: where we do
  int keep_fd = -1;                         // becomes descriptor 3 of the program
  std::string output_path = {};             // takes both outputs instead of us: for programs that leave others behind
  std::size_t output_bytes_max = 16 << 20;  // a program that says more is killed
};

// Blocks. An error when the program cannot be started or does not end in time (it is killed then).
base::Result<CommandResult> run_command(const std::vector<std::string>& words, const CommandOptions& options = {});
// The same, and an exit code other than 0 is an error with the program's words.
base::Status must_run(const std::vector<std::string>& words, const CommandOptions& options = {});
// The path of the program by PATH, or empty.
std::string find_program(const std::string& name);

}  // namespace node
