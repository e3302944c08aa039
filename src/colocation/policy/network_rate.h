// The rate that the offline pods of a node are held to, all together (agent.md 9.1): the high one, or the low one while
// online pods send more than the watermark. Pure: from counters of pods' interfaces and the configuration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "api/json/json.h"
#include "base/result.h"
#include "base/time.h"
#include "colocation/policy/config.h"

namespace colocation {

// Bytes per second.
struct NetworkRates {
  std::int64_t online_watermark = 0;
  std::int64_t offline_low = 0;
  std::int64_t offline_high = 0;

  bool operator==(const NetworkRates&) const = default;
};
// `base_mbps`, in millions of bits a second, is the whole.
NetworkRates network_rates(const Config& config, std::int64_t base_mbps);

// The interface that the default route of the machine goes over, and its speed where the kernel knows one.
struct Uplink {
  std::string name;  // empty: there is no such route
  std::optional<std::int64_t> mbps;
};
// The base rate of a node: its annotation, else the speed of the uplink. kInvalid: neither says one.
// COMPAT(colocation-network-rate): Volcano knows the annotation alone.
base::Result<std::int64_t> base_network_mbps(const api::Json& node, const Uplink& uplink);

// How many bytes pods have sent since their interfaces were made, by interface.
using SentBytes = std::map<std::string, std::int64_t>;
// The bytes sent between two readings; an interface that is new, or was made anew, has sent nothing yet.
std::int64_t sent_between(const SentBytes& before, const SentBytes& now);

struct RateState {
  bool is_low = false;
  base::Duration calm = {};  // for how long online pods have sent little
  std::int64_t online_rate = 0;

  bool operator==(const RateState&) const = default;
};
// The state after `span`, in which online pods sent this many bytes. The watermark counts at once, so that online pods
// do not wait; the high rate comes back after a second well below it.
RateState next_rate_state(const RateState& state, const NetworkRates& rates, std::int64_t online_bytes,
                          base::Duration span);

// COMPAT(colocation-network-interval): the time between two readings is bounded.
base::Duration network_check_interval(const Config& config);

}  // namespace colocation
