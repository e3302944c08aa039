// What do vc-scheduler and `volcano up` do around a scheduler? They read its configuration file again when it changed,
// and write down what it believes when a signal asks for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rt/env.h"
#include "scheduler/scheduler.h"

namespace volcano_main {

// The file is looked at every second; one that cannot be used leaves the configuration in use as it is, and says so
// once. On the scheduler's loop; gone before the loop is.
class ConfigFile {
 public:
  ConfigFile(rt::Env& env, scheduler::Scheduler& scheduler, std::string path)
      : env_(env), scheduler_(scheduler), path_(std::move(path)) {}
  ~ConfigFile();
  ConfigFile(const ConfigFile&) = delete;
  ConfigFile& operator=(const ConfigFile&) = delete;

  base::Status read();
  void watch();

 private:
  rt::Env& env_;
  scheduler::Scheduler& scheduler_;
  std::string path_;
  std::string seen_;
  std::string told_;  // the problem that was told last
  rt::Loop::TimerId timer_ = 0;
};

// SIGUSR1 writes a file that `volcano schedule --as-is` reads, SIGUSR2 writes lines for people into the log.
struct Dumper {
  bool enabled = true;
  std::string folder = "/tmp";
  std::vector<std::string> arguments;  // noted in the file
  // Calls its argument on the scheduler's loop, with the scheduler where it exists.
  std::function<void(std::function<void(const scheduler::Scheduler*)>)> with_scheduler;
};

// In this thread and those it starts from now on.
void block_signals();
// Returns at SIGINT and SIGTERM.
void wait_for_end(const Dumper& dumper);

}  // namespace volcano_main
