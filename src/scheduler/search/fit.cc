// Why does a node not take a pod, and how is that told?
#include "scheduler/search/fit.h"

#include <algorithm>

#include "base/format.h"
#include "scheduler/framework/votes.h"
#include "scheduler/model/core/digest.h"

namespace scheduler {

std::string histogram_text(const std::map<std::string, std::int64_t, std::less<>>& counts,
                           std::vector<std::string> extra) {
  std::vector<std::string> parts = std::move(extra);
  for (const auto& [word, count] : counts) {
    if (count != 0) parts.push_back(base::format("{} {}", count, word));
  }
  std::sort(parts.begin(), parts.end());
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += ", ";
    out += part;
  }
  return out;
}

const FitErrors::Found& FitErrors::found() const {
  static const Found kNothing;
  return found_ ? *found_ : kNothing;
}

FitErrors::Found& FitErrors::edit() {
  if (!found_)
    found_ = std::make_shared<Found>();
  else if (found_.use_count() != 1)
    found_ = std::make_shared<Found>(*found_);
  found_->whole.clear();
  found_->digest = 0;
  return *found_;
}

void FitErrors::add(std::string_view reason, std::size_t nodes) {
  if (nodes == 0) return;
  Found& mine = edit();
  mine.last = reason;
  mine.last_is_shortage = false;
  auto known = mine.reasons.find(reason);
  if (known == mine.reasons.end()) known = mine.reasons.emplace(std::string(reason), 0).first;
  known->second += nodes;
}

void FitErrors::refuse_pod(const Refusal& refusal, std::size_t nodes) {
  set_node_count(nodes);
  add(refusal.message, nodes);
  edit().pod_refusal = refusal.why.empty() ? refusal.message : refusal.why;
}

void FitErrors::add_short_of(std::string_view resource, std::size_t nodes) {
  if (nodes == 0) return;
  add(base::format("Insufficient {}", resource), nodes);
  Found& mine = edit();
  mine.last_is_shortage = true;
  mine.short_of[std::string(resource)] += nodes;
}

std::pair<std::string_view, std::size_t> FitErrors::tightest() const {
  std::pair<std::string_view, std::size_t> worst{"", 0};
  for (const auto& [resource, nodes] : found().short_of) {
    if (nodes > worst.second) worst = {resource, nodes};
  }
  return worst;
}

const std::string& FitErrors::text() const {
  static const std::string kNothing = "0/0 nodes are unavailable";
  if (!found_) return kNothing;
  if (!found_->whole.empty()) return found_->whole;
  std::string out =
      found_->text.empty() ? base::format("0/{} nodes are unavailable", found_->node_count) : found_->text;
  if (!found_->reasons.empty()) {
    std::map<std::string, std::int64_t, std::less<>> counts;
    for (const auto& [reason, count] : found_->reasons) counts.emplace(reason, static_cast<std::int64_t>(count));
    out += ": " + histogram_text(counts) + ".";
  }
  if (!found_->hyper_node.empty()) out = base::format("In hyperNode {}: {}", found_->hyper_node, out);
  if (!found_->label_domain.empty()) out = base::format("In {}: {}", found_->label_domain, out);
  found_->whole = std::move(out);
  return found_->whole;
}

std::uint64_t FitErrors::digest() const {
  if (!found_) return 1;
  if (found_->digest != 0) return found_->digest;
  const auto [resource, nodes] = tightest();
  Digest out;
  out.add(found_->last_is_shortage ? nodes + 1 : 0);
  for (const std::string_view one : {std::string_view(text()), std::string_view(found_->last), resource}) out.add(one);
  return found_->digest = out.value();
}

}  // namespace scheduler
