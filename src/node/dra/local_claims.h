// Which resource claims are made ready on this node, by which drivers and for which pods: values, and their files
// DATA/claims/UID.json, which outlive the agent.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/dra/dra_messages.h"

namespace node {

struct LocalClaim {
  ClaimKey key;
  std::set<std::string> pods;                                  // their uids
  std::string allocation;                                      // the devices, as the claim names them
  std::map<std::string, std::vector<PreparedDevice>> drivers;  // by name, those of the allocation
  bool prepared = false;                                       // each driver has said so
  // And it said so to this agent: after a start drivers are asked once more, because the machine may have forgotten.
  bool confirmed = false;

  bool operator==(const LocalClaim&) const = default;
};
using LocalClaims = std::map<std::string, LocalClaim>;  // by the claim's uid

// All of them block. An empty folder: nothing is kept.
base::Status write_local_claim(const std::string& folder, const LocalClaim& claim);
void erase_local_claim(const std::string& folder, const std::string& uid);
// A file that cannot be read is left out, and logged.
LocalClaims read_local_claims(const std::string& folder);

}  // namespace node
