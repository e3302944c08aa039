// One target under libFuzzer: FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::Target* const target = fuzz::find_target(FUZZ_TARGET);
  if (!target) std::abort();
  target->run({reinterpret_cast<const char*>(data), size});
  return 0;
}
