// The values of control groups: what pods' groups are to have.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "colocation/config_keeper.h"
#include "colocation/journal.h"
#include "colocation/machine/group_writer.h"
#include "colocation/measured.h"

namespace colocation {

// Owns the writer of groups, the throttle of processors, and the problems of pods. Asks the view for pods and the
// configuration for their values, and adds to the journal. Loop thread only, but for the writer, which is used on the
// worker.
class GroupKeeper {
 public:
  GroupKeeper(const AgentMeans& means, const NodeView& view, const ConfigKeeper& config, AgentEvents& events,
              Journal& journal);

  void start();
  void stop() { stopped_ = true; }
  // A new configuration is in force.
  void begin_anew();
  void write(const MachineReading& look, const Measured& measured, rt::Worker& files);
  // Gives all groups what they had before, then calls `done`.
  void take_back(rt::Worker& files, std::function<void()> done);
  // Why nothing is kept; empty: it is.
  const std::string& trouble() const { return trouble_; }
  std::size_t failed_writes() const { return failed_writes_; }
  const std::set<std::string>& pod_problems() const { return pod_problems_; }

 private:
  std::vector<GroupValue> values_of_pods(const MachineReading& look);
  void report_pod(const PodFacts& pod, const std::vector<std::string>& problems);
  void add_throttle(const Measured& measured, std::vector<GroupValue>& values);
  void written(const WriteReport& report);

  const AgentMeans& means_;
  const NodeView& view_;
  const ConfigKeeper& config_;
  AgentEvents& events_;
  Journal& journal_;
  std::shared_ptr<GroupWriter> writer_;  // on the worker
  bool stopped_ = false;
  ThrottleState throttle_;
  std::optional<GroupValue> throttle_value_;
  std::string trouble_;
  std::size_t failed_writes_ = 0;
  std::set<std::string> pod_problems_;
};

}  // namespace colocation
