// Which part of the pods, groups and nodes is this scheduler's, where several schedulers of one name share them?
#include "scheduler/cache/scheduler_share.h"

#include "api/meta/resource.h"

namespace scheduler {
namespace {

constexpr int kPointsPerMember = 20;
constexpr int kMembersMax = 1000;

std::uint32_t crc32(std::string_view text) {
  std::uint32_t crc = 0xffff'ffffu;
  for (const char c : text) {
    crc ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb8'8320u : 0);
  }
  return ~crc;
}

}  // namespace

SchedulerShare::SchedulerShare(std::string_view pod_name, int members) : self_(pod_name) {
  const std::size_t dash = pod_name.rfind('-');
  if (dash == std::string_view::npos || members <= 1 || members > kMembersMax) return;
  const std::string base(pod_name.substr(0, dash));
  for (int i = 0; i < members; ++i) {
    const std::string member = base + "-" + std::to_string(i);
    for (int point = 0; point < kPointsPerMember; ++point) ring_[crc32(std::to_string(point) + member)] = member;
  }
}

const std::string& SchedulerShare::member_of(std::string_view key) const {
  const auto next = ring_.upper_bound(crc32(key));
  return next == ring_.end() ? ring_.begin()->second : next->second;
}

bool SchedulerShare::owns_object(const api::Json& object) const {
  if (ring_.empty()) return true;
  const std::string_view owner = object["metadata"]["ownerReferences"][std::size_t{0}]["name"].as_string();
  return owns(owner.empty() ? api::name_of(object) : owner);
}

}  // namespace scheduler
