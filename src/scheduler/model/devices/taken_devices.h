// Which devices have claims, and what do claims consume of shared ones?
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "scheduler/model/devices/device.h"

namespace scheduler {

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

class TakenDevices {
 public:
  // The devices are taken, or given back.
  void use(const Allocation& allocation, bool add);
  // Whether a claim has the device for itself; what claims consume of a shared one.
  bool has(const DeviceName& device) const { return alone_.contains(device); }
  const Quantities* consumed(const DeviceName& device) const;
  const std::set<DeviceName>& all() const { return alone_; }

 private:
  void count(const DeviceName& device, bool add);

  std::set<DeviceName> alone_;
  std::map<DeviceName, int> again_;  // by how many claims more than one
  std::map<DeviceName, std::pair<Quantities, int>> shared_;
};

}  // namespace scheduler
