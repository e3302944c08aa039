// The texts of /proc and of control groups as numbers. Each text may be anything: empty, cut off, negative, beyond 63
// bits. A text without the number gives nothing, never a guess. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace colocation {

// The amount of a group without a limit: "max", -1, and amounts that 63 bits do not hold.
inline constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// The first word of a file such as memory.max or cpu.cfs_quota_us. Negative amounts other than -1 give nothing.
std::optional<std::int64_t> parse_amount(std::string_view text);
// The value behind `key` in lines such as "usage_usec 123". Negative values give nothing.
std::optional<std::int64_t> stat_value(std::string_view text, std::string_view key);

// The processor time that /proc/stat counts, in ticks: all but idle time and time spent waiting for disks.
std::optional<std::int64_t> busy_ticks(std::string_view stat);

struct MachineMemory {
  std::int64_t total_bytes = 0;
  std::int64_t available_bytes = 0;  // at most the total
};
// From /proc/meminfo.
std::optional<MachineMemory> machine_memory(std::string_view meminfo);

// How long tasks stood still for lack of a resource, in microseconds since the machine started.
struct Pressure {
  std::int64_t some_us = 0;
  std::int64_t full_us = 0;
};
std::optional<Pressure> parse_pressure(std::string_view text);

// The bytes read and written that a group's io.stat counts, on all disks together; nothing where no line has them.
std::optional<std::int64_t> io_bytes(std::string_view io_stat);

// The memory that a group of v1 or v2 holds, from its memory.stat (agent.md 6.1).
std::optional<std::int64_t> group_memory(std::string_view memory_stat);

// The number of a file that has nothing else, such as the speed of an interface; one that 63 bits do not hold is the
// largest. A sign or a word gives nothing.
std::optional<std::int64_t> counter_value(std::string_view text);

// The bytes that each interface has received, from /proc/net/dev, by its name.
std::map<std::string, std::int64_t, std::less<>> received_bytes(std::string_view text);

// The interface of the default route with the smallest metric, from /proc/net/route or /proc/net/ipv6_route. Empty:
// there is none.
std::string default_route_interface(std::string_view routes);
// Whether it can be the name of an interface, and so a part of a path.
bool is_interface_name(std::string_view name);

// The driver that a kubelet's configuration or flags name: a line "cgroupDriver: x", or "--cgroup-driver x" among
// words. Empty: none is named.
std::string named_driver(std::string_view text);
// The file behind --config among the words of a command line; empty: there is none.
std::string config_path(std::string_view command_line);
// The policy in the kubelet's cpu_manager_state; empty: there is none.
std::string cpu_manager_policy(std::string_view text);

}  // namespace colocation
