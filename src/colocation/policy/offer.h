// The amounts of idle processors and memory that a node offers to offline pods (agent.md 6). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/time.h"
#include "colocation/policy/pod_facts.h"

namespace colocation {

struct NodeAmounts {
  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;

  bool operator==(const NodeAmounts&) const = default;
};

struct OfferInput {
  NodeAmounts allocatable;
  NodeAmounts used;                      // by online work
  NodeAmounts foreseen;                  // what online work is likely to use within the hour; 0: nothing is known
  std::int64_t exclusive_cpu_milli = 0;  // of pods that have processors of their own
  std::int64_t ratio_percent = 60;
  std::string_view types = "cpu,memory";
};
NodeAmounts offer_for(const OfferInput& input);

// The last ten offers; newer ones weigh twice as much as the one before.
class OfferRing {
 public:
  void add(const NodeAmounts& offer);
  NodeAmounts mean() const;
  void clear() { count_ = 0; }
  bool empty() const { return count_ == 0; }

 private:
  std::array<NodeAmounts, 10> offers_ = {};
  std::size_t count_ = 0, next_ = 0;
};

// COMPAT(colocation-report-pause): an offer that differs by ten percent at most is told after five minutes, not each
// minute.
inline constexpr base::Duration kReportPause = base::minutes(5);
bool must_report(const NodeAmounts& reported, const NodeAmounts& offer, base::Duration since_report);

// The amounts in the node's status now; absent counts as 0.
NodeAmounts reported_offer(const api::Json& node, const BatchNames& names);
bool reports_offer(const api::Json& node, const BatchNames& names);
// A merge patch of the status; null takes the resources away. Null in all: nothing would change.
api::Json offer_patch(const api::Json& node, const BatchNames& names, const NodeAmounts* offer);

// Allocatable processors and memory of a Node.
NodeAmounts allocatable_of(const api::Json& node);

}  // namespace colocation
