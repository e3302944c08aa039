// Percentages, growth of counters, and the turn between the two rates.
#include "colocation/policy/network_rate.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/number.h"
#include "base/saturate.h"
#include "base/trim.h"
#include "colocation/policy/words.h"

namespace colocation {

namespace {

constexpr std::int64_t kBytesOfMbps = 1'000'000 / 8;
constexpr std::int64_t kCalmPercent = 90;  // of the watermark
constexpr base::Duration kCalmSpan = base::seconds(1);
constexpr base::Duration kIntervalMin = base::milliseconds(100), kIntervalMax = base::seconds(10);

base::Error refusal(std::string text) { return base::make_error(base::Code::kInvalid, std::move(text)); }

}  // namespace

NetworkRates network_rates(const Config& config, std::int64_t base_mbps) {
  const auto share = [base_mbps](std::int64_t percent) {
    return base::saturating_multiply(base::saturating_multiply(base_mbps, kBytesOfMbps / 100), percent);
  };
  return {share(config.online_bandwidth_percent), share(config.offline_low_percent),
          share(config.offline_high_percent)};
}

base::Result<std::int64_t> base_network_mbps(const api::Json& node, const Uplink& uplink) {
  if (node["metadata"]["annotations"].has(kBandwidthAnnotation)) {
    const std::string_view text = api::annotation_of(node, kBandwidthAnnotation);
    const auto mbps = base::parse_number<std::int64_t>(base::trim(text));
    if (mbps && *mbps > 0) return *mbps;
    return refusal(base::format("annotation {} of node {} must be a positive number of Mbps, not {:?}",
                                kBandwidthAnnotation, api::name_of(node), text.substr(0, 100)));
  }
  if (uplink.mbps) return *uplink.mbps;
  return refusal(
      base::format("failed to get bandwidth configs: failed to get flavor quota min rate, err: node {} network "
                   "bandwidth rate not exists, annotation {}; {}",
                   api::name_of(node), kBandwidthAnnotation,
                   uplink.name.empty() ? std::string("the machine has no default route")
                                       : base::format("the interface {} states no speed", uplink.name)));
}

std::int64_t sent_between(const SentBytes& before, const SentBytes& now) {
  std::int64_t sum = 0;
  for (const auto& [name, bytes] : now) {
    const auto earlier = before.find(name);
    if (earlier == before.end() || bytes < earlier->second) continue;
    sum = base::saturating_add(sum, bytes - earlier->second);
  }
  return sum;
}

RateState next_rate_state(const RateState& state, const NetworkRates& rates, std::int64_t online_bytes,
                          base::Duration span) {
  if (span.ns <= 0) return state;
  RateState next = state;
  constexpr double kRateMax = 9e18;
  const double rate = static_cast<double>(online_bytes) * 1e9 / static_cast<double>(span.ns);
  next.online_rate = static_cast<std::int64_t>(std::min(rate, kRateMax));
  if (next.online_rate > rates.online_watermark) {
    next.is_low = true;
    next.calm = {};
    return next;
  }
  const bool is_calm = next.online_rate <= rates.online_watermark / 100 * kCalmPercent;
  next.calm = is_calm ? base::Duration{base::saturating_add(state.calm.ns, span.ns)} : base::Duration{};
  if (next.calm >= kCalmSpan) next.is_low = false;
  return next;
}

base::Duration network_check_interval(const Config& config) {
  return std::clamp(base::Duration{config.network_check_interval_ns}, kIntervalMin, kIntervalMax);
}

}  // namespace colocation
