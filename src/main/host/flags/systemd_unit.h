// `volcano up` as a service of systemd.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "main/host/flags/up_flags.h"

namespace volcano_main {

struct UnitFacts {
  std::string program;                 // its absolute path
  std::vector<std::string> arguments;  // after "up"
  std::string folder;                  // that relative paths of the arguments are read from
  std::string user;                    // empty: root
};

// The text of a unit for /etc/systemd/system. Pods outlive a restart of it: systemd ends the program alone, and the
// program leaves them (--leave-pods must be among the arguments).
std::string systemd_unit(const UnitFacts& facts);

// The unit of `volcano up` as it was called, but that pods outlive the program, and that the data folder does not hang
// on HOME. The program, the folder and the user are those of this process.
base::Result<std::string> unit_of_up(const std::vector<std::string>& arguments, const UpOptions& options);

}  // namespace volcano_main
