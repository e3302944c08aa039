// How free addresses and ports are found.
#include "apiserver/kinds/services/service_addresses.h"

#include <algorithm>
#include <set>

#include "api/json/problems.h"
#include "api/meta/resource.h"
#include "api/schema/field_errors.h"
#include "apiserver/kinds/services/service_rules.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;
namespace resources = api::resources;

namespace {

// A random draw finds a free one behind them in a few throws; where nearly all is taken it is looked for in turn, as
// far as the loop can wait.
constexpr int kThrowsMax = 64;
constexpr std::uint64_t kLooksMax = 1 << 15;

// The numbers at the front of a range are for those who state theirs, as far as there are others.
struct Band {
  std::uint64_t first, size, reserved;
};

// A free one of first..first+size-1, by `is_free`.
template <class IsFree>
std::optional<std::uint64_t> find_free(base::Random& random, const Band& band, IsFree is_free) {
  const std::uint64_t open = band.size - band.reserved;
  for (int thrown = 0; thrown < kThrowsMax; ++thrown)
    if (const std::uint64_t one = band.first + band.reserved + random.below(open); is_free(one)) return one;
  for (std::uint64_t i = 0; i < std::min(band.size, kLooksMax); ++i)
    if (const std::uint64_t one = band.first + (band.reserved + i) % band.size; is_free(one)) return one;
  return std::nullopt;
}

std::uint64_t reserved_of(std::uint64_t size, std::uint64_t share, std::uint64_t max) {
  constexpr std::uint64_t kLeast = 16;
  return size <= kLeast ? 0 : std::min({std::max(kLeast, size / share), max, size - 1});
}

bool is_same(const Json& a, const Json& b) {
  return api::name_of(a) == api::name_of(b) && api::namespace_of(a) == api::namespace_of(b);
}

bool is_address_free(const Context& context, const Json& service, const std::string& address) {
  static const api::TextField kAddress{resources::kServices, {"spec", "clusterIP"}};
  const std::vector<Json> holders = context.objects.list_by(kAddress, address, false);
  return std::ranges::all_of(holders, [&](const Json& other) { return is_same(other, service); });
}

void allocate_address(const Context& context, const Json& old_object, Json& object, api::FieldErrors& errors) {
  const api::Ipv4Range& range = context.services.addresses;
  const auto refuse = [&](const Json& stated, std::string_view why) {
    errors.add(
        {"FieldValueInvalid", base::format("Invalid value: {}: {}", api::shown(stated), why), "spec.clusterIPs"});
  };
  if (const Json& given = object["spec"]["clusterIP"]; !given.is_null() && !given.is_string()) return;
  const std::string stated = object["spec"]["clusterIP"].str();
  if (stated == "None") return;
  if (!stated.empty()) {
    if (old_object["spec"]["clusterIP"] == Json(stated)) return;
    const auto address = api::parse_ipv4(stated);
    if (!address) return;  // the rules refuse it
    const auto failed = [&](std::string_view why) {
      refuse(object["spec"]["clusterIPs"], base::format("failed to allocate IP {}: {}", stated, why));
    };
    if (!range.contains(*address) || *address == range.first || *address == range.first + range.size() - 1)
      return failed(base::format("the provided IP ({}) is not in the valid range. The range of valid IPs is {}", stated,
                                 range.text()));
    if (!is_address_free(context, object, stated)) failed("provided IP is already allocated");
    return;
  }
  const std::uint64_t size = range.size() - 2;  // but the address of the network and that of all its members
  const auto found = find_free(
      context.random, {range.first + std::uint64_t{1}, size, reserved_of(size, 16, 256)}, [&](std::uint64_t one) {
        return is_address_free(context, object, api::ipv4_text(static_cast<std::uint32_t>(one)));
      });
  if (!found) return refuse(Json::array(), "failed to allocate a serviceIP: range is full");
  const std::string text = api::ipv4_text(static_cast<std::uint32_t>(*found));
  object.edit("spec").set("clusterIP", text);
  object.edit("spec").set("clusterIPs", Json::array({Json(text)}));
}

std::set<std::int64_t> ports_of_others(const Context& context, const Json& object) {
  static const api::TextField kType{resources::kServices, {"spec", "type"}};
  std::set<std::int64_t> taken;
  for (const char* type : {"NodePort", "LoadBalancer"})
    for (const Json& other : context.objects.list_by(kType, type, false))
      if (!is_same(other, object))
        for (const Json& port : other["spec"]["ports"].items())
          if (const std::int64_t held = port["nodePort"].as_int(); held != 0) taken.insert(held);
  return taken;
}

void allocate_ports(const Context& context, const Json& old_object, Json& object, api::FieldErrors& errors) {
  const ServiceNetwork& network = context.services;
  std::set<std::int64_t> taken = ports_of_others(context, object);
  std::set<std::int64_t> held;
  for (const Json& port : old_object["spec"]["ports"].items()) held.insert(port["nodePort"].as_int());
  std::size_t at = 0;
  for (const Json& port : object["spec"]["ports"].items()) {
    const std::string path = base::format("spec.ports[{}].nodePort", at++);
    const std::int64_t stated = port["nodePort"].as_int();
    if (stated == 0 || held.contains(stated)) continue;
    const auto refuse = [&](std::string_view why) {
      errors.add({"FieldValueInvalid", base::format("Invalid value: {}: {}", stated, why), path});
    };
    if (stated < network.first_port || stated > network.last_port)
      refuse(base::format("provided port is not in the valid range. The range of valid ports is {}-{}",
                          network.first_port, network.last_port));
    else if (taken.contains(stated))
      refuse("provided port is already allocated");
  }
  for (const Json& port : object["spec"]["ports"].items()) taken.insert(port["nodePort"].as_int());
  const auto size = static_cast<std::uint64_t>(network.last_port - network.first_port + 1);
  const Band band{static_cast<std::uint64_t>(network.first_port), size, reserved_of(size, 32, 128)};
  for (std::size_t i = 0; i < object["spec"]["ports"].size(); ++i) {
    if (object["spec"]["ports"][i]["nodePort"].as_int() != 0) continue;
    const auto found = find_free(context.random, band,
                                 [&](std::uint64_t one) { return !taken.contains(static_cast<std::int64_t>(one)); });
    if (!found) {
      errors.add({"FieldValueInvalid", "Invalid value: 0: failed to allocate a nodePort: range is full",
                  base::format("spec.ports[{}].nodePort", i)});
      return;
    }
    taken.insert(static_cast<std::int64_t>(*found));
    object.edit("spec").edit("ports").edit(i).set("nodePort", static_cast<std::int64_t>(*found));
  }
}

}  // namespace

void allocate_for_service(const Context& context, const Json& old_object, Json& object, api::FieldErrors& errors) {
  api::FieldErrors problems;
  check_service(object, problems);
  for (const Json& port : object["spec"]["ports"].items())
    if (!port.is_object()) return;
  const Json& ports = object["spec"]["ports"];
  if (!problems.empty() || !(ports.is_null() || ports.is_array())) return;
  if (needs_cluster_ip(object)) allocate_address(context, old_object, object, errors);
  if (needs_node_ports(object)) allocate_ports(context, old_object, object, errors);
}

}  // namespace apiserver
