// Pods in their first minute, and how often those of a place ended in it.
#include "controllers/framework/restart_pauses.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "controllers/framework/pauses.h"

namespace controllers {

using api::Json;

namespace {

constexpr base::Duration kYoung = base::seconds(60);
constexpr base::Duration kFirstPause = base::seconds(10);
constexpr base::Duration kPauseMax = base::minutes(5);

base::Duration pause_after(int ended) {
  return ended < 2 ? base::Duration{} : doubled(kFirstPause, ended - 1, kPauseMax);
}

bool is_alive(const Json& pod) {
  const std::string_view phase = pod["status"]["phase"].as_string();
  return !api::is_deleting(pod) && phase != "Failed";
}

}  // namespace

void RestartPauses::begin_look(base::Time now) {
  now_ = now;
  for (auto& [uid, young] : young_) young.seen = false;
}

void RestartPauses::see(const std::string& place, const Json& pod) {
  auto known = young_.find(api::uid_of(pod));
  if (known == young_.end()) {
    const auto made = base::parse_rfc3339(pod["metadata"]["creationTimestamp"].as_string());
    if (!made || now_ - *made >= kYoung) return;
    known = young_.emplace(api::uid_of(pod), Young{.place = place, .since = now_}).first;
  }
  Young& young = known->second;
  young.seen = true;
  const bool succeeded = pod["status"]["phase"].as_string() == "Succeeded";
  if (!young.settled && !succeeded && !is_alive(pod)) ended(young);
  young.settled = young.settled || succeeded || !is_alive(pod);
}

void RestartPauses::end_look() {
  std::erase_if(young_, [this](const auto& one) {
    const Young& young = one.second;
    if (!young.seen && !young.settled) ended(young);
    return !young.seen || now_ - young.since >= kYoung;
  });
  std::erase_if(levels_, [this](const auto& one) {
    return now_ < one.second.last || now_ - one.second.last > pause_after(one.second.ended) + kYoung * 2;
  });
}

// Several that were there together count once.
void RestartPauses::ended(const Young& young) {
  Level& level = levels_[young.place];
  if (level.ended > 0 && young.since <= level.last) return;
  ++level.ended;
  level.last = now_;
}

void RestartPauses::forget(std::string_view uid) {
  if (const auto found = young_.find(uid); found != young_.end()) found->second.settled = true;
}

void RestartPauses::clear() {
  young_.clear();
  levels_.clear();
}

base::Duration RestartPauses::left(const std::string& place, base::Time now) const {
  const auto found = levels_.find(place);
  if (found == levels_.end()) return {};
  return pause_left(found->second.last + pause_after(found->second.ended), now, kPauseMax);
}

}  // namespace controllers
