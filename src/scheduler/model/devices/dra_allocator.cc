// Which devices of a node satisfy the claims of a pod?
#include "scheduler/model/devices/dra_allocator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;

constexpr std::size_t kDevicesMax = 32;  // of one claim, as the API has it
constexpr std::size_t kClaimsMax = 64;   // of one pod; the search is as deep as all their devices together

bool names_request(const std::vector<std::string>& names, const std::string& alternative) {
  if (names.empty()) return true;
  const std::string request = alternative.substr(0, alternative.find('/'));
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == alternative || name == request; });
}

bool is_tolerated(const Json& taint, const Json& tolerations) {
  return std::any_of(tolerations.items().begin(), tolerations.items().end(), [&](const Json& t) {
    if (!t["effect"].as_string().empty() && t["effect"] != taint["effect"]) return false;
    const std::string_view key = t["key"].as_string();
    if (!key.empty() && key != taint["key"].as_string()) return false;
    const bool exists = t["operator"].as_string() == "Exists";
    return exists || (!key.empty() && t["value"].as_string() == taint["value"].as_string());
  });
}

bool is_untainted(const Device& device, const Json& tolerations) {
  return std::all_of(device.taints.items().begin(), device.taints.items().end(), [&](const Json& taint) {
    const std::string_view effect = taint["effect"].as_string();
    return (effect != "NoSchedule" && effect != "NoExecute") || is_tolerated(taint, tolerations);
  });
}

// An id that is the same each time the same claim gets the same share of a device, its first or a later one, and
// another one for every other claim.
std::string share_id_for(const ResourceClaim& claim, const DeviceName& device, std::ptrdiff_t shares_before) {
  std::string text = claim.uid + "\n" + claim.key + "\n" + device.driver + "\n" + device.pool + "\n" + device.device;
  if (shares_before > 0) text += "\n" + std::to_string(shares_before);
  std::uint64_t a = 0xcbf29ce484222325ull, b = 0x84222325cbf29ce4ull;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    b = (b + static_cast<unsigned char>(c)) * 0x9e3779b97f4a7c15ull;
    b ^= b >> 31;
  }
  return base::format("{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}", a >> 32, a >> 16 & 0xffff, a & 0xfff, b >> 52,
                      b & 0xffffffffffffull);
}

// The amount that a request takes of a shared capacity, rounded up as its policy says; nothing when it has no such
// amount.
std::optional<api::Quantity> by_policy(const std::optional<api::Quantity>& asked, const api::Quantity& whole,
                                       const CapacityPolicy& policy) {
  if (!asked) return policy.usual ? *policy.usual : whole;
  if (!policy.valid.empty()) {
    auto at = std::lower_bound(policy.valid.begin(), policy.valid.end(), *asked);
    return at == policy.valid.end() ? std::nullopt : std::optional(*at);
  }
  if (!policy.min) return asked;
  if (policy.min->sign() < 0) return std::nullopt;  // Kubernetes refuses such a policy
  api::Quantity out = std::max(*asked, *policy.min);
  if (policy.step && policy.step->sign() > 0) {
    const double steps = (out - *policy.min).as_double() / policy.step->as_double();
    if (steps > 1e15) return std::nullopt;
    auto whole_steps = static_cast<std::int64_t>(steps);
    // The division is exact to a step; sums stop at the largest quantity.
    for (int i = 0; i < 2 && *policy.min + policy.step->times(whole_steps) < out; ++i) ++whole_steps;
    const api::Quantity rounded = *policy.min + policy.step->times(whole_steps);
    if (rounded < out) return std::nullopt;
    out = rounded;
  }
  if (policy.max && out > *policy.max) return std::nullopt;
  return out;
}

}  // namespace

std::optional<std::map<std::string, Allocation>> DeviceSearch::run(const std::vector<const ResourceClaim*>& wanted,
                                                                   NodeId node) {
  node_ = node;
  wanted_ = wanted;
  chosen_.clear();
  problem_.clear();
  steps_ = 0;
  lost_ = 0;
  reachable_.clear();
  if (wanted.size() > kClaimsMax) {
    problem_ = "the pod has too many resource claims";
    return std::nullopt;
  }
  const NodeRow& row = nodes_[node];
  for (const Device* device : claims_.pools().devices())
    if (reaches(*device, row)) reachable_.push_back(device);
  problem_ = pool_problem(row);
  if (!problem_.empty()) return std::nullopt;
  if (!may_suffice() || !request(0, 0)) return std::nullopt;
  std::map<std::string, Allocation> out;
  for (const ResourceClaim* claim : wanted_) out.emplace(claim->key, result_for(*claim));
  return out;
}

