// Which selectors do services and the controllers of pods have?
#include "scheduler/model/pods/workloads.h"

#include <utility>

#include "api/meta/resource.h"

namespace scheduler {

void Workloads::set(std::string_view kind, const std::string& key, LabelSelector selector) {
  auto& map = kind.empty() ? services_ : controllers_;
  const std::string name = kind.empty() ? key : std::string(kind) + " " + key;
  auto there = map.find(name);
  if (there != map.end() && there->second == selector) return;  // a change of its status
  is_stale_ = true;
  map.insert_or_assign(name, std::move(selector));
}

void Workloads::remove(std::string_view kind, const std::string& key) {
  is_stale_ = true;
  if (kind.empty())
    services_.erase(key);
  else
    controllers_.erase(std::string(kind) + " " + key);
}

void Workloads::set_owner(TaskId task, const api::Json& pod) {
  const api::Json& owner = api::controller_of(pod);
  const std::string_view kind = owner["kind"].as_string();
  if (kind != "ReplicaSet" && kind != "StatefulSet" && kind != "ReplicationController") {
    owners_.erase(task.index);
    return;
  }
  owners_[task.index] = std::string(kind) + " " + std::string(api::namespace_of(pod)) + "/" + owner["name"].str();
}

MatcherId Workloads::default_matcher(TaskId task, LabelSetId labels, PodAffinity& pods, Symbols& symbols) {
  auto owner = owners_.find(task.index);
  const auto key = std::pair{labels.index, owner == owners_.end() ? std::string() : owner->second};
  is_stale_ |= std::exchange(known_at_, pods.label_sets().returns()) != pods.label_sets().returns();
  if (std::exchange(is_stale_, false)) forget_matchers(pods);
  if (auto known = known_.find(key); known != known_.end()) return known->second;
  const LabelSet& own = pods.label_set(labels);
  PodSelector all;
  all.namespaces = {own.ns};
  all.labels.present = true;
  const std::string prefix = symbols.text(own.ns) + "/";
  for (auto at = services_.lower_bound(prefix); at != services_.end() && at->first.starts_with(prefix); ++at) {
    if (at->second.is_empty() || !at->second.matches(own.labels, symbols)) continue;
    for (const Requirement& one : at->second.requirements) all.labels.requirements.push_back(one);
  }
  if (auto found = controllers_.find(key.second); found != controllers_.end()) {
    for (const Requirement& one : found->second.requirements) all.labels.requirements.push_back(one);
  }
  const MatcherId out = all.labels.is_empty() ? MatcherId{} : pods.matcher_for({all});
  if (out.is_set()) pods.use_matcher(out, 1);
  return known_[key] = out;
}

void Workloads::forget_matchers(PodAffinity& pods) {
  for (const auto& [key, matcher] : known_) {
    if (matcher.is_set()) pods.use_matcher(matcher, -1);
  }
  known_.clear();
}

}  // namespace scheduler
