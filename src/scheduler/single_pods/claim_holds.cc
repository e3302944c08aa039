// Which single pods are held back because a ResourceClaim of theirs is not there yet?
#include "scheduler/single_pods/claim_holds.h"

#include <algorithm>
#include <utility>

namespace scheduler {
namespace {

constexpr base::Duration kUntilReported = base::seconds(1);

}  // namespace

bool ClaimHolds::hold(WaitingPod pod, std::string claim, base::Time now) {
  const std::string uid = pod.uid;
  auto [at, is_new] = entries_.try_emplace(uid);
  Entry& entry = at->second;
  if (is_new) overdue_.push_back({now + kUntilReported, uid});
  if (!is_new && entry.claim != claim) {
    const auto old = uids_.find(entry.claim);
    old->second.erase(uid);
    if (old->second.empty()) uids_.erase(old);
  }
  uids_[claim].insert(uid);
  entry.pod = std::move(pod);
  entry.claim = std::move(claim);
  return is_new;
}

void ClaimHolds::release(std::string_view uid) {
  const auto at = entries_.find(uid);
  if (at == entries_.end()) return;
  const auto others = uids_.find(at->second.claim);
  others->second.erase(at->first);
  if (others->second.empty()) uids_.erase(others);
  entries_.erase(at);
  while (!overdue_.empty() && !holds(overdue_.front().uid)) overdue_.pop_front();
}

std::vector<WaitingPod> ClaimHolds::lacking(std::string_view claim) const {
  std::vector<WaitingPod> out;
  const auto found = uids_.find(claim);
  if (found == uids_.end()) return out;
  for (const std::string& uid : found->second) out.push_back(entries_.find(uid)->second.pod);
  return out;
}

std::vector<WaitingPod> ClaimHolds::take_overdue(base::Time now) {
  std::vector<WaitingPod> out;
  for (; !overdue_.empty() && overdue_.front().due <= now; overdue_.pop_front()) {
    const auto at = entries_.find(overdue_.front().uid);
    if (at == entries_.end() || std::exchange(at->second.is_reported, true)) continue;
    out.push_back(at->second.pod);
  }
  return out;
}

std::optional<base::Time> ClaimHolds::next_due() const {
  if (overdue_.empty()) return std::nullopt;
  return overdue_.front().due;
}

std::vector<std::string> ClaimHolds::reported_keys() const {
  std::vector<std::string> out;
  for (const auto& [uid, entry] : entries_) {
    if (entry.is_reported) out.push_back(entry.pod.key);
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace scheduler
