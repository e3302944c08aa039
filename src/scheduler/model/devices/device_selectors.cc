// The selectors of claims and classes, and which devices they choose.
#include "scheduler/model/devices/device_selectors.h"

#include <algorithm>
#include <set>
#include <unordered_set>

#include "api/cel/expression.h"
#include "api/cel/patterns.h"
#include "base/format.h"

namespace scheduler {

using api::Json;
using api::cel::Patterns;

DeviceSelector unreadable_selector() {
  return {.id = 0, .program = nullptr, .problem = "the regular expressions of the selectors are too large together"};
}

DeviceSelector DeviceSelectors::selector_for(const Json& object, Patterns& patterns) {
  const std::string text = object["cel"]["expression"].str();
  if (auto known = by_text_.find(text); known != by_text_.end()) return known->second;
  if (next_ != 0 && next_ % kSelectorsKept == 0) drop_unused();
  DeviceSelector out{.id = next_++, .program = nullptr, .problem = {}};
  auto compiled = api::cel::Expression::compile(text, {"device"}, &patterns);
  // Not kept: in another claim the same text may be fine.
  if (patterns.is_full()) return unreadable_selector();
  if (compiled.ok()) {
    out.program = std::make_shared<const api::cel::Expression>(*std::move(compiled));
  } else {
    out.problem = compiled.error().message;
    out.program = {std::make_shared<char>(), nullptr};  // points to nothing, and is counted all the same
  }
  return by_text_[text] = out;
}

void DeviceSelectors::drop_unused() {
  std::set<std::uint32_t> gone;
  for (auto at = by_text_.begin(); at != by_text_.end();) {
    const bool is_used = at->second.program.use_count() > 1;
    if (!is_used) gone.insert(at->second.id);
    at = is_used ? std::next(at) : by_text_.erase(at);
  }
  std::erase_if(verdicts_, [&](const auto& verdict) { return gone.contains(verdict.first.first); });
}

std::vector<DeviceSelector> DeviceSelectors::read(const Json& list, Patterns& patterns) {
  std::vector<DeviceSelector> out;
  for (const Json& item : list.items()) {
    if (patterns.is_full()) break;
    out.push_back(selector_for(item, patterns));
  }
  return out;
}

std::optional<int> DeviceSelectors::selects(const DeviceSelector& selector, const Device& device,
                                            std::uint64_t& cost_left, std::string& problem) const {
  if (!selector.program) {
    problem = selector.problem;
    return -1;
  }
  auto found = verdicts_.find({selector.id, &device});
  if (found == verdicts_.end()) {
    const std::uint64_t cost_max = std::min(cost_left, api::cel::kCostMax);
    std::uint64_t spent = 0;
    const api::cel::Value value = selector.program->evaluate({{"device", *device.value}}, cost_max, &spent);
    cost_left -= std::min(cost_left, spent);
    if (spent > cost_max && cost_max < api::cel::kCostMax) return std::nullopt;  // with more it may have an answer
    found = verdicts_.try_emplace({selector.id, &device}).first;
    auto& [verdict, text] = found->second;
    if (const bool* yes = value.get<bool>()) {
      verdict = *yes ? 1 : 0;
    } else {
      verdict = -1;
      text = value.is_error() ? value.error()->message
                              : base::format("a selector must be a boolean, not {}", value.type_name());
    }
  }
  if (found->second.first < 0) problem = found->second.second;
  return found->second.first;
}

// New devices were made while those that they replace were still there: they do not stand where others stood.
void DeviceSelectors::forget_all_but(const std::map<std::string, ResourceSlice, std::less<>>& slices) {
  if (verdicts_.empty()) return;
  std::unordered_set<const Device*> there;
  for (const auto& [name, slice] : slices) {
    for (const Device& device : slice.devices) there.insert(&device);
  }
  std::erase_if(verdicts_, [&](const auto& verdict) { return !there.contains(verdict.first.second); });
}

}  // namespace scheduler
