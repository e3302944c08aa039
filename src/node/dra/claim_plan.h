// The next steps for the resource claims of a pod, from what the API says and what is ready here. Pure; errors are in a
// kubelet's words.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "node/dra/local_claims.h"

namespace node {

// A claim that a pod uses.
struct ClaimUse {
  std::string name;        // in the pod's spec; empty: it stands for extended resources
  std::string claim;       // the object's
  bool generated = false;  // for this pod, from a template

  bool operator==(const ClaimUse&) const = default;
};
base::Result<std::vector<ClaimUse>> claims_of(const api::Json& pod);
bool has_claims(const api::Json& pod);

// The claim as this pod would have it here, or why it may not.
base::Result<LocalClaim> claim_for(const api::Json& pod, const ClaimUse& use, const api::Json& claim);

// One call to a driver.
struct DriverCall {
  std::string driver;
  std::vector<ClaimKey> claims;

  bool operator==(const DriverCall&) const = default;
};

struct PreparePlan {
  LocalClaims claims;             // as they are kept before anybody is asked: whatever then fails, it is undone
  std::vector<DriverCall> calls;  // in order of drivers
};
// `wanted`: claim_for() each of the pod's. Every driver must be there, also those that have nothing to do: without it
// something is wrong with this node.
base::Result<PreparePlan> plan_prepare(const std::vector<LocalClaim>& wanted, const LocalClaims& local,
                                       const std::function<bool(const std::string& driver)>& has_driver);

struct UnpreparePlan {
  std::vector<std::string> shared;  // uids of claims that other pods here use as well
  std::vector<std::string> last;    // and of those that nobody else does
  std::vector<DriverCall> calls;    // for the latter
};
UnpreparePlan plan_unprepare(const std::string& pod_uid, const LocalClaims& local);

// The devices of a container's claims, under the name that its status gives them: "claim:NAME", "claim:NAME/REQUEST",
// or an extended resource.
struct ClaimedDevices {
  std::string name;
  std::vector<std::pair<std::string, const PreparedDevice*>> devices;  // with their drivers; of `local`
};
std::vector<ClaimedDevices> devices_by_claims(const api::Json& pod, const api::Json& container,
                                              const LocalClaims& local);
// The CDI devices of a container, each once. An error if a claim of its is not prepared.
base::Result<std::vector<std::string>> cdi_names_of(const api::Json& pod, const api::Json& container,
                                                    const LocalClaims& local);

}  // namespace node
