// Code is mapped from files and never changed, so that nothing is lost.
#include "main/host/base/start_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace volcano_main {

void give_back_start_pages() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // "55e0-55f0 r-xp 00000000 fe:00 123   /path"
    if (line.find(" r-xp ") == std::string::npos || line.find(" /") == std::string::npos) continue;
    std::uint64_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) != 2 || begin >= end) continue;
    (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

}  // namespace volcano_main
