// Why does a node not take a pod, and how is that told?
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scheduler/model/nodes/node_set.h"

namespace scheduler {

struct Refusal;

enum class FitCode : std::uint8_t {
  kSuccess,
  kError,
  kUnschedulable,  // evicting somebody might help
  kUnresolvable,   // nothing on this node helps
  kWait,
  kSkip,
};

// Counts of reasons over the nodes that were refused. Reasons count once per node that has them. Copies share what they
// hold until one is changed: pods of one shape that find no node have one finding.
class FitErrors {
 public:
  void add(std::string_view reason, std::size_t nodes);
  // Nodes that lack this resource.
  void add_short_of(std::string_view resource, std::size_t nodes);
  // The pod itself is refused, whatever the nodes are like; `nodes` of them are counted.
  void refuse_pod(const Refusal& refusal, std::size_t nodes);
  // Why the pod itself is refused; empty: it is not.
  const std::string& pod_refusal() const { return found().pod_refusal; }
  // Nodes that eviction cannot help.
  void add_unresolvable(const NodeSet& nodes) { edit().unresolvable |= nodes; }
  const NodeSet& unresolvable() const { return found().unresolvable; }
  void set_node_count(std::size_t count) { edit().node_count = count; }
  void set_text(std::string text) { edit().text = std::move(text); }
  void set_hyper_node(std::string name) { edit().hyper_node = std::move(name); }
  // The nodes are those of one domain of a label, "key=value".
  void set_label_domain(std::string name) { edit().label_domain = std::move(name); }
  const std::string& label_domain() const { return found().label_domain; }
  std::size_t node_count() const { return found().node_count; }
  const std::string& hyper_node() const { return found().hyper_node; }
  // The reason counted last: of those that narrowed the nodes down one after the other, the one that left none.
  const std::string& last() const { return found().last; }
  bool last_is_shortage() const { return found().last_is_shortage; }
  // The resource that most nodes lack, the first by name among equals, and how many do.
  std::pair<std::string_view, std::size_t> tightest() const;
  bool has_reasons() const { return !found().reasons.empty(); }
  const std::map<std::string, std::size_t, std::less<>>& reasons() const { return found().reasons; }

  // "0/3 nodes are unavailable: 1 node(s) pod number exceeded, 2 Insufficient cpu." Valid until the next change.
  const std::string& text() const;
  // A digest of all that text(), last() and tightest() say. Copies that share what they hold share it, too.
  std::uint64_t digest() const;

 private:
  struct Found {
    std::map<std::string, std::size_t, std::less<>> reasons;
    NodeSet unresolvable;
    std::size_t node_count = 0;
    std::string text;  // replaces "0/n nodes are unavailable"
    std::string hyper_node;
    std::string label_domain;
    std::string last;
    std::string pod_refusal;
    bool last_is_shortage = false;
    std::map<std::string, std::size_t, std::less<>> short_of;  // of the reasons, by resource
    std::string whole;                                         // what text() says; empty: not made yet
    std::uint64_t digest = 0;                                  // 0: not made yet
  };
  const Found& found() const;
  Found& edit();

  std::shared_ptr<Found> found_;  // null: nothing was found
};

// "2 Pending, 1 Running", sorted as text, of (word, count).
std::string histogram_text(const std::map<std::string, std::int64_t, std::less<>>& counts,
                           std::vector<std::string> extra = {});

inline constexpr std::string_view kPodNumberExceeded = "node(s) pod number exceeded";
inline constexpr std::string_view kAllNodesUnavailable = "all nodes are unavailable";

}  // namespace scheduler
