// The pods of this node: the API's objects, and a worker for each of them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "client/watch/informer.h"
#include "node/agent/core/allocation_facts.h"
#include "node/pod/pod_state.h"
#include "node/pod/resize.h"

namespace node {

// One pod of this node. Only the agent's loop touches it.
struct PodWorker {
  api::Json pod;     // as last seen, with what is set aside for it in place of what its spec asks for
  api::Json wanted;  // as last seen
  ContainerAmounts set_aside;
  std::optional<PodAmounts> pod_held;  // by its control group; nothing: not known
  Allocation written;                  // on disk
  std::shared_ptr<AllocationFile> allocation_file = std::make_shared<AllocationFile>();
  bool freed = false;  // it is over, and those that wait for room were told
  PodState state;
  bool settled = false;  // it was over before this agent began: nothing is reported
  bool gone = false;     // its object is deleted
  bool refused = false;
  bool finalizing = false;  // the last DELETE is on its way
  api::Json reported;       // the status last sent
  bool reporting = false;
  bool stale_report = false;  // a write failed: send again
  int report_failures = 0;
  rt::Loop::TimerId timer = 0;
  bool stepping = false;
  // The pod's containers will not be started any more: its pulls end.
  std::shared_ptr<std::atomic<bool>> given_up = std::make_shared<std::atomic<bool>>(false);
};

// Whether the pod has begun and has not ended.
bool has_begun(const PodWorker& worker);

// Owns the workers and the watch of the node's pods. Loop thread only.
class PodTable {
 public:
  using Workers = std::map<std::string, std::unique_ptr<PodWorker>>;  // by uid

  PodTable(client::Client& client, rt::Env& env, const std::string& node_name);

  client::Informer& watch() { return watch_; }
  // True once all pods that there are have a worker.
  bool synced() const { return watch_.synced(); }
  // True once also the pods that no longer exist were told apart from them.
  bool is_complete() const { return complete_; }
  void set_complete() { complete_ = true; }
  PodWorker* find(const std::string& uid) const;
  bool has(const std::string& uid) const { return workers_.contains(uid); }
  const Workers& workers() const { return workers_; }
  PodWorker& add(const std::string& uid);
  void erase(const std::string& uid) { workers_.erase(uid); }

 private:
  client::Informer watch_;
  bool complete_ = false;
  Workers workers_;
};

}  // namespace node
