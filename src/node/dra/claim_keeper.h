// Makes the resource claims of this node's pods ready by their drivers, and gives them back when the last pod here that
// uses one has ended. A driver may be away, hang or lie: the pods that need it wait, and nobody else.
//
//   a pod:  prepare() -> its claims are read -> drivers are asked -> there -> release() -> drivers are asked -> gone
//   a claim is written down before its drivers hear of it, and erased after they have given it back
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "client/client.h"
#include "node/dra/claim_plan.h"
#include "node/dra/drivers.h"
#include "node/machine/device_grant.h"
#include "rt/env.h"

namespace node {

// Everything on the loop of `env`.
class ClaimKeeper {
 public:
  struct Options {
    std::string folder;                    // where claims are written down; empty: nowhere
    std::vector<std::string> cdi_folders;  // the last wins
    base::Metrics* metrics = nullptr;      // with metric_rows(); outlives it
  };
  struct Callbacks {
    std::function<void(const std::string& uid)> pod_changed;  // what is asked here may be answered otherwise now
    std::function<void(const std::string& uid, const std::string& message)> release_failed;  // it is tried again
  };
  // `drivers` outlives it; null: there are none.
  ClaimKeeper(rt::Env& env, client::Client& client, DraDrivers* drivers, Options options, Callbacks callbacks);
  ~ClaimKeeper();
  ClaimKeeper(const ClaimKeeper&) = delete;
  ClaimKeeper& operator=(const ClaimKeeper&) = delete;

  // `kept`: read_local_claims() of the folder.
  void start(LocalClaims kept);

  enum class Answer : std::uint8_t { kThere, kWait, kFailed };
  // Before a pod's sandbox. kFailed: `why` is for people, and the next call tries again.
  Answer prepare(const api::Json& pod, std::string& why);
  // Before each start of a container: what it gets by its claims, from the CDI specifications of that moment.
  Answer grant(const api::Json& pod, const api::Json& container, int attempt, DeviceGrant& out, std::string& why);
  // The pod does not run, and will not. Goes on until it is done, also when nobody asks any more.
  void release(const std::string& uid);
  // Whether drivers have something ready for the pod, or are about to.
  bool holds(const std::string& uid) const;
  // The claims of these pods alone stay of those from before the start.
  void keep_only(const std::function<bool(const std::string& uid)>& is_known);
  void driver_came();
  // Facts about the devices of a container change with these; pods that have them are told to be looked at.
  void health_changed_by(const std::string& driver, const std::vector<DeviceNews>& news);
  void health_lost(const std::string& driver);
  // `allocatedResourcesStatus` of a container; an empty list: it has no devices by claims.
  api::Json health_of(const api::Json& pod, const api::Json& container) const;
  // Whether a driver is being asked.
  bool is_busy() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace node
