// The surroundings of a scheduler in vc-scheduler and in `volcano up`.
#include "main/host/hosts/scheduler_host.h"

#include <signal.h>

#include <ctime>
#include <memory>

#include "base/format.h"
#include "base/log.h"
#include "rt/files/files.h"

namespace volcano_main {
namespace {

sigset_t our_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

void write_dump(const Dumper& dumper) {
  dumper.with_scheduler([folder = dumper.folder, arguments = dumper.arguments](const scheduler::Scheduler* scheduler) {
    if (scheduler == nullptr) return;
    const std::string path = base::format("{}/snapshot-{}.json", folder, std::time(nullptr));
    // It holds what is known of the whole cluster, so nobody else may read it.
    if (const base::Status written = rt::write_file(path, scheduler->dump(arguments), 0600); !written.ok())
      base::log_error("scheduler", "dump: " + written.error().message);
    else
      base::log_info("scheduler", base::format("what the scheduler believes is in {}", path));
  });
}

void log_dump(const Dumper& dumper) {
  dumper.with_scheduler([](const scheduler::Scheduler* scheduler) {
    if (scheduler == nullptr) return;
    for (const std::string& line : scheduler->dump_for_people()) base::log_info("scheduler", line);
  });
}

}  // namespace

std::unique_ptr<ConfigFile> configuration_of(rt::Env& env, scheduler::Scheduler& part, const std::string& path) {
  auto file = std::make_unique<ConfigFile>(env, "scheduler", path,
                                           [&part](const std::string& text) { return part.configure(text); });
  if (const base::Status read = file->read(); !read.ok())
    base::log_error("scheduler",
                    base::format("configuration {}: {}; the built-in one is used", path, read.error().message));
  file->watch();
  return file;
}

void block_signals() {
  const sigset_t set = our_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void wait_for_end(const Dumper& dumper) {
  const sigset_t set = our_signals();
  for (;;) {
    int signal = 0;
    sigwait(&set, &signal);
    if (signal == SIGHUP) {
      if (dumper.reload) dumper.reload();
      continue;
    }
    if (signal != SIGUSR1 && signal != SIGUSR2) return;
    if (!dumper.enabled)
      base::log_warning("scheduler", "asked for a dump, which --cache-dumper=false forbids");
    else if (signal == SIGUSR1)
      write_dump(dumper);
    else
      log_dump(dumper);
  }
}

}  // namespace volcano_main
