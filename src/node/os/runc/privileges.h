// The rights of this program on the machine, as far as containers depend on them.
#pragma once

#include <cstdint>

namespace node {

struct Privileges {
  std::uint64_t bounding = ~std::uint64_t{0};  // capabilities that processes of ours can have, as bits
  std::uint64_t effective = ~std::uint64_t{0};
  int oom_score_adjustment = 0;                   // our own
  bool seccomp = true;                            // the kernel filters system calls
  std::uint64_t memlock_max = ~std::uint64_t{0};  // bytes that processes of ours can be let lock
};
Privileges read_privileges();

// Without CAP_SYS_RESOURCE nobody goes below what he has; a runtime that tries ends without a word.
int permitted_oom_score(int wanted, const Privileges& privileges);

}  // namespace node
