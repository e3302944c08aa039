// The surroundings of a scheduler in vc-scheduler and in `volcano up`. They write down what it believes when a signal
// asks for it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "main/host/base/config_file.h"
#include "scheduler/scheduler.h"

namespace volcano_main {

// SIGUSR1 writes a file that `volcano schedule --as-is` reads, SIGUSR2 writes lines for people into the log.
struct Dumper {
  bool enabled = true;
  std::string folder = "/tmp";
  std::vector<std::string> arguments;  // noted in the file
  // Calls its argument on the scheduler's loop, with the scheduler where it exists.
  std::function<void(std::function<void(const scheduler::Scheduler*)>)> with_scheduler;
  std::function<void()> reload = {};  // at SIGHUP, on the waiting thread; unset: nothing is read again
};

// The file `path` in force, and looked at from now on: one that cannot be used now may become usable. The scheduler's
// loop.
std::unique_ptr<ConfigFile> configuration_of(rt::Env& env, scheduler::Scheduler& part, const std::string& path);

// In this thread and those it starts from now on.
void block_signals();
// Returns at SIGINT and SIGTERM.
void wait_for_end(const Dumper& dumper);

}  // namespace volcano_main
