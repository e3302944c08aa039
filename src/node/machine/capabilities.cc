// The list of names, and how additions and removals change the usual set.
#include "node/machine/capabilities.h"

#include <algorithm>

namespace node {

namespace {

constexpr const char* kDefault[] = {"CAP_CHOWN",   "CAP_DAC_OVERRIDE", "CAP_FSETID",           "CAP_FOWNER",
                                    "CAP_MKNOD",   "CAP_NET_RAW",      "CAP_SETGID",           "CAP_SETUID",
                                    "CAP_SETFCAP", "CAP_SETPCAP",      "CAP_NET_BIND_SERVICE", "CAP_SYS_CHROOT",
                                    "CAP_KILL",    "CAP_AUDIT_WRITE"};
// In the kernel's order: the index is the bit.
constexpr const char* kAll[] = {"CAP_CHOWN",
                                "CAP_DAC_OVERRIDE",
                                "CAP_DAC_READ_SEARCH",
                                "CAP_FOWNER",
                                "CAP_FSETID",
                                "CAP_KILL",
                                "CAP_SETGID",
                                "CAP_SETUID",
                                "CAP_SETPCAP",
                                "CAP_LINUX_IMMUTABLE",
                                "CAP_NET_BIND_SERVICE",
                                "CAP_NET_BROADCAST",
                                "CAP_NET_ADMIN",
                                "CAP_NET_RAW",
                                "CAP_IPC_LOCK",
                                "CAP_IPC_OWNER",
                                "CAP_SYS_MODULE",
                                "CAP_SYS_RAWIO",
                                "CAP_SYS_CHROOT",
                                "CAP_SYS_PTRACE",
                                "CAP_SYS_PACCT",
                                "CAP_SYS_ADMIN",
                                "CAP_SYS_BOOT",
                                "CAP_SYS_NICE",
                                "CAP_SYS_RESOURCE",
                                "CAP_SYS_TIME",
                                "CAP_SYS_TTY_CONFIG",
                                "CAP_MKNOD",
                                "CAP_LEASE",
                                "CAP_AUDIT_WRITE",
                                "CAP_AUDIT_CONTROL",
                                "CAP_SETFCAP",
                                "CAP_MAC_OVERRIDE",
                                "CAP_MAC_ADMIN",
                                "CAP_SYSLOG",
                                "CAP_WAKE_ALARM",
                                "CAP_BLOCK_SUSPEND",
                                "CAP_AUDIT_READ",
                                "CAP_PERFMON",
                                "CAP_BPF",
                                "CAP_CHECKPOINT_RESTORE"};

std::string full_name(std::string_view text) {
  std::string name(text);
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name.starts_with("CAP_") ? name : "CAP_" + name;
}

}  // namespace

bool is_capability(std::string_view text) {
  const std::string name = full_name(text);
  return name == "CAP_ALL" || std::find(std::begin(kAll), std::end(kAll), name) != std::end(kAll);
}

std::vector<std::string> capabilities_of(const ContainerSpec& spec, std::uint64_t available) {
  std::vector<std::string> set;
  if (spec.privileged)
    set.assign(std::begin(kAll), std::end(kAll));
  else
    set.assign(std::begin(kDefault), std::end(kDefault));
  const auto without = [&](const std::string& name) {
    set.erase(std::remove(set.begin(), set.end(), name), set.end());
  };
  for (const std::string& dropped : spec.capabilities_dropped) {
    if (full_name(dropped) == "CAP_ALL") set.clear();
    without(full_name(dropped));
  }
  for (const std::string& added : spec.capabilities_added) {
    if (full_name(added) == "CAP_ALL")
      set.assign(std::begin(kAll), std::end(kAll));
    else if (std::find(set.begin(), set.end(), full_name(added)) == set.end())
      set.push_back(full_name(added));
  }
  // A capability that the machine does not let even root have cannot be given on.
  for (std::size_t bit = 0; bit < std::size(kAll); ++bit)
    if ((available >> bit & 1) == 0) without(kAll[bit]);
  return set;
}

}  // namespace node
