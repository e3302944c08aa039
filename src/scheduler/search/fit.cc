// Why does a node not take a pod, and how is that told?
#include "scheduler/search/fit.h"

#include <algorithm>

#include "base/format.h"

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

void FitErrors::add_short_of(std::string_view resource, std::size_t nodes) {
  if (nodes == 0) return;
  add(base::format("Insufficient {}", resource), nodes);
  last_is_shortage_ = true;
  short_of_[std::string(resource)] += nodes;
}

std::pair<std::string_view, std::size_t> FitErrors::tightest() const {
  std::pair<std::string_view, std::size_t> worst{"", 0};
  for (const auto& [resource, nodes] : short_of_) {
    if (nodes > worst.second) worst = {resource, nodes};
  }
  return worst;
}

std::string FitErrors::text() const {
  std::string out = text_.empty() ? base::format("0/{} nodes are unavailable", node_count_) : text_;
  if (!reasons_.empty()) {
    std::map<std::string, std::int64_t, std::less<>> counts;
    for (const auto& [reason, count] : reasons_) counts.emplace(reason, static_cast<std::int64_t>(count));
    out += ": " + histogram_text(counts) + ".";
  }
  if (!hyper_node_.empty()) out = base::format("In hyperNode {}: {}", hyper_node_, out);
  return out;
}

}  // namespace scheduler
