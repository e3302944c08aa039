// Prints the failed invariant and ends the process.
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace base {

void check_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "CHECK failed: %s (%s:%d)\n", expression, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace base
