// From what a source knows to the HyperNodes that should be there: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/hypernode/config.h"

namespace controllers::hypernode {

inline constexpr std::string_view kSourceLabel = "volcano.sh/network-topology-source";

// One HyperNode that a source found. Members are in order and unique.
struct Found {
  std::string name;
  std::int64_t tier = 1;
  std::string tier_name = {};
  std::map<std::string, std::string> labels = {};  // beside that of the source
  std::vector<std::string> members = {};           // nodes for tier 1, else HyperNodes

  bool operator==(const Found&) const = default;
};

// controllers.md 12.4. `taken` are all HyperNodes there are; those of this source keep their names. A new name ends in
// five characters that follow from what it is for, so that a repeated discovery finds the same.
std::vector<Found> discover_by_label(const std::vector<TopologyType>& types, const std::vector<const api::Json*>& nodes,
                                     const std::vector<const api::Json*>& taken);

// controllers.md 12.3: the answer of a UFM server. An error means that it is not a list of ports. Entries without
// usable names are left out and counted in `unusable`.
base::Result<std::vector<Found>> discover_by_ports(std::string_view answer, std::size_t& unusable);

// The HyperNode as it is created.
api::Json to_object(const Found& found, std::string_view source);

}  // namespace controllers::hypernode
