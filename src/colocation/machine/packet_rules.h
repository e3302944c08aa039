// The packet rules of network QoS (agent.md 9) as one transaction of nf_tables: a table of our own with a chain at the
// ingress of each offline pod's interface. Packets of a pod come in there, whatever bridge or route takes them on, and
// all chains share one limit. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "colocation/machine/netlink.h"

namespace colocation {

struct PacketRules {
  std::vector<std::string> interfaces;  // of offline pods, in order; none: no table
  std::int64_t bytes_per_second = 0;    // of all together

  bool operator==(const PacketRules&) const = default;
};
// "veth1 veth2: 5000 bytes/s", and "none".
std::string packet_rules_text(const PacketRules& rules);

// The kernel counts a second of bytes in 64 bits of nanoseconds: a rate from here on limits nobody.
inline constexpr std::int64_t kPacketRateMax = 18'000'000'000;

// Replaces the table, if there is one, by that of these rules.
NetlinkMessages packet_rules_transaction(const std::string& table, const PacketRules& rules);

// The bytes that the rules have seen and dropped since the table was made.
struct PacketCounts {
  std::int64_t seen_bytes = 0;
  std::int64_t dropped_bytes = 0;
};
NetlinkMessages packet_counts_request(const std::string& table);
// Unset: the table is not there.
std::optional<PacketCounts> packet_counts(const std::string& table, const std::vector<NetlinkAnswer>& answers);

}  // namespace colocation
