// Reading /proc/self.
#include "node/os/runc/privileges.h"

#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "node/os/pod_folders.h"

namespace node {

namespace {

constexpr int kSysResource = 24;

std::uint64_t bits_of(const std::string& status, const char* key) {
  const std::size_t at = status.find(key);
  if (at == std::string::npos) return ~std::uint64_t{0};
  return std::strtoull(status.c_str() + at + std::char_traits<char>::length(key), nullptr, 16);
}

}  // namespace

Privileges read_privileges() {
  Privileges privileges;
  const std::string status = read_text("/proc/self/status");
  privileges.bounding = bits_of(status, "CapBnd:");
  privileges.effective = bits_of(status, "CapEff:");
  privileges.seccomp = status.find("Seccomp:") != std::string::npos;
  const std::string score = read_text("/proc/self/oom_score_adj");
  std::from_chars(score.data(), score.data() + score.size(), privileges.oom_score_adjustment);
  rlimit memlock{};
  if ((privileges.effective >> kSysResource & 1) == 0 && ::getrlimit(RLIMIT_MEMLOCK, &memlock) == 0)
    privileges.memlock_max = memlock.rlim_max;
  return privileges;
}

int permitted_oom_score(int wanted, const Privileges& privileges) {
  return (privileges.effective >> kSysResource & 1) != 0 ? wanted : std::max(wanted, privileges.oom_score_adjustment);
}

}  // namespace node
