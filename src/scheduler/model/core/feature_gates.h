// Which feature gates are on? The gates of the command line over the defaults of Volcano and of Kubernetes 1.36.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace scheduler {

class FeatureGates {
 public:
  FeatureGates();
  // "Name=true,Other=false", as flags write it. A gate of Kubernetes that changes nothing here is noted; one that
  // nobody knows is an error.
  static base::Result<FeatureGates> parse(std::string_view text);

  bool on(std::string_view name) const {
    const auto found = gates_.find(name);
    return found != gates_.end() && found->second;
  }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::map<std::string, bool, std::less<>> gates_;
  std::vector<std::string> warnings_;
};

}  // namespace scheduler
