// Decisions in which this scheduler differs from the one that runs.
#include "scheduler/effects/differences.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"

namespace scheduler {
namespace {

using api::Json;
using Kind = Difference::Kind;

// The other decides once a second, and what it decides takes a moment.
constexpr base::Duration kPatience = base::seconds(10);
constexpr std::size_t kKeptMax = 500;
constexpr std::size_t kNewsMax = 10'000;
constexpr std::size_t kNamedMax = 3;  // pods in one line

constexpr std::pair<Kind, std::string_view> kWords[] = {
    {Kind::kSame, "same"},          {Kind::kNode, "other_node"},          {Kind::kOnlyThere, "only_there"},
    {Kind::kOnlyHere, "only_here"}, {Kind::kEvictedHere, "evicted_here"}, {Kind::kEvictedBoth, "evicted_both"},
};

bool is_difference(Kind kind) { return kind != Kind::kSame && kind != Kind::kEvictedBoth; }

std::string group_of(const Json& pod) {
  const std::string_view group = pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"].as_string();
  return base::format("{}/{}", api::namespace_of(pod), group.empty() ? api::name_of(pod) : group);
}

std::string text_of(const Difference& one) {
  switch (one.kind) {
    case Kind::kNode: return base::format("{}: here {}, there {}", one.pod, one.here, one.there);
    case Kind::kOnlyThere: return base::format("{}: bound to {}, would wait here", one.pod, one.there);
    case Kind::kOnlyHere: return base::format("{}: waits, would be on {} here", one.pod, one.here);
    case Kind::kEvictedHere: return base::format("{}: stays on {}, would be evicted here", one.pod, one.there);
    case Kind::kSame:
    case Kind::kEvictedBoth: break;
  }
  return "";
}

}  // namespace

std::string_view word_for(Kind kind) {
  for (const auto& [one, word] : kWords)
    if (one == kind) return word;
  return "";
}

void Differences::add(Difference difference) {
  ++counts_[difference.kind];
  if (is_difference(difference.kind)) {
    last_.push_back(difference);
    if (last_.size() > kKeptMax) last_.pop_front();
  }
  if (news_.size() < kNewsMax) news_.push_back(std::move(difference));
}

void Differences::saw(const Json& pod, base::Time now) {
  if (std::ranges::find(names_, pod["spec"]["schedulerName"].as_string()) == names_.end()) return;
  const std::string uid(api::uid_of(pod));
  const std::string_view node = pod["spec"]["nodeName"].as_string(), phase = pod["status"]["phase"].as_string();
  if (phase == "Succeeded" || phase == "Failed") return gone(uid, now);
  if (!pod["metadata"]["deletionTimestamp"].is_null()) {
    waiting_.erase(uid);
    return gone(uid, now);
  }
  const auto known = waiting_.find(uid);
  if (node.empty()) {
    if (known == waiting_.end())
      waiting_.emplace(uid,
                       Waiting{group_of(pod), std::string(api::namespace_of(pod)), std::string(api::name_of(pod)), ""});
    return;
  }
  if (known == waiting_.end()) return;
  const Waiting& waited = known->second;
  const Kind kind = waited.here.empty() ? Kind::kOnlyThere : waited.here == node ? Kind::kSame : Kind::kNode;
  add({kind, waited.group, waited.ns, waited.pod, uid, waited.here, std::string(node), now});
  waiting_.erase(known);
}

void Differences::gone(std::string_view uid, base::Time now) {
  if (const auto found = waiting_.find(uid); found != waiting_.end()) waiting_.erase(found);
  const auto found = evicted_.find(uid);
  if (found == evicted_.end()) return;
  add({Kind::kEvictedBoth, found->second.group, found->second.ns, found->second.pod, std::string(uid), "",
       found->second.node, now});
  evicted_.erase(found);
}

void Differences::decided(const Plan& plan, base::Time now) {
  for (const PlannedBind& one : plan.binds) {
    const auto found = waiting_.find(one.uid);
    if (found == waiting_.end()) continue;
    if (found->second.here.empty()) found->second.since = now;
    found->second.here = one.node;
  }
  for (const PlannedEviction& one : plan.evictions)
    evicted_.try_emplace(
        one.uid, Evicted{one.group.empty() ? one.ns + "/" + one.pod : one.group, one.ns, one.pod, one.node, now});
  for (auto& [uid, one] : waiting_) {
    if (one.here.empty() || one.reported || now - one.since < kPatience) continue;
    one.reported = true;
    add({Kind::kOnlyHere, one.group, one.ns, one.pod, uid, one.here, "", now});
  }
  for (auto& [uid, one] : evicted_) {
    if (one.reported || now - one.since < kPatience) continue;
    one.reported = true;
    add({Kind::kEvictedHere, one.group, one.ns, one.pod, uid, "", one.node, now});
  }
}

std::vector<Difference> Differences::take_news() { return std::exchange(news_, {}); }

std::vector<std::string> Differences::lines(const std::vector<Difference>& news) {
  std::map<std::string_view, std::vector<const Difference*>> groups;
  for (const Difference& one : news) groups[one.group].push_back(&one);
  std::vector<std::string> out;
  for (const auto& [group, members] : groups) {
    const auto differing =
        std::ranges::count_if(members, [](const Difference* one) { return is_difference(one->kind); });
    if (differing == 0) continue;
    std::string line = base::format("{}: {} of {} decisions differ:", group, differing, members.size());
    std::size_t named = 0;
    for (const Difference* one : members) {
      if (!is_difference(one->kind) || named++ >= kNamedMax) continue;
      line += base::format("{} {}", named == 1 ? "" : ";", text_of(*one));
    }
    if (named > kNamedMax) line += base::format("; and {} more", named - kNamedMax);
    out.push_back(std::move(line));
  }
  return out;
}

std::optional<base::Time> Differences::next_due() const {
  std::optional<base::Time> due;
  const auto consider = [&due](base::Time at) { due = due ? std::min(*due, at) : at; };
  for (const auto& [uid, one] : waiting_)
    if (!one.here.empty() && !one.reported) consider(one.since + kPatience);
  for (const auto& [uid, one] : evicted_)
    if (!one.reported) consider(one.since + kPatience);
  return due;
}

Json Differences::report() const {
  Json counts = Json::object();
  for (const auto& [kind, word] : kWords) {
    const auto found = counts_.find(kind);
    counts.set(word, found == counts_.end() ? 0 : static_cast<std::int64_t>(found->second));
  }
  Json differences = Json::array();
  for (const Difference& one : last_)
    differences.push_back(Json::object({{"time", base::format_rfc3339(one.at)},
                                        {"kind", word_for(one.kind)},
                                        {"group", one.group},
                                        {"pod", one.pod},
                                        {"here", one.here},
                                        {"there", one.there}}));
  return Json::object({{"decisions", std::move(counts)},
                       {"waiting", static_cast<std::int64_t>(waiting_.size())},
                       {"differences", std::move(differences)}});
}

}  // namespace scheduler
