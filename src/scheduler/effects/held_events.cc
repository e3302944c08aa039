// Events wait until no write of the scheduler does.
#include "scheduler/effects/held_events.h"

#include <cstddef>

namespace scheduler {
namespace {

constexpr std::size_t kHeldEventsMax = 10'000;  // beyond, the recorder decides what becomes of them

}  // namespace

void HeldEvents::record(api::Json object, client::EventText text) {
  held_.emplace_back(std::move(object), std::move(text));
  pass_on();
}

void HeldEvents::pass_on() {
  if (!is_idle_() && held_.size() < kHeldEventsMax) return;
  for (auto& [object, text] : std::exchange(held_, {})) recorder_.record(object, std::move(text));
}

}  // namespace scheduler
