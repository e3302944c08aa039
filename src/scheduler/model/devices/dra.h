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
#include "scheduler/model/core/selector.h"
#include "scheduler/model/nodes/node_table.h"

namespace api::cel {
class Expression;
class Patterns;
class Value;
}  // namespace api::cel

namespace scheduler {

using Quantities = std::map<std::string, api::Quantity, std::less<>>;

// Texts of selectors are users': each time so many new ones have come, those that nothing has any more go.
inline constexpr std::uint32_t kSelectorsKept = 4096;

struct DeviceSelector {
  std::uint32_t id = 0;                                 // equal texts, equal ids
  std::shared_ptr<const api::cel::Expression> program;  // null: the text cannot be read; its count tells who has it
  std::string problem;
};

struct DeviceClass {
  std::vector<DeviceSelector> selectors;
  api::Json config;  // list of opaque configurations
};

// One way to satisfy a request: the only one, or one of a list ordered by preference.
struct DeviceWish {
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
  std::vector<DeviceWish> wishes;
};

// The devices of the named requests (of all, where none is named) agree, or differ, in an attribute.
struct DeviceConstraint {
  std::vector<std::string> requests;
  std::string attribute;
  bool distinct = false;
};

struct DeviceName {
  std::string driver, pool, device;
  auto operator<=>(const DeviceName&) const = default;
};

// A device given to a claim.
struct DeviceGrant {
  DeviceName device;
  std::string request;
  bool admin_access = false;
  std::string share_id;  // of a device that several claims share
  Quantities consumed;   // of a shared device
  api::Json tolerations;
};

struct Allocation {
  std::vector<DeviceGrant> grants;
  api::Json node_selector;  // null: reachable from every node
  std::vector<NodeTerm> node_terms;
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

struct CapacityPolicy {
  std::optional<api::Quantity> usual;  // when nothing is asked for
  std::vector<api::Quantity> valid;
  std::optional<api::Quantity> min, max, step;
};

struct Device {
  DeviceName name;
  std::shared_ptr<const api::cel::Value> value;              // `device` in selectors; never null
  std::map<std::string, api::Json, std::less<>> attributes;  // the typed values, by plain_device_name()
  std::map<std::string, std::pair<api::Quantity, CapacityPolicy>, std::less<>> capacity;
  bool shared = false;  // allowMultipleAllocations
  api::Json taints;
  std::vector<std::pair<std::string, Quantities>> counters;  // what it consumes of counter sets
  // The nodes that can reach it: a node, a selector, or everywhere.
  std::string node;
  api::Json node_selector;
  std::vector<NodeTerm> node_terms;
  bool everywhere = false;
};

struct ResourceSlice {
  std::string driver, pool;
  std::int64_t generation = 0;
  std::int64_t slices = 1;  // of the pool
  std::vector<Device> devices;
  std::map<std::string, Quantities, std::less<>> counters;
};

// A pool whose devices are not given: some of its slices are missing, or its driver made a mistake.
struct UnreadyPool {
  std::string name;  // with the driver's before it
  bool names_device_twice = false;
  std::vector<const Device*> devices = {};
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

  // Devices by driver, pool, slice and place in it; of complete pools only.
  const std::vector<const Device*>& devices() const { return devices_; }
  const std::vector<UnreadyPool>& unready_pools() const { return unready_pools_; }
  const std::map<std::string, Quantities, std::less<>>* counters_of(const DeviceName& device) const;
  // Whether a claim has the device for itself; what claims consume of a shared one.
  bool is_taken(const DeviceName& device) const { return taken_.contains(device); }
  const Quantities* consumed(const DeviceName& device) const;
  const std::set<DeviceName>& taken() const { return taken_; }
  // 1: chosen, 0: not, -1: the selector failed with `problem`; nothing where it would take more than `cost_left`.
  // Remembered per selector and device: what is known already costs nothing.
  std::optional<int> selects(const DeviceSelector& selector, const Device& device, std::uint64_t& cost_left,
                             std::string& problem) const;

  // A task gets these allocations (by claim key), and uses these claims; until it is withdrawn.
  void promise(TaskId task, std::vector<std::string> claims, std::map<std::string, Allocation> fresh);
  void withdraw(TaskId task);
  std::vector<PlannedClaim> plan_of(TaskId task) const;

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
  const std::map<std::string, ResourceSlice, std::less<>>& slices() const { return slices_; }
  const std::map<std::string, DeviceSelector, std::less<>>& selectors() const { return selectors_; }  // by text
  const std::map<std::uint32_t, std::vector<std::string>>& claims_of_tasks() const { return claims_of_task_; }

  bool enabled = true;
  bool empty() const { return claims_.empty() && slices_.empty(); }
  std::uint64_t generation() const { return generation_; }
  // Grows when claims come, go, or are replaced by others of their names.
  std::uint64_t comings_and_goings() const { return comings_and_goings_; }

 private:
  struct Promise {
    Allocation allocation;
    std::set<std::uint32_t> tasks;
  };
  // `patterns`: of all selectors of the claim or class.
  DeviceSelector selector_for(const api::Json& object, api::cel::Patterns& patterns);
  void drop_unused_selectors();
  std::vector<DeviceSelector> selectors_from(const api::Json& list, api::cel::Patterns& patterns);
  DeviceWish wish_from(const api::Json& json, std::string name, api::cel::Patterns& patterns);
  void use(const Allocation& allocation, bool add);
  void count_taken(const DeviceName& device, bool add);
  void rebuild_devices();
  void changed() { ++generation_; }
  // Whether evicted pods alone use the claim.
  bool is_left(const std::string& key) const;
  void settle_lent(const std::vector<std::string>& keys);
  void take_out(std::string_view key);

  std::uint32_t next_selector_ = 0;
  std::map<std::string, ResourceClaim, std::less<>> claims_;
  std::map<std::string, DeviceClass, std::less<>> classes_;
  std::map<std::string, ResourceSlice, std::less<>> slices_;
  std::map<std::string, DeviceSelector, std::less<>> selectors_;  // by text
  std::vector<const Device*> devices_;
  std::vector<UnreadyPool> unready_pools_;
  std::map<std::pair<std::string, std::string>, std::map<std::string, Quantities, std::less<>>> pool_counters_;
  std::map<std::string, Promise, std::less<>> promises_;              // by claim
  std::map<std::uint32_t, std::vector<std::string>> claims_of_task_;  // of placed tasks
  struct Leaver {
    std::string uid;
    std::vector<std::string> claims;
  };
  std::map<std::uint32_t, Leaver> leavers_;  // tasks that a plan evicts
  std::set<std::string> lent_;               // claims
  std::set<DeviceName> taken_;
  std::map<DeviceName, int> taken_again_;  // by how many claims more than one
  std::map<DeviceName, std::pair<Quantities, int>> shared_;
  mutable std::map<std::pair<std::uint32_t, const Device*>, std::pair<int, std::string>> verdicts_;
  std::uint64_t generation_ = 1;
  std::uint64_t comings_and_goings_ = 0;
};

// Names of attributes and capacities without a domain belong to the driver's; those of its domain are kept without.
std::string plain_device_name(std::string_view name, std::string_view driver);

// The allocation as status.allocation of the claim.
api::Json to_json(const Allocation& allocation, const ResourceClaim& claim, const ResourceClaims& claims);

}  // namespace scheduler
