// Windows and policies.
#include "controllers/autoscaling/limits.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace controllers::autoscaling {

using api::Json;

namespace {

constexpr base::Duration kWindowMax = base::hours(1);
constexpr std::int64_t kDownWindow = 300;

enum class Direction : std::uint8_t { kUp, kDown };

base::Duration window_of(const Json& rules, Direction direction) {
  const std::int64_t seconds =
      rules["stabilizationWindowSeconds"].as_int(direction == Direction::kUp ? 0 : kDownWindow);
  return std::min(base::seconds(std::clamp<std::int64_t>(seconds, 0, 3600)), kWindowMax);
}

std::int64_t sum_since(const std::vector<Change>& changes, base::Time from) {
  std::int64_t sum = 0;
  for (const Change& change : changes)
    if (change.at > from) sum += change.count;
  return sum;
}

// The number that a policy allows, from what it was when its period began.
std::int64_t reach(const Json& policy, Direction direction, std::int64_t current, const Memory& memory,
                   base::Time now) {
  const base::Time from = now - base::seconds(std::clamp<std::int64_t>(policy["periodSeconds"].as_int(15), 1, 1800));
  const std::int64_t begin = current - sum_since(memory.ups, from) + sum_since(memory.downs, from);
  const std::int64_t value = std::clamp<std::int64_t>(policy["value"].as_int(), 0, INT32_MAX);
  const bool up = direction == Direction::kUp;
  if (policy["type"].as_string() == "Pods") return up ? begin + value : begin - value;
  const double part = static_cast<double>(begin) * static_cast<double>(value) / 100.0;
  return up ? static_cast<std::int64_t>(std::ceil(static_cast<double>(begin) + part))
            : static_cast<std::int64_t>(static_cast<double>(begin) - part);
}

Json default_policies(Direction direction) {
  Json all = Json::array({Json::object({{"type", "Percent"}, {"value", 100}, {"periodSeconds", 15}})});
  if (direction == Direction::kUp) all.push_back(Json::object({{"type", "Pods"}, {"value", 4}, {"periodSeconds", 15}}));
  return all;
}

// How far all policies together let it go.
std::int64_t rate_limit(const Json& rules, Direction direction, std::int64_t current, const Memory& memory,
                        base::Time now) {
  const std::string_view select = rules["selectPolicy"].as_string("Max");
  if (select == "Disabled") return current;
  const Json policies = rules["policies"].empty() ? default_policies(direction) : rules["policies"];
  // The largest change, or the smallest.
  const bool highest = (direction == Direction::kUp) == (select != "Min");
  std::optional<std::int64_t> best;
  for (const Json& policy : policies.items()) {
    const std::int64_t one = reach(policy, direction, current, memory, now);
    best = !best ? one : highest ? std::max(*best, one) : std::min(*best, one);
  }
  return direction == Direction::kUp ? std::max(current, *best) : std::min(current, *best);
}

std::int64_t stabilized(const Json& behavior, const Bounds& bounds, base::Time now, Memory& memory) {
  if (memory.recommendations.empty()) memory.recommendations.push_back({now, bounds.current});
  std::erase_if(memory.recommendations, [&](const Recommendation& one) { return one.at + kWindowMax < now; });
  for (auto* changes : {&memory.ups, &memory.downs})
    std::erase_if(*changes, [&](const Change& one) { return one.at + kWindowMax < now; });
  // Entries in the future were noted before the clock was set back; it counts for its window from now on.
  for (Recommendation& one : memory.recommendations) one.at = std::min(one.at, now);
  for (auto* changes : {&memory.ups, &memory.downs})
    for (Change& one : *changes) one.at = std::min(one.at, now);
  const base::Time up_from = now - window_of(behavior["scaleUp"], Direction::kUp);
  const base::Time down_from = now - window_of(behavior["scaleDown"], Direction::kDown);
  std::int64_t lowest = bounds.desired, highest = bounds.desired;
  for (const Recommendation& one : memory.recommendations) {
    if (one.at > up_from) lowest = std::min(lowest, one.replicas);
    if (one.at > down_from) highest = std::max(highest, one.replicas);
  }
  memory.recommendations.push_back({now, bounds.desired});
  return std::min(std::max(bounds.current, lowest), highest);
}

}  // namespace

Limited limit(const Json& behavior, const Bounds& bounds, base::Time now, Memory& memory) {
  Limited out;
  const std::int64_t wanted = stabilized(behavior, bounds, now, memory);
  if (wanted == bounds.desired)
    out.able = {true, "ReadyForNewScale", "recommended size matches current size"};
  else if (wanted > bounds.desired)
    out.able = {true, "ScaleDownStabilized",
                "recent recommendations were higher than current one, applying the highest recent recommendation"};
  else
    out.able = {true, "ScaleUpStabilized",
                "recent recommendations were lower than current one, applying the lowest recent recommendation"};
  out.replicas = wanted;
  out.limited = {false, "DesiredWithinRange", "the desired count is within the acceptable range"};
  if (wanted > bounds.current) {
    const std::int64_t rate = rate_limit(behavior["scaleUp"], Direction::kUp, bounds.current, memory, now);
    out.replicas = std::min({wanted, rate, bounds.max});
    if (wanted > std::min(rate, bounds.max))
      out.limited = rate < bounds.max
                        ? ConditionFinding{true, "ScaleUpLimit",
                                           "the desired replica count is increasing faster than the maximum scale rate"}
                        : ConditionFinding{true, "TooManyReplicas",
                                           "the desired replica count is more than the maximum replica count"};
  } else if (wanted < bounds.current) {
    const std::int64_t rate = rate_limit(behavior["scaleDown"], Direction::kDown, bounds.current, memory, now);
    out.replicas = std::max({wanted, rate, bounds.min});
    if (wanted < std::max(rate, bounds.min))
      out.limited = rate > bounds.min
                        ? ConditionFinding{true, "ScaleDownLimit",
                                           "the desired replica count is decreasing faster than the maximum scale rate"}
                        : ConditionFinding{true, "TooFewReplicas",
                                           "the desired replica count is less than the minimum replica count"};
  } else if (bounds.desired > bounds.max) {
    out.limited = {true, "TooManyReplicas", "the desired replica count is more than the maximum replica count"};
  } else if (bounds.desired < bounds.min) {
    out.limited = {true, "TooFewReplicas", "the desired replica count is less than the minimum replica count"};
  }
  return out;
}

}  // namespace controllers::autoscaling