bool DeviceSearch::reaches(const Device& device, const NodeRow& row) const {
  if (device.everywhere || device.node == row.name) return true;
  return std::any_of(device.node_terms.begin(), device.node_terms.end(), [&](const NodeTerm& term) {
    if (term.is_empty()) return false;
    const bool labels = std::all_of(term.expressions.begin(), term.expressions.end(),
                                    [&](const Requirement& r) { return r.matches(row.labels, symbols_); });
    return labels && std::all_of(term.fields.begin(), term.fields.end(), [&](const Requirement& r) {
             const Symbol name = symbols_.find(row.name);
             const bool listed = name.is_set() && std::binary_search(r.values.begin(), r.values.end(), name);
             return r.op == Requirement::Op::kIn ? listed : r.op == Requirement::Op::kNotIn && !listed;
           });
  });
}

// "All" devices of a node are known once all slices of its pools are there.
std::string DeviceSearch::pool_problem(const NodeRow& row) const {
  for (const ResourceClaim* claim : wanted_) {
    for (const auto& request : claim->requests) {
      for (const DeviceAlternative& alternative : request.alternatives) {
        if (!alternative.all) continue;
        for (const UnreadyPool& pool : claims_.pools().unready()) {
          const auto is_here = [&](const Device* device) { return reaches(*device, row); };
          if (std::any_of(pool.devices.begin(), pool.devices.end(), is_here))
            return base::format("claim {}, request {}: asks for all devices, but resource pool {} is currently {}",
                                claim->key, alternative.name, pool.name,
                                pool.names_device_twice ? "invalid" : "being updated");
        }
      }
    }
  }
  return {};
}

// Whether there are as many devices as are asked for, whoever gets which. One too few would otherwise be found out by
// trying all orders of the others.
bool DeviceSearch::may_suffice() {
  std::int64_t asked = 0;
  std::vector<std::pair<const ResourceClaim*, const DeviceAlternative*>> alternatives;
  for (const ResourceClaim* claim : wanted_) {
    for (const auto& request : claim->requests) {
      std::int64_t least = std::numeric_limits<std::int64_t>::max();
      for (const DeviceAlternative& alternative : request.alternatives) {
        if (alternative.all || alternative.admin_access) return true;
        least = std::min(least, alternative.count);
        alternatives.emplace_back(claim, &alternative);
      }
      if (!request.alternatives.empty()) asked += std::min<std::int64_t>(least, kDevicesMax + 1);
    }
  }
  std::int64_t there = 0;
  for (const Device* device : reachable_) {
    if (device->shared) return true;  // by more than one
    if (claims_.taken().has(device->name)) continue;
    const bool is_suitable_for_some = std::any_of(alternatives.begin(), alternatives.end(), [&](const auto& one) {
      return is_suitable(*one.first, *one.second, *device);
    });
    if (!std::exchange(problem_, {}).empty()) return true;  // the search says which
    if (is_suitable_for_some) ++there;
  }
  return asked <= there;
}

bool DeviceSearch::request(std::size_t claim, std::size_t request) {
  if (claim == wanted_.size()) return true;
  if (request == wanted_[claim]->requests.size()) return this->request(claim + 1, 0);
  const std::vector<DeviceAlternative>& alternatives = wanted_[claim]->requests[request].alternatives;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (alternative(claim, request, alternatives[i], static_cast<std::int64_t>(i))) return true;
    if (!problem_.empty()) return false;
  }
  return false;
}

bool DeviceSearch::alternative(std::size_t claim, std::size_t request, const DeviceAlternative& alternative,
                               std::int64_t rank) {
  const std::size_t before = chosen_.size();
  lost_ += rank;
  bool found = false;
  if (alternative.all) {
    std::size_t count = 0;
    found = true;
    for (const Device* device : reachable_) {
      if (!found || !problem_.empty()) break;
      if (!is_suitable(*wanted_[claim], alternative, *device)) continue;
      if (device->shared && !alternative.admin_access && !consumption(alternative, *device))
        continue;  // not one of "all"
      found = ++count <= kDevicesMax && take(*wanted_[claim], alternative, *device);
    }
    found = found && count > 0 && problem_.empty() && this->request(claim, request + 1);
  } else if (static_cast<std::size_t>(alternative.count) <= kDevicesMax) {
    found = devices(claim, request, alternative, 0, alternative.count);
  }
  if (found) return true;
  chosen_.resize(before);
  lost_ -= rank;
  return false;
}

