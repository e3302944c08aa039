// The configuration of the node agent (agent.md 3): sections with their defaults, those of all nodes under those of
// some, and the rules that they keep. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"

namespace colocation {

inline constexpr std::string_view kConfigMapName = "volcano-agent-configuration";
inline constexpr std::string_view kConfigKey = "colocation-config";

struct Config {
  bool colocation = false;        // of this node, by its labels
  bool oversubscription = false;  // the same
  bool cpu_qos = false;
  bool cpu_burst = false;
  bool memory_qos = false;
  bool memory_qos_v2 = false;
  bool network_qos = false;
  std::int64_t online_bandwidth_percent = 80;
  std::int64_t offline_low_percent = 10;
  std::int64_t offline_high_percent = 40;
  std::int64_t network_check_interval_ns = 10'000'000;
  bool sells = true;  // overSubscriptionConfig.enable
  std::string types = "cpu,memory";
  std::int64_t cpu_high = 80;
  std::int64_t memory_high = 60;
  std::int64_t cpu_low = 30;
  std::int64_t memory_low = 30;
  bool throttle = false;
  std::int64_t throttle_threshold = 80;
  std::int64_t throttle_jitter = 1;
  std::int64_t throttle_recover = 10;

  bool operator==(const Config&) const = default;
};

// The text of the key where nobody has written one yet. `for_one_machine`: all is on, and processor time, of which
// offline pods only get what is left, is not a reason to evict them.
std::string default_config_text(bool for_one_machine);
// Adds sections that an older text lacks (agent.md 3.2); empty: nothing is missing. kInvalid: it cannot be read, or has
// no globalConfig.
base::Result<std::string> completed_config_text(std::string_view text);

// The configuration of a node with these labels. kInvalid names every field that is wrong: "a", or "[a, b]".
base::Result<Config> config_for(std::string_view text, const api::Json& node_labels);
// For a node without a ConfigMap to read: the defaults, by the node's labels.
Config default_config_for(const api::Json& node_labels);
base::Status check_config(const Config& config);

// Whether the types sell this resource ("cpu" or "memory").
bool sells_type(std::string_view types, std::string_view resource);

}  // namespace colocation
