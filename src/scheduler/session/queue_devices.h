// The devices that pods of each queue hold, beside what they ask for as resources. For the status of queues.
//
// Devices of claims count as `deviceclass/CLASS` and `DIMENSION.deviceclass/CLASS`, once in each queue whose pods share
// the claim; where cards are shared, what of them was given out counts in place of what was asked for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "scheduler/framework/plugin.h"
#include "scheduler/model/model.h"

namespace scheduler {

class QueueDevices {
 public:
  // In thousandths, so that what is added and taken away again leaves nothing behind. Wide enough for sums of whatever
  // 64 bits can say.
  __extension__ using Amount = __int128;
  using Amounts = std::map<Dim, Amount>;

  // Follows the jobs that may have changed since the last call; `all`: every one, as when plugins answer otherwise.
  void settle(Model& model, const PluginSet& plugins, const std::vector<JobId>& changed, bool all);
  // To be added to what the queue's pods ask for, those below it included. Some may be 0, or negative.
  const Amounts& of(QueueId queue) const;

 private:
  struct Holding {
    QueueId queue;
    Amounts amounts;
    std::map<std::string, Amounts> claims;  // by key
  };
  struct Claim {
    int jobs = 0;
    Amounts amounts;
  };
  struct Uses {
    std::string uid;  // of the claim that was counted
    std::set<std::uint32_t> jobs;
  };
  Holding look(Model& model, const PluginSet& plugins, const Job& job) const;
  void count(const Model& model, const Holding& holding, int sign);
  void take_out(const Model& model, JobId job);
  void take_in(Model& model, const PluginSet& plugins, const Job& job);

  std::unordered_map<std::uint32_t, Holding> jobs_;
  std::unordered_map<std::uint32_t, Amounts> sums_;                         // by queue
  std::unordered_map<std::uint32_t, std::map<std::string, Claim>> claims_;  // by queue
  std::map<std::string, Uses> uses_;  // by the claim's key, also of claims that are not there
  std::uint32_t queues_seen_ = 0;
  std::uint64_t claims_seen_ = 0;
};

}  // namespace scheduler