bool DeviceSearch::devices(std::size_t claim, std::size_t request, const DeviceAlternative& alternative,
                           std::size_t from, std::int64_t left) {
  if (left == 0) return this->request(claim, request + 1);
  for (std::size_t i = from; i < reachable_.size(); ++i) {
    if (++steps_ > steps_max_) problem_ = "the search for devices took too long";
    if (!problem_.empty()) return false;
    // A selector is not asked about a device that somebody has: it may fail on one of another make.
    if (is_in_use(*wanted_[claim], alternative, *reachable_[i])) continue;
    if (!is_suitable(*wanted_[claim], alternative, *reachable_[i])) continue;
    const std::size_t before = chosen_.size();
    if (!take(*wanted_[claim], alternative, *reachable_[i])) continue;
    if (devices(claim, request, alternative, i + 1, left - 1)) return true;
    chosen_.resize(before);
  }
  return false;
}

// Whether the class and the request select the device, whoever has it. Kubernetes names the class or the claim where a
// selector fails.
bool DeviceSearch::is_suitable(const ResourceClaim& claim, const DeviceAlternative& alternative, const Device& device) {
  const DeviceClass* its = claims_.find_class(alternative.device_class);
  if (its == nullptr) return false;
  const auto selected = [&](const std::vector<DeviceSelector>& selectors, std::string_view kind,
                            std::string_view name) {
    std::string why;
    for (std::size_t i = 0; i < selectors.size(); ++i) {
      const std::optional<int> verdict = claims_.selectors().selects(selectors[i], device, selectors_cost_left_, why);
      if (!verdict) {
        problem_ = "the search for devices took too long: its selectors cost too much";
        return false;
      }
      if (*verdict < 0)
        problem_ = base::format("{} {}: selector #{}: CEL {} error: {}", kind, name, i,
                                selectors[i].program ? "runtime" : "compile", why);
      if (*verdict <= 0) return false;
    }
    return true;
  };
  if (!selected(its->selectors, "class", alternative.device_class) ||
      !selected(alternative.selectors, "claim", claim.key))
    return false;
  if (device.shared) return true;
  return std::all_of(alternative.capacity.begin(), alternative.capacity.end(), [&](const auto& asked) {
    auto offered = device.capacity.find(plain_device_name(asked.first, device.name.driver));
    return offered != device.capacity.end() && asked.second <= offered->second.first;
  });
}

// By another claim or request, where this one cannot share it. A claim takes a device once, but shares of one for each
// of its requests: distinctAttribute says where that is not wanted.
bool DeviceSearch::is_in_use(const ResourceClaim& claim, const DeviceAlternative& alternative,
                             const Device& device) const {
  const auto chosen = [&](const ResourceClaim* by) {
    return std::any_of(chosen_.begin(), chosen_.end(),
                       [&](const Choice& c) { return c.device == &device && (by == nullptr || c.claim == by); });
  };
  if (alternative.admin_access) return chosen(&claim);
  return claims_.taken().has(device.name) || (!device.shared && chosen(nullptr));
}

bool DeviceSearch::take(const ResourceClaim& claim, const DeviceAlternative& alternative, const Device& device) {
  if (!is_untainted(device, alternative.tolerations)) return false;
  DeviceGrant grant{.device = device.name,
                    .request = alternative.name,
                    .admin_access = alternative.admin_access,
                    .share_id = {},
                    .consumed = {},
                    .tolerations = alternative.tolerations};
  if (is_in_use(claim, alternative, device)) return false;
  if (!alternative.admin_access) {
    if (device.shared) {
      const auto before = std::count_if(chosen_.begin(), chosen_.end(),
                                        [&](const Choice& c) { return c.device == &device && c.claim == &claim; });
      auto consumed = consumption(alternative, device);
      if (!consumed) return false;
      grant.consumed = *std::move(consumed);
      grant.share_id = share_id_for(claim, device.name, before);
    }
    if (!has_counters(device)) return false;
  }
  if (!satisfies_constraints(claim, alternative, device)) return false;
  std::size_t of_claim = 0;
  for (const Choice& choice : chosen_) of_claim += choice.claim == &claim ? 1 : 0;
  if (of_claim >= kDevicesMax) return false;
  chosen_.push_back({&claim, &alternative, &device, std::move(grant)});
  return true;
}

