// The devices of resource slices, as they are read (resource.k8s.io).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "scheduler/model/core/selector.h"

namespace api::cel {
class Value;
}  // namespace api::cel

namespace scheduler {

using Quantities = std::map<std::string, api::Quantity, std::less<>>;

struct DeviceName {
  std::string driver, pool, device;
  auto operator<=>(const DeviceName&) const = default;
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

// Names of attributes and capacities without a domain belong to the driver's; those of its domain are kept without.
std::string plain_device_name(std::string_view name, std::string_view driver);
Quantities quantities_from(const api::Json& map);
std::vector<NodeTerm> terms_from(const api::Json& selector, Symbols& symbols);
ResourceSlice slice_from(const api::Json& object, Symbols& symbols);

}  // namespace scheduler
