// Starting a process whose streams are ours: pipes, or a terminal of its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace node {

struct ExecLaunch {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // NAME=value
  std::string folder = "/";
  bool input = false;  // else it reads nothing
  bool terminal = false;
  bool no_new_privileges = false;
  std::optional<std::int64_t> user = {};  // else ours, as the group
  std::optional<std::int64_t> group = {};
};

// Closes what it holds. The process leads a session of its own; it is killed when the thread that started it ends.
struct ExecProcess {
  pid_t pid = 0;
  int input = -1;  // of a terminal the same as outputs[0]
  int outputs[2] = {-1, -1};
  int ended = -1;  // a pidfd

  ExecProcess() = default;
  ExecProcess(ExecProcess&& other) noexcept;
  ExecProcess& operator=(ExecProcess&&) = delete;
  ~ExecProcess();
  void close_input();
  // Waits for its end; 128 + signal for one that was killed.
  int exit_code();
};

base::Result<ExecProcess> launch_exec(const ExecLaunch& launch);
void set_terminal_size(int terminal, int columns, int rows);

}  // namespace node
