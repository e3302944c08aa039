// How are amounts of resources named, stored, added and compared?
#include "scheduler/model/core/resource.h"

#include <algorithm>
#include <cmath>

#include "base/saturate.h"

namespace scheduler {
namespace {

constexpr Dim kEphemeralStorage = 3;  // in bytes: in thousandths, ten nodes of a petabyte would be more than fits

// No object means more than this, and sums of a thousand such objects still fit: 9 PB, 9e12 cores or devices.
constexpr std::int64_t kAmountMax = std::int64_t{1} << 53;

bool close_or_less(double left, double right) { return left < right || std::fabs(left - right) < kResourceEpsilon; }

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

Dimensions::Dimensions() {
  names_.intern("cpu");
  names_.intern("memory");
  names_.intern("pods");
  names_.intern("ephemeral-storage");
}

bool is_scalar_resource_name(std::string_view name) {
  if (starts_with_any(name, {"hugepages-", "attachable-volumes-"})) return true;
  const std::size_t slash = name.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size()) return false;
  // COMPAT(quota-names): an amount that a quota counts is not a resource of a node, whatever comes after the prefix.
  return !name.starts_with("requests.");
}

std::optional<Dim> Dimensions::dim_of(std::string_view name) {
  if (name == "cpu") return kCpu;
  if (name == "memory") return kMemory;
  if (name == "pods") return kPods;
  if (name.starts_with("count/") || (!ignored_.empty() && ignored_.contains(name))) return std::nullopt;
  if (name == "ephemeral-storage") return kEphemeralStorage;
  if (!is_scalar_resource_name(name)) return std::nullopt;
  if (const std::optional<Dim> known = find(name)) return known;
  return intern(size() < kResourceNamesMax ? name : kNoSuchResource);
}

void Dimensions::know(const api::ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    const std::optional<Dim> dim = dim_of(name);
    if (dim && this->name(*dim) == kNoSuchResource) intern(name);
  }
}

std::optional<Dim> Dimensions::ignore(std::string_view name) {
  if (!is_scalar_resource_name(name) || !ignored_.emplace(name).second) return std::nullopt;
  const Symbol known = names_.find(name);
  return known.is_set() ? std::optional<Dim>(known.index) : std::nullopt;
}

std::int64_t Dimensions::amount_of(Dim dim, const api::Quantity& quantity) {
  return dim == kMemory || dim == kPods || dim == kEphemeralStorage ? quantity.value() : quantity.milli_value();
}

api::Quantity Dimensions::quantity_of(Dim dim, double amount) {
  const double bounded = std::clamp(amount, -9.2e18, 9.2e18);
  const auto whole = static_cast<std::int64_t>(bounded);
  if (dim == kMemory) return api::Quantity::from_int(whole, api::Quantity::Format::kBinarySi);
  if (dim == kPods || dim == kEphemeralStorage) return api::Quantity::from_int(whole);
  return api::Quantity::from_milli(whole);
}

std::int64_t Request::get(Dim dim) const {
  const auto at =
      std::lower_bound(parts.begin(), parts.end(), dim, [](const Part& part, Dim d) { return part.dim < d; });
  return at != parts.end() && at->dim == dim ? at->amount : 0;
}

bool Request::has(Dim dim) const {
  return std::any_of(parts.begin(), parts.end(), [&](const Part& part) { return part.dim == dim; });
}

void Request::add(Dim dim, std::int64_t amount) {
  auto at = std::lower_bound(parts.begin(), parts.end(), dim, [](const Part& part, Dim d) { return part.dim < d; });
  if (at == parts.end() || at->dim != dim) at = parts.insert(at, {dim, 0});
  at->amount = std::clamp(base::saturating_add(at->amount, amount), -kAmountMax, kAmountMax);
}

void Request::erase(Dim dim) {
  std::erase_if(parts, [&](const Part& part) { return part.dim == dim; });
}

void Request::set_max(const Request& other) {
  for (const Part& part : other.parts) add(part.dim, std::max<std::int64_t>(0, part.amount - get(part.dim)));
}

void Request::add(const Request& other) {
  for (const Part& part : other.parts) add(part.dim, part.amount);
}

bool Request::is_empty() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const Part& part) { return part.dim == kPods || part.amount <= 0; });
}

void Sums::add_further(const Part& part, std::int64_t sign) {
  std::vector<Sum>& sums = further_.edit();
  if (part.dim - kOwn >= sums.size()) sums.resize(part.dim - kOwn + 1);
  add_wrapping(sums[part.dim - kOwn].amount, sign * part.amount);
  sums[part.dim - kOwn].count += static_cast<std::int32_t>(sign);
}

void Sums::erase(Dim dim) {
  if (dim >= kOwn && dim < size()) further_.edit()[dim - kOwn] = {};
}

Resource::Resource(const Request& request) {
  for (const Part& part : request.parts) set(part.dim, static_cast<double>(part.amount));
}

Resource::Resource(const Sums& sums) {
  for (Dim d = 0; d < sums.size(); ++d) {
    if (sums.has(d)) set(d, static_cast<double>(sums.get(d)));
  }
}

void Resource::reserve(std::size_t size) {
  if (size > this->size()) further_.edit().resize(size - kOwn);
}

