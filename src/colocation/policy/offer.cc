// Offers from amounts, and patches of the Node from offers.
#include "colocation/policy/offer.h"

#include <algorithm>

#include "api/schema/quantity.h"
#include "colocation/policy/config.h"

namespace colocation {

using api::Json;

namespace {

// A sum of ten weighted amounts fits 63 bits.
constexpr std::int64_t kAmountMax = std::int64_t{1} << 52;

std::int64_t share(std::int64_t total, std::int64_t used, std::int64_t ratio_percent) {
  const std::int64_t idle =
      std::clamp<std::int64_t>(total, 0, kAmountMax) - std::clamp<std::int64_t>(used, 0, kAmountMax);
  return std::clamp<std::int64_t>(std::max<std::int64_t>(0, idle) * std::min<std::int64_t>(ratio_percent, 1000) / 100,
                                  0, kAmountMax);
}

std::int64_t amount_of(const Json& list, std::string_view name, bool milli = false) {
  const auto read = api::Quantity::from_json(list[name]);
  return read ? std::max<std::int64_t>(0, milli ? read->milli_value() : read->value()) : 0;
}

bool differs(std::int64_t reported, std::int64_t now) {
  if (reported == 0) return now != 0;
  const std::int64_t change = now > reported ? now - reported : reported - now;
  return change > reported / 10;
}

}  // namespace

NodeAmounts offer_for(const OfferInput& input) {
  NodeAmounts offer;
  if (sells_type(input.types, "cpu"))
    offer.cpu_milli = share(input.allocatable.cpu_milli - input.exclusive_cpu_milli,
                            std::max(input.used.cpu_milli, input.foreseen.cpu_milli), input.ratio_percent);
  if (sells_type(input.types, "memory"))
    offer.memory_bytes = share(input.allocatable.memory_bytes,
                               std::max(input.used.memory_bytes, input.foreseen.memory_bytes), input.ratio_percent);
  return offer;
}

void OfferRing::add(const NodeAmounts& offer) {
  offers_[next_] = offer;
  next_ = (next_ + 1) % offers_.size();
  count_ = std::min(count_ + 1, offers_.size());
}

NodeAmounts OfferRing::mean() const {
  NodeAmounts sum;
  std::int64_t weights = 0;
  for (std::size_t age = count_; age > 0; --age) {
    const NodeAmounts& one = offers_[(next_ + offers_.size() - age) % offers_.size()];
    const std::int64_t weight = std::int64_t{1} << (count_ - age);
    sum.cpu_milli += one.cpu_milli * weight;
    sum.memory_bytes += one.memory_bytes * weight;
    weights += weight;
  }
  if (weights == 0) return {};
  return {sum.cpu_milli / weights, sum.memory_bytes / weights};
}

bool must_report(const NodeAmounts& reported, const NodeAmounts& offer, base::Duration since_report) {
  if (differs(reported.cpu_milli, offer.cpu_milli) || differs(reported.memory_bytes, offer.memory_bytes)) return true;
  return since_report >= kReportPause && reported != offer;
}

NodeAmounts reported_offer(const Json& node, const BatchNames& names) {
  const Json& capacity = node["status"]["capacity"];
  return {amount_of(capacity, names.cpu), amount_of(capacity, names.memory)};
}

bool reports_offer(const Json& node, const BatchNames& names) {
  for (const char* list : {"capacity", "allocatable"})
    for (const std::string& name : {names.cpu, names.memory})
      if (node["status"][list].has(name)) return true;
  return false;
}

Json offer_patch(const Json& node, const BatchNames& names, const NodeAmounts* offer) {
  Json status;
  for (const char* list : {"capacity", "allocatable"}) {
    const Json& present = node["status"][list];
    const std::pair<const std::string*, std::int64_t> kAmounts[] = {{&names.cpu, offer ? offer->cpu_milli : 0},
                                                                    {&names.memory, offer ? offer->memory_bytes : 0}};
    for (const auto& [name, amount] : kAmounts) {
      if (offer ? present.has(*name) && amount_of(present, *name) == amount : !present.has(*name)) continue;
      status.edit(list).set(*name, offer ? Json(std::to_string(amount)) : Json());
    }
  }
  return status.is_null() ? Json() : Json::object({{"status", std::move(status)}});
}

NodeAmounts allocatable_of(const Json& node) {
  const Json& list = node["status"]["allocatable"];
  return {amount_of(list, "cpu", true), amount_of(list, "memory")};
}

}  // namespace colocation
