// `volcano up` as a service of systemd.
#pragma once

#include <string>
#include <vector>

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

}  // namespace volcano_main