bool Resource::has_scalars() const {
  for (Dim d = kPods; d < size(); ++d) {
    if (has(d)) return true;
  }
  return false;
}

void Resource::set(Dim dim, double value) {
  reserve(dim + 1);
  this->value(dim) = value;
  if (dim == kPods) has_pods_ = true;
  if (dim >= kOwn) further_.edit()[dim - kOwn].present = true;
}

void Resource::erase(Dim dim) {
  if (dim < kPods || !has(dim)) return;
  value(dim) = 0;
  if (dim == kPods)
    has_pods_ = false;
  else
    further_.edit()[dim - kOwn].present = false;
}

Resource& Resource::operator+=(const Resource& other) {
  reserve(other.size());
  for (Dim d = 0; d < other.size(); ++d) {
    if (other.has(d)) set(d, get(d) + other.get(d));
  }
  return *this;
}

Resource& Resource::operator-=(const Resource& other) {
  reserve(other.size());
  for (Dim d = 0; d < other.size(); ++d) {
    if (other.has(d)) set(d, get(d) - other.get(d));
  }
  return *this;
}

Resource& Resource::operator*=(double factor) {
  for (Dim d = 0; d < size(); ++d) value(d) *= factor;
  return *this;
}

void Resource::lower_to(const Resource& other, Missing missing) {
  for (Dim d = 0; d < size(); ++d) {
    if (!has(d)) continue;
    if (!other.has(d)) {
      if (missing == Missing::kZero) value(d) = 0;
    } else {
      value(d) = std::min(get(d), other.get(d));
    }
  }
}

Resource Resource::max(const Resource& a, const Resource& b) {
  Resource out;
  for (Dim d = 0; d < std::max(a.size(), b.size()); ++d) {
    if (!a.has(d) && !b.has(d)) continue;
    const double value = std::max(a.get(d), b.get(d));
    if (d < 2 || value >= 0) out.set(d, value);
  }
  return out;
}

Resource Resource::min(const Resource& a, const Resource& b) {
  Resource out;
  for (Dim d = 0; d < a.size(); ++d) {
    if (!a.has(d) || (d >= 2 && !b.has_scalars())) continue;
    out.set(d, std::min(a.get(d), b.get(d)));
  }
  return out;
}

Resource Resource::exceeded_part(const Resource& a, const Resource& b) {
  Resource out;
  for (Dim d = 0; d < std::max(a.size(), b.size()); ++d) {
    if (!a.has(d) && !b.has(d)) continue;
    if (const double more = a.get(d) - b.get(d); more > 0) out.set(d, more);
  }
  return out;
}

bool Resource::is_empty() const {
  for (Dim d = 0; d < size(); ++d) {
    if (d != kPods && get(d) >= kResourceEpsilon) return false;
  }
  return true;
}

bool Resource::exactly_equals(const Resource& other) const {
  for (Dim d = 0; d < std::max(size(), other.size()); ++d) {
    if (get(d) != other.get(d)) return false;
  }
  return true;
}

bool Resource::less_equal(const Resource& other, Missing missing) const {
  for (Dim d = 0; d < std::max(size(), other.size()); ++d) {
    if (missing == Missing::kInfinity && d >= 2) {
      if (other.has(d) && !has(d)) return false;
      if (!other.has(d)) continue;
    }
    if (has(d) && !close_or_less(get(d), other.get(d))) return false;
  }
  return true;
}

bool Resource::fits_wanted(const Resource& limit, const Resource& wanted, std::vector<Dim>* failing) const {
  bool fits = true;
  for (Dim d = 0; d < wanted.size(); ++d) {
    if (d == kPods || !(wanted.get(d) > 0) || !(get(d) > limit.get(d))) continue;
    fits = false;
    if (failing == nullptr) return false;
    failing->push_back(d);
  }
  return fits;
}

bool Resource::fits_some_wanted(const Resource& limit, const Resource& wanted) const {
  for (Dim d = 0; d < wanted.size(); ++d) {
    if (d != kPods && wanted.get(d) > 0 && close_or_less(get(d), limit.get(d))) return true;
  }
  return false;
}

bool Resource::exceeds_some_wanted(const Resource& limit, const Resource& wanted) const {
  for (Dim d = 0; d < wanted.size(); ++d) {
    if (d != kPods && wanted.get(d) > 0 && get(d) > limit.get(d)) return true;
  }
  return false;
}

std::vector<Dim> Resource::names() const {
  std::vector<Dim> out;
  for (Dim d = 0; d < size(); ++d) {
    if (get(d) >= kResourceEpsilon) out.push_back(d);
  }
  return out;
}

Request request_from(const api::ResourceList& list, Dimensions& dimensions) {
  Request out;
  for (const auto& [name, quantity] : list) {
    if (auto dim = dimensions.dim_of(name)) out.add(*dim, Dimensions::amount_of(*dim, quantity));
  }
  return out;
}

Resource resource_from(const api::ResourceList& list, Dimensions& dimensions) {
  // In doubles from the start: a queue's limit may be far above what any node or pod can mean.
  Resource out;
  for (const auto& [name, quantity] : list) {
    if (auto dim = dimensions.dim_of(name))
      out.set(*dim, out.get(*dim) + static_cast<double>(Dimensions::amount_of(*dim, quantity)));
  }
  return out;
}

}  // namespace scheduler
