// Into which parts does a job fall, and how far apart may the pods of each part be?
#include "scheduler/model/core/sub_job.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/number.h"

namespace scheduler {
namespace {

constexpr std::size_t kValuesLengthMax = 128;

TopologyConstraint constraint_from(const api::Json& json, Symbols& symbols) {
  TopologyConstraint out;
  out.present = json.is_object();
  if (!out.present) return out;
  out.soft = json["mode"].as_string() == "soft";
  if (json["highestTierAllowed"].is_int()) out.tier = json["highestTierAllowed"].as_int();
  if (const std::string_view name = json["highestTierName"].as_string(); !name.empty())
    out.tier_name = symbols.intern(name);
  return out;
}

std::int32_t int32_from(const api::Json& json, std::int64_t fallback) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(json.as_int(fallback), 0, kMax));
}

// The 32-bit FNV-1a hash of a text in letters and digits that form no words, as Kubernetes names things.
std::string short_name_for(std::string_view text) {
  std::uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  std::string out = std::to_string(hash);
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  for (char& c : out) c = kLetters[static_cast<unsigned char>(c) % kLetters.size()];
  return out;
}

// The values of the policy's labels, joined; nothing when the policy does not take a task of these labels.
std::optional<std::string> values_for(const SubGroupPolicy& policy, const Labels& labels, const Symbols& symbols) {
  if (policy.keys.empty()) return std::nullopt;
  if (policy.selects && !policy.selector.matches(labels, symbols)) return std::nullopt;
  std::string out;
  for (const Symbol key : policy.keys) {
    const Symbol value = value_of(labels, key);
    if (!value.is_set() || symbols.text(value).empty()) return std::nullopt;
    if (!out.empty()) out += '-';
    out += symbols.text(value);
  }
  return out;
}

}  // namespace

std::int32_t SubJob::task_count() const { return std::accumulate(counts.begin(), counts.end(), 0); }

// Parts that lost their last pod are as if they were not there.
bool JobTopology::has_any_constraint() const {
  return constraint.present || std::any_of(sub_jobs.begin(), sub_jobs.end(), [](const SubJob& one) {
           return one.constraint.present && one.task_count() > 0;
         });
}

bool JobTopology::has_hard_constraint() const {
  return constraint.hard || std::any_of(sub_jobs.begin(), sub_jobs.end(),
                                        [](const SubJob& one) { return one.constraint.hard && one.task_count() > 0; });
}

JobTopology topology_from(const api::Json& spec, std::string_view job_key, std::int32_t min_available,
                          Symbols& symbols) {
  JobTopology out;
  out.constraint = constraint_from(spec["networkTopology"], symbols);
  for (const api::Json& item : spec["subGroupPolicy"].items()) {
    if (out.policies.size() >= kSubGroupPoliciesMax) break;
    SubGroupPolicy& policy = out.policies.emplace_back();
    policy.name = item["name"].str();
    policy.constraint = constraint_from(item["networkTopology"], symbols);
    policy.size = int32_from(item["subGroupSize"], 1);
    policy.min_sub_groups = int32_from(item["minSubGroups"], 0);
    policy.selects = item["labelSelector"].is_object();
    if (policy.selects) policy.selector = label_selector_from(item["labelSelector"], symbols);
    for (const api::Json& key : item["matchLabelKeys"].items()) policy.keys.push_back(symbols.intern(key.as_string()));
  }
  SubJob& rest = out.sub_jobs.emplace_back();
  rest.uid = job_key;
  out.by_uid.emplace(rest.uid, 0);
  rest.constraint = out.constraint;
  rest.min_available = out.policies.empty() ? min_available : 1;
  return out;
}

std::uint32_t sub_job_for(JobTopology& topology, std::string_view job_key, const Labels& labels,
                          const Symbols& symbols) {
  for (std::uint32_t p = 0; p < topology.policies.size(); ++p) {
    const SubGroupPolicy& policy = topology.policies[p];
    const auto values = values_for(policy, labels, symbols);
    if (!values) continue;
    const std::string part = values->size() > kValuesLengthMax ? short_name_for(*values) : *values;
    const std::string uid = std::string(job_key) + "/" + policy.name + "-" + part;
    const auto [known, added] = topology.by_uid.try_emplace(uid, static_cast<std::uint32_t>(topology.sub_jobs.size()));
    if (!added) return known->second;
    SubJob& made = topology.sub_jobs.emplace_back();
    made.uid = uid;
    made.policy = p;
    made.constraint = policy.constraint;
    made.min_available = policy.size;
    const std::string& first = symbols.text(value_of(labels, policy.keys.front()));
    if (const auto index = base::parse_number<std::int64_t>(first)) made.match_index = *index;
    topology.settled_at = 0;
    return static_cast<std::uint32_t>(topology.sub_jobs.size() - 1);
  }
  return 0;
}

}  // namespace scheduler
