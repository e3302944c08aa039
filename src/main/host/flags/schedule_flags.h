// The flags of `volcano schedule`.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "main/host/base/arguments.h"
#include "scheduler/one_shot/one_shot.h"

namespace volcano_main {

struct ScheduleFlags {
  scheduler::OneShotOptions options;
  std::string config_file;
  std::string stats_file;
  bool json = false;
  bool help = false;
  std::vector<std::string> files;
  std::vector<std::vector<std::string>> then;  // the files of each further phase
};

// With --help nothing else counts.
base::Result<ScheduleFlags> parse_schedule_flags(const Arguments& arguments);
std::string schedule_help();

}  // namespace volcano_main
