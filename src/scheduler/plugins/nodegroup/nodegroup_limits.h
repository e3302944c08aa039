// How much may a queue use of each group of nodes, and how much does it use? (annotation
// volcano.sh/nodegroup-resource-limits)
#pragma once

#include <map>
#include <optional>
#include <string>

#include "scheduler/model/model.h"

namespace scheduler {

inline constexpr std::string_view kNodeGroupLabel = "volcano.sh/nodegroup-name";

class NodeGroupLimits {
 public:
  // Nothing when the queue has no such annotation.
  static std::optional<NodeGroupLimits> of(Model& model, QueueId queue);

  bool valid() const { return valid_; }  // the annotation could be read
  // Whether the queue would exceed what it may use of the group with this request more.
  bool exceeds(const Model& model, const std::string& group, const Request& more);

 private:
  void follow(const Model& model);

  QueueId queue_;
  bool valid_ = true;
  std::map<std::string, std::map<Dim, double>> limits_;  // by group; what is named, also with zero
  std::map<std::string, Resource> used_;                 // as of the position below
  std::uint64_t seen_epoch_ = 0;
  std::size_t seen_touched_ = 0;
};

}  // namespace scheduler