std::optional<Quantities> DeviceSearch::consumption(const DeviceAlternative& alternative, const Device& device) const {
  for (const auto& [name, amount] : alternative.capacity) {
    if (!device.capacity.contains(plain_device_name(name, device.name.driver))) return std::nullopt;
  }
  Quantities out;
  const Quantities* others = claims_.taken().consumed(device.name);
  for (const auto& [name, offer] : device.capacity) {
    std::optional<api::Quantity> asked;
    for (const auto& [wanted, amount] : alternative.capacity) {
      if (plain_device_name(wanted, device.name.driver) == name) asked = amount;
    }
    const auto amount = by_policy(asked, offer.first, offer.second);
    if (!amount) return std::nullopt;
    api::Quantity sum = *amount;
    if (others != nullptr) {
      if (auto used = others->find(name); used != others->end()) sum += used->second;
    }
    for (const Choice& choice : chosen_) {
      auto used = choice.grant.consumed.find(name);
      if (choice.device == &device && used != choice.grant.consumed.end()) sum += used->second;
    }
    if (sum > offer.first) return std::nullopt;
    out.insert_or_assign(name, *amount);
  }
  return out;
}

bool DeviceSearch::has_counters(const Device& device) const {
  if (device.counters.empty()) return true;
  const auto* sets = claims_.pools().counters_of(device.name);
  if (sets == nullptr) return false;
  const auto is_used = [&](const Device& other) {
    if (claims_.taken().has(other.name) || claims_.taken().consumed(other.name) != nullptr) return true;
    return std::any_of(chosen_.begin(), chosen_.end(),
                       [&](const Choice& c) { return c.device == &other && !c.grant.admin_access; });
  };
  if (is_used(device)) return true;  // a shared device draws its counters once
  for (const auto& [set, wanted] : device.counters) {
    auto offered = sets->find(set);
    if (offered == sets->end()) return false;
    Quantities left = offered->second;
    for (const Device* other : claims_.pools().devices()) {
      if (other->name.driver != device.name.driver || other->name.pool != device.name.pool || other->counters.empty() ||
          !is_used(*other))
        continue;
      for (const auto& [other_set, amounts] : other->counters) {
        if (other_set != set) continue;
        for (const auto& [name, amount] : amounts) left[name] -= amount;
      }
    }
    for (const auto& [name, amount] : wanted) {
      auto rest = left.find(name);
      if (rest == left.end() || amount > rest->second) return false;
    }
  }
  return true;
}

bool DeviceSearch::satisfies_constraints(const ResourceClaim& claim, const DeviceAlternative& alternative,
                                         const Device& device) const {
  return std::all_of(claim.constraints.begin(), claim.constraints.end(), [&](const DeviceConstraint& constraint) {
    if (!names_request(constraint.requests, alternative.name)) return true;
    const auto value_of = [&](const Device& of) {
      auto found = of.attributes.find(plain_device_name(constraint.attribute, of.name.driver));
      return found == of.attributes.end() ? nullptr : &found->second;
    };
    const Json* own = value_of(device);
    if (own == nullptr) return false;
    return std::all_of(chosen_.begin(), chosen_.end(), [&](const Choice& choice) {
      if (choice.claim != &claim || !names_request(constraint.requests, choice.alternative->name)) return true;
      const Json* theirs = value_of(*choice.device);
      return theirs != nullptr && (*own == *theirs) != constraint.distinct;
    });
  });
}

// A node's own device ties the claim to the node; devices that a selector reaches tie it to what all selectors choose.
Allocation DeviceSearch::result_for(const ResourceClaim& claim) const {
  Allocation out;
  bool local = false;
  std::vector<Json> expressions, fields;
  for (const Choice& choice : chosen_) {
    if (choice.claim != &claim) continue;
    out.grants.push_back(choice.grant);
    local |= !choice.device->node.empty();
    for (const Json& term : choice.device->node_selector["nodeSelectorTerms"].items()) {
      for (const Json& one : term["matchExpressions"].items()) {
        if (std::find(expressions.begin(), expressions.end(), one) == expressions.end()) expressions.push_back(one);
      }
      for (const Json& one : term["matchFields"].items()) {
        if (std::find(fields.begin(), fields.end(), one) == fields.end()) fields.push_back(one);
      }
    }
  }
  if (local) {
    expressions.clear();
    fields = {Json::object(
        {{"key", "metadata.name"}, {"operator", "In"}, {"values", Json::array({Json(nodes_[node_].name)})}})};
  }
  if (expressions.empty() && fields.empty()) return out;
  Json term = Json::object();
  if (!expressions.empty()) term.set("matchExpressions", Json::array(std::move(expressions)));
  if (!fields.empty()) term.set("matchFields", Json::array(std::move(fields)));
  out.node_selector = Json::object({{"nodeSelectorTerms", Json::array({term})}});
  return out;
}

}  // namespace scheduler
