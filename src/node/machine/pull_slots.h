// Which pulls may begin: a registry that does not answer holds up its own images, and nothing else of the node. Pure.
#pragma once

#include <map>
#include <string>

namespace node {

class PullSlots {
 public:
  // False: it waits. The threads that pull also start and end pods, so that some are always left.
  bool take(const std::string& registry) {
    int& own = of_[registry];
    if (own >= kOfRegistryMax || all_ >= kAllMax) return false;
    ++own;
    ++all_;
    return true;
  }
  void give_back(const std::string& registry) {
    --all_;
    if (--of_[registry] == 0) of_.erase(registry);
  }

 private:
  static constexpr int kOfRegistryMax = 3;
  static constexpr int kAllMax = 5;
  std::map<std::string, int> of_;
  int all_ = 0;
};

}  // namespace node
