// The ConfigMap's settings of the network's discovery (controllers.md 12.1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace controllers::hypernode {

// One way from nodes to larger parts: labels, the highest tier first.
struct TopologyType {
  std::string name;
  std::vector<std::string> node_labels;

  bool operator==(const TopologyType&) const = default;
};

struct UfmConfig {
  bool tls = true;
  std::string host;
  std::uint16_t port = 443;
  std::string path;  // before /ufmRest, without a slash at the end
  bool insecure_skip_verify = false;
  std::string secret_namespace;
  std::string secret_name;

  bool operator==(const UfmConfig&) const = default;
};

// One entry of networkTopologyDiscovery that is enabled.
struct Source {
  std::string name;  // "label" or "ufm"
  base::Duration interval = base::hours(1);
  std::vector<TopologyType> types;  // of label
  UfmConfig ufm;                    // of ufm
  std::string problem;              // why it cannot run; empty: it can

  bool operator==(const Source&) const = default;
};

// The enabled sources in their order; of two entries with one name the last counts. An error means that the text as a
// whole cannot be read; what is wrong with one source is its `problem`.
base::Result<std::vector<Source>> parse_discovery(std::string_view yaml);

}  // namespace controllers::hypernode
