// Which devices exist for resource claims, who has them, and what do claims ask for? (resource.k8s.io)
//
// Claims, classes and slices as they are read; allocations that were decided but not yet written; which devices are
// taken. The search for devices is in dra_allocator.h.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/core/ids.h"
#include "scheduler/model/devices/device_pools.h"
#include "scheduler/model/devices/device_selectors.h"
#include "scheduler/model/devices/taken_devices.h"
#include "scheduler/model/nodes/node_table.h"

namespace scheduler {

struct DeviceClass {
  std::vector<DeviceSelector> selectors;
  api::Json config;  // list of opaque configurations
};

// One way to satisfy a request: the only one, or one of a list ordered by preference.
struct DeviceAlternative {
  std::string name;  // "request" or "request/subrequest"
  std::string device_class;
  std::vector<DeviceSelector> selectors;
  std::int64_t count = 1;
  bool all = false;
  bool admin_access = false;
  Quantities capacity;
  api::Json tolerations;
};

struct DeviceRequest {
  std::string name;
  std::vector<DeviceAlternative> alternatives;
};

// The devices of the named requests (of all, where none is named) agree, or differ, in an attribute.
struct DeviceConstraint {
  std::vector<std::string> requests;
  std::string attribute;
  bool distinct = false;
};

struct ResourceClaim {
  std::string key;  // "ns/name"
  std::string uid;
  std::string owner;  // uid of its controller; empty: none
  bool deleting = false;
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  api::Json config;
  std::optional<Allocation> allocation;
  std::vector<std::string> reserved_for;  // uids of pods
};

// The decision for one claim of a pod that is being placed.
struct PlannedClaim {
  std::string key;
  std::string uid;
  api::Json allocation;  // null: it has one
};

class ResourceClaims {
 public:
  void set_claim(const api::Json& object, Symbols& symbols);
  void set_class(const api::Json& object);
  void set_slice(const api::Json& object, Symbols& symbols);
  void remove_claim(std::string_view key);
  void remove_class(std::string_view name);
  void remove_slice(std::string_view name);

  const ResourceClaim* find_claim(std::string_view key) const;
  const DeviceClass* find_class(std::string_view name) const;
  // The claim's allocation, written or only decided; null when it has none.
  const Allocation* allocation_of(const ResourceClaim& claim) const;

  const DevicePools& pools() const { return pools_; }
  const DeviceSelectors& selectors() const { return selectors_; }
  const TakenDevices& taken() const { return taken_; }

  // A task gets these allocations (by claim key), and uses these claims; until it is withdrawn.
  void promise(TaskId task, std::vector<std::string> claims, std::map<std::string, Allocation> fresh);
  void withdraw(TaskId task);

  // A plan evicts the pod: the devices of claims that only such pods use count as free until it is taken back. `keys`:
  // of the pod's claims.
  void lend(TaskId task, std::string uid, std::vector<std::string> keys);
  void take_back(TaskId task);
  bool are_lent() const { return !lent_.empty(); }
  // For what is placed now: lent devices are taken as long as it lives.
  class LentAreTaken {
   public:
    LentAreTaken(ResourceClaims& claims, bool applies);
    ~LentAreTaken();
    LentAreTaken(const LentAreTaken&) = delete;
    LentAreTaken& operator=(const LentAreTaken&) = delete;

   private:
    void use(bool add);
    ResourceClaims& claims_;
    const bool applies_;
  };

  const std::map<std::string, ResourceClaim, std::less<>>& claims() const { return claims_; }
  const std::map<std::string, DeviceClass, std::less<>>& classes() const { return classes_; }
  const std::map<std::uint32_t, std::vector<std::string>>& claims_of_tasks() const { return claims_of_task_; }

  bool enabled = true;
  bool empty() const { return claims_.empty() && pools_.slices().empty(); }
  // Grows when claims come, go, or are replaced by others of their names.
  std::uint64_t comings_and_goings() const { return comings_and_goings_; }

 private:
  struct Promise {
    Allocation allocation;
    std::set<std::uint32_t> tasks;
  };
  // Whether evicted pods alone use the claim.
  bool is_left(const std::string& key) const;
  void settle_lent(const std::vector<std::string>& keys);
  void take_out(std::string_view key);

  std::map<std::string, ResourceClaim, std::less<>> claims_;
  std::map<std::string, DeviceClass, std::less<>> classes_;
  DevicePools pools_;
  DeviceSelectors selectors_;
  TakenDevices taken_;
  std::map<std::string, Promise, std::less<>> promises_;              // by claim
  std::map<std::uint32_t, std::vector<std::string>> claims_of_task_;  // of placed tasks
  struct Leaver {
    std::string uid;
    std::vector<std::string> claims;
  };
  std::map<std::uint32_t, Leaver> leavers_;  // tasks that a plan evicts
  std::set<std::string> lent_;               // claims
  std::uint64_t comings_and_goings_ = 0;
};

// The decisions for the claims of a pod that is being placed.
std::vector<PlannedClaim> plan_of(const ResourceClaims& claims, TaskId task);
// The allocation as status.allocation of the claim.
api::Json to_json(const Allocation& allocation, const ResourceClaim& claim, const ResourceClaims& claims);

}  // namespace scheduler
