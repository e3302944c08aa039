// Why does a node not take a pod, and how is that told?
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/model/nodes/node_set.h"

namespace scheduler {

enum class FitCode : std::uint8_t {
  kSuccess,
  kError,
  kUnschedulable,  // evicting somebody might help
  kUnresolvable,   // nothing on this node helps
  kWait,
  kSkip,
};

// Counts of reasons over the nodes that were refused. Reasons count once per node that has them.
class FitErrors {
 public:
  void add(std::string_view reason, std::size_t nodes) {
    if (nodes == 0) return;
    last_ = reason;
    last_is_shortage_ = false;
    auto found = reasons_.find(reason);
    if (found == reasons_.end())
      reasons_.emplace(std::string(reason), nodes);
    else
      found->second += nodes;
  }
  // Nodes that lack this resource.
  void add_short_of(std::string_view resource, std::size_t nodes);
  // Nodes that eviction cannot help.
  void add_unresolvable(const NodeSet& nodes) { unresolvable_ |= nodes; }
  const NodeSet& unresolvable() const { return unresolvable_; }
  void set_node_count(std::size_t count) { node_count_ = count; }
  void set_text(std::string text) { text_ = std::move(text); }
  void set_hyper_node(std::string name) { hyper_node_ = std::move(name); }
  std::size_t node_count() const { return node_count_; }
  const std::string& hyper_node() const { return hyper_node_; }
  // The reason counted last: of those that narrowed the nodes down one after the other, the one that left none.
  const std::string& last() const { return last_; }
  bool last_is_shortage() const { return last_is_shortage_; }
  // The resource that most nodes lack, the first by name among equals, and how many do.
  std::pair<std::string_view, std::size_t> tightest() const;
  bool has_reasons() const { return !reasons_.empty(); }
  const std::map<std::string, std::size_t, std::less<>>& reasons() const { return reasons_; }

  // "0/3 nodes are unavailable: 1 node(s) pod number exceeded, 2 Insufficient cpu."
  std::string text() const;

 private:
  std::map<std::string, std::size_t, std::less<>> reasons_;
  NodeSet unresolvable_;
  std::size_t node_count_ = 0;
  std::string text_;  // replaces "0/n nodes are unavailable"
  std::string hyper_node_;
  std::string last_;
  bool last_is_shortage_ = false;
  std::map<std::string, std::size_t, std::less<>> short_of_;  // of the reasons, by resource
};

// "2 Pending, 1 Running", sorted as text, of (word, count).
std::string histogram_text(const std::map<std::string, std::int64_t, std::less<>>& counts,
                           std::vector<std::string> extra = {});

inline constexpr std::string_view kPodNumberExceeded = "node(s) pod number exceeded";
inline constexpr std::string_view kAllNodesUnavailable = "all nodes are unavailable";

}  // namespace scheduler
