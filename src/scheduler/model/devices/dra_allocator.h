// Which devices of a node satisfy the claims of a pod?
//
// A search with backtracking over requests, their alternatives, and devices in their stated order: the first solution
// counts. Its work is bounded; past the bound the node counts as unfit.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/devices/dra.h"
#include "scheduler/model/nodes/node_table.h"

namespace scheduler {

// The cost limit of one search for selectors that were not asked about a device before; a usual one costs 10 to 50.
inline constexpr std::uint64_t kSelectorsCostMax = 2'000'000;

class DeviceSearch {
 public:
  // `steps_max` is for each run, `selectors_cost_max` for all of them: there is one on each node.
  DeviceSearch(const ResourceClaims& claims, const NodeTable& nodes, const Symbols& symbols, std::uint64_t steps_max,
               std::uint64_t selectors_cost_max = kSelectorsCostMax)
      : claims_(claims),
        nodes_(nodes),
        symbols_(symbols),
        steps_max_(steps_max),
        selectors_cost_left_(selectors_cost_max) {}

  // The allocation of each claim on the node, by key; nothing when they do not all get what they ask for.
  std::optional<std::map<std::string, Allocation>> run(const std::vector<const ResourceClaim*>& wanted, NodeId node);
  // Why the last run found nothing, where that is more than a lack of devices.
  const std::string& problem() const { return problem_; }
  // How far down its lists of alternatives the last run had to go: 0 where every first choice was possible.
  std::int64_t preference_lost() const { return lost_; }

 private:
  struct Choice {
    const ResourceClaim* claim;
    const DeviceAlternative* alternative;
    const Device* device;
    DeviceGrant grant;
  };

  bool reaches(const Device& device, const NodeRow& row) const;
  std::string pool_problem(const NodeRow& row) const;
  bool may_suffice();
  bool request(std::size_t claim, std::size_t request);
  bool alternative(std::size_t claim, std::size_t request, const DeviceAlternative& alternative, std::int64_t rank);
  bool devices(std::size_t claim, std::size_t request, const DeviceAlternative& alternative, std::size_t from,
               std::int64_t left);
  bool take(const ResourceClaim& claim, const DeviceAlternative& alternative, const Device& device);
  bool is_suitable(const ResourceClaim& claim, const DeviceAlternative& alternative, const Device& device);
  bool is_in_use(const ResourceClaim& claim, const DeviceAlternative& alternative, const Device& device) const;
  bool satisfies_constraints(const ResourceClaim& claim, const DeviceAlternative& alternative,
                             const Device& device) const;
  bool has_counters(const Device& device) const;
  std::optional<Quantities> consumption(const DeviceAlternative& alternative, const Device& device) const;
  Allocation result_for(const ResourceClaim& claim) const;

  const ResourceClaims& claims_;
  const NodeTable& nodes_;
  const Symbols& symbols_;
  const std::uint64_t steps_max_;
  std::uint64_t steps_ = 0;
  std::uint64_t selectors_cost_left_;
  NodeId node_;
  std::vector<const ResourceClaim*> wanted_;
  std::vector<const Device*> reachable_;
  std::vector<Choice> chosen_;
  std::string problem_;
  std::int64_t lost_ = 0;
};

}  // namespace scheduler
