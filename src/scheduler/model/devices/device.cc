// The devices of resource slices, as the API writes them (v1, and the shapes of v1beta1 and v1beta2).
#include "scheduler/model/devices/device.h"

#include <algorithm>

#include "api/cel/expression.h"
#include "api/cel/value.h"

namespace scheduler {
namespace {

using api::Json;
using api::cel::Value;

// Names without a domain belong to the driver's.
std::pair<std::string, std::string> qualified(std::string_view name, const std::string& driver) {
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos) return {driver, std::string(name)};
  return {std::string(name.substr(0, slash)), std::string(name.substr(slash + 1))};
}

Value attribute_value(const Json& attribute) {
  if (const Json* version = attribute.find("version")) {
    auto parsed = api::cel::Semver::parse(version->as_string(), false);
    return parsed ? Value(*std::move(parsed)) : api::cel::fail("invalid semver");
  }
  if (const Json* list = attribute.find("versions")) {
    api::cel::List out;
    for (const Json& one : list->items()) out.push_back(attribute_value(Json::object({{"version", one}})));
    return out;
  }
  for (const auto& member : attribute.members()) return Value::from_json(member.value);
  return {};
}

void add_to(api::cel::Map& domains, const std::string& domain, const std::string& name, Value value) {
  for (auto& [key, inner] : domains.entries) {
    if (*key.get<std::string>() != domain) continue;
    api::cel::Map grown = *inner.get<api::cel::Map>();
    grown.entries.emplace_back(name, std::move(value));
    inner = Value(std::move(grown));
    return;
  }
  api::cel::Map fresh;
  fresh.entries.emplace_back(name, std::move(value));
  domains.entries.emplace_back(domain, Value(std::move(fresh)));
}

CapacityPolicy policy_from(const Json& json) {
  CapacityPolicy out;
  out.usual = api::Quantity::from_json(json["default"]);
  for (const Json& value : json["validValues"].items()) {
    if (const auto amount = api::Quantity::from_json(value)) out.valid.push_back(*amount);
  }
  std::sort(out.valid.begin(), out.valid.end());
  out.min = api::Quantity::from_json(json["validRange"]["min"]);
  out.max = api::Quantity::from_json(json["validRange"]["max"]);
  out.step = api::Quantity::from_json(json["validRange"]["step"]);
  return out;
}

void read_node(const Json& json, Device& out, Symbols& symbols) {
  out.node = json["nodeName"].str();
  out.node_selector = json["nodeSelector"];
  out.node_terms = terms_from(out.node_selector, symbols);
  out.everywhere = json["allNodes"].as_bool();
}

Device device_from(const Json& json, const Json& spec, Symbols& symbols) {
  const Json& body = json["basic"].is_object() ? json["basic"] : json;
  Device out;
  const std::string driver = spec["driver"].str();
  out.name = {driver, spec["pool"]["name"].str(), json["name"].str()};
  out.shared = body["allowMultipleAllocations"].as_bool();
  out.taints = body["taints"];
  read_node(spec["perDeviceNodeSelection"].as_bool() ? body : spec, out, symbols);
  api::cel::Map attributes, capacity;
  attributes.empty_maps_for_missing = capacity.empty_maps_for_missing = true;
  for (const auto& member : body["attributes"].members()) {
    const auto [domain, name] = qualified(member.name(), driver);
    out.attributes.insert_or_assign(plain_device_name(member.name(), driver), member.value);
    add_to(attributes, domain, name, attribute_value(member.value));
  }
  for (const auto& member : body["capacity"].members()) {
    const auto amount = api::Quantity::from_json(member.value.is_object() ? member.value["value"] : member.value);
    if (!amount) continue;
    const auto [domain, name] = qualified(member.name(), driver);
    out.capacity.insert_or_assign(plain_device_name(member.name(), driver),
                                  std::pair{*amount, policy_from(member.value["requestPolicy"])});
    add_to(capacity, domain, name, Value(*amount));
  }
  for (const Json& consumption : body["consumesCounters"].items()) {
    out.counters.emplace_back(consumption["counterSet"].str(), quantities_from(consumption["counters"]));
  }
  api::cel::Map device;
  device.entries = {{"driver", driver},
                    {"allowMultipleAllocations", out.shared},
                    {"attributes", std::move(attributes)},
                    {"capacity", std::move(capacity)}};
  out.value = std::make_shared<const Value>(std::move(device));
  return out;
}

}  // namespace

Quantities quantities_from(const Json& map) {
  Quantities out;
  for (const auto& member : map.members()) {
    const auto amount = api::Quantity::from_json(member.value.is_object() ? member.value["value"] : member.value);
    if (amount) out.insert_or_assign(std::string(member.name()), *amount);
  }
  return out;
}

std::vector<NodeTerm> terms_from(const Json& selector, Symbols& symbols) {
  std::vector<NodeTerm> out;
  for (const Json& term : selector["nodeSelectorTerms"].items()) out.push_back(node_term_from(term, symbols));
  return out;
}

std::string plain_device_name(std::string_view name, std::string_view driver) {
  const bool own = name.size() > driver.size() && name.starts_with(driver) && name[driver.size()] == '/';
  return std::string(own ? name.substr(driver.size() + 1) : name);
}

ResourceSlice slice_from(const Json& object, Symbols& symbols) {
  const Json& spec = object["spec"];
  ResourceSlice out{.driver = spec["driver"].str(),
                    .pool = spec["pool"]["name"].str(),
                    .generation = spec["pool"]["generation"].as_int(),
                    .slices = std::max<std::int64_t>(spec["pool"]["resourceSliceCount"].as_int(1), 1)};
  for (const Json& device : spec["devices"].items()) out.devices.push_back(device_from(device, spec, symbols));
  for (const Json& set : spec["sharedCounters"].items())
    out.counters[set["name"].str()] = quantities_from(set["counters"]);
  return out;
}

}  // namespace scheduler
