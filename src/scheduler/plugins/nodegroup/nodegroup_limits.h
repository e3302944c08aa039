// How much may a queue use of each group of nodes? (annotation volcano.sh/nodegroup-resource-limits)
#pragma once

#include <map>
#include <optional>
#include <string>

#include "scheduler/model/model.h"

namespace scheduler {

class NodeGroupLimits {
 public:
  using Amounts = std::map<Dim, double>;  // what is named, also with zero

  // Empty when the queue has no such annotation.
  static std::optional<NodeGroupLimits> of(Model& model, QueueId queue);

  bool valid() const { return valid_; }  // the annotation could be read
  const Amounts* of_group(const std::string& group) const {
    const auto found = limits_.find(group);
    return found == limits_.end() ? nullptr : &found->second;
  }
  // Whether a request more than is used would exceed the limit.
  static bool exceeds(const Amounts& limit, const Sums& used, const Request& more);

 private:
  bool valid_ = true;
  std::map<std::string, Amounts> limits_;  // by group
};

}  // namespace scheduler
