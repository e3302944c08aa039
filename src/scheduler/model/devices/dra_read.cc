// Resource claims, device classes and resource slices, as the API writes them (v1, and the shapes of v1beta1 and
// v1beta2).
#include <algorithm>

#include "api/cel/expression.h"
#include "api/cel/patterns.h"
#include "api/meta/resource.h"
#include "scheduler/model/devices/dra.h"

namespace scheduler {
namespace {

using api::Json;
using api::cel::Patterns;
using api::cel::Value;

constexpr std::size_t kRequestsMax = 32;  // as the API has it; more are not looked at

// A selector for a claim or class whose selectors take too long to read: it is given no device, whichever of its
// selectors were read.
DeviceSelector unreadable() {
  return {.id = 0, .program = nullptr, .problem = "the regular expressions of the selectors are too large together"};
}

void make_unreadable(ResourceClaim& claim) {
  for (DeviceRequest& request : claim.requests) {
    for (DeviceWish& wish : request.wishes) wish.selectors = {unreadable()};
  }
}

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

Allocation allocation_from(const Json& json, Symbols& symbols) {
  Allocation out;
  for (const Json& one : json["devices"]["results"].items()) {
    out.grants.push_back({.device = {one["driver"].str(), one["pool"].str(), one["device"].str()},
                          .request = one["request"].str(),
                          .admin_access = one["adminAccess"].as_bool(),
                          .share_id = one["shareID"].str(),
                          .consumed = quantities_from(one["consumedCapacity"]),
                          .tolerations = one["tolerations"]});
  }
  out.node_selector = json["nodeSelector"];
  out.node_terms = terms_from(out.node_selector, symbols);
  return out;
}

}  // namespace

std::string plain_device_name(std::string_view name, std::string_view driver) {
  const bool own = name.size() > driver.size() && name.starts_with(driver) && name[driver.size()] == '/';
  return std::string(own ? name.substr(driver.size() + 1) : name);
}

DeviceSelector ResourceClaims::selector_for(const Json& object, Patterns& patterns) {
  const std::string text = object["cel"]["expression"].str();
  if (auto known = selectors_.find(text); known != selectors_.end()) return known->second;
  if (next_selector_ != 0 && next_selector_ % kSelectorsKept == 0) drop_unused_selectors();
  DeviceSelector out{.id = next_selector_++, .program = nullptr, .problem = {}};
  auto compiled = api::cel::Expression::compile(text, {"device"}, &patterns);
  // Not kept: in another claim the same text may be fine.
  if (patterns.is_full()) return unreadable();
  if (compiled.ok()) {
    out.program = std::make_shared<const api::cel::Expression>(*std::move(compiled));
  } else {
    out.problem = compiled.error().message;
    out.program = {std::make_shared<char>(), nullptr};  // points to nothing, and is counted all the same
  }
  return selectors_[text] = out;
}

void ResourceClaims::drop_unused_selectors() {
  std::set<std::uint32_t> gone;
  for (auto at = selectors_.begin(); at != selectors_.end();) {
    const bool is_used = at->second.program.use_count() > 1;
    if (!is_used) gone.insert(at->second.id);
    at = is_used ? std::next(at) : selectors_.erase(at);
  }
  std::erase_if(verdicts_, [&](const auto& verdict) { return gone.contains(verdict.first.first); });
}

std::vector<DeviceSelector> ResourceClaims::selectors_from(const Json& list, Patterns& patterns) {
  std::vector<DeviceSelector> out;
  for (const Json& item : list.items()) {
    if (patterns.is_full()) break;
    out.push_back(selector_for(item, patterns));
  }
  return out;
}

DeviceWish ResourceClaims::wish_from(const Json& json, std::string name, Patterns& patterns) {
  DeviceWish out{.name = std::move(name),
                 .device_class = json["deviceClassName"].str(),
                 .selectors = selectors_from(json["selectors"], patterns)};
  out.all = json["allocationMode"].as_string() == "All";
  out.count = std::max<std::int64_t>(json["count"].as_int(1), 1);
  out.admin_access = json["adminAccess"].as_bool();
  out.capacity = quantities_from(json["capacity"]["requests"]);
  out.tolerations = json["tolerations"];
  return out;
}

void ResourceClaims::set_claim(const Json& object, Symbols& symbols) {
  ResourceClaim out;
  out.key = api::key_of(object);
  out.uid = std::string(api::uid_of(object));
  out.owner = api::controller_of(object)["uid"].str();
  out.deleting = api::is_deleting(object);
  const Json& devices = object["spec"]["devices"];
  Patterns patterns;
  for (const Json& json : devices["requests"].items()) {
    if (out.requests.size() >= kRequestsMax) break;
    DeviceRequest request{.name = json["name"].str(), .wishes = {}};
    if (json["firstAvailable"].empty()) {
      request.wishes.push_back(wish_from(json["exactly"].is_object() ? json["exactly"] : json, request.name, patterns));
    }
    for (const Json& sub : json["firstAvailable"].items()) {
      request.wishes.push_back(wish_from(sub, request.name + "/" + sub["name"].str(), patterns));
    }
    out.requests.push_back(std::move(request));
  }
  if (patterns.is_full()) {
    make_unreadable(out);
    drop_unused_selectors();  // or as many more of them would be read each time the claim comes
  }
  for (const Json& json : devices["constraints"].items()) {
    DeviceConstraint constraint;
    for (const Json& name : json["requests"].items()) constraint.requests.push_back(name.str());
    constraint.distinct = json.has("distinctAttribute");
    constraint.attribute = constraint.distinct ? json["distinctAttribute"].str() : json["matchAttribute"].str();
    out.constraints.push_back(std::move(constraint));
  }
  out.config = devices["config"];
  if (object["status"]["allocation"].is_object())
    out.allocation = allocation_from(object["status"]["allocation"], symbols);
  for (const Json& consumer : object["status"]["reservedFor"].items())
    out.reserved_for.push_back(consumer["uid"].str());
  const ResourceClaim* known = find_claim(out.key);
  if (known == nullptr || known->uid != out.uid) ++comings_and_goings_;
  const bool freed = known != nullptr && known->allocation && !out.allocation;
  take_out(out.key);
  if (freed) promises_.erase(out.key);  // also those of pods that are done and still there
  if (const ResourceClaim& kept = claims_.emplace(out.key, std::move(out)).first->second;
      const Allocation* has = allocation_of(kept))
    use(*has, true);
}

void ResourceClaims::set_class(const Json& object) {
  const Json& spec = object["spec"];
  Patterns patterns;
  DeviceClass out{selectors_from(spec["selectors"], patterns), spec["config"]};
  if (patterns.is_full()) {
    out.selectors = {unreadable()};
    drop_unused_selectors();
  }
  classes_.insert_or_assign(std::string(api::name_of(object)), std::move(out));
  changed();
}

void ResourceClaims::set_slice(const Json& object, Symbols& symbols) {
  const Json& spec = object["spec"];
  ResourceSlice out{.driver = spec["driver"].str(),
                    .pool = spec["pool"]["name"].str(),
                    .generation = spec["pool"]["generation"].as_int(),
                    .slices = std::max<std::int64_t>(spec["pool"]["resourceSliceCount"].as_int(1), 1)};
  for (const Json& device : spec["devices"].items()) out.devices.push_back(device_from(device, spec, symbols));
  for (const Json& set : spec["sharedCounters"].items())
    out.counters[set["name"].str()] = quantities_from(set["counters"]);
  slices_.insert_or_assign(std::string(api::name_of(object)), std::move(out));
  rebuild_devices();
}

}  // namespace scheduler
