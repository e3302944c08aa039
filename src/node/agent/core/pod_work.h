// Blocking calls of the machine for pods, and the end of a pod's folder.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "node/agent/core/agent_loop.h"
#include "node/agent/core/pod_calls.h"

namespace node {

// Owns the calls that wait or are under way, by pod, and the pods whose folder is taken away after them. Loop thread
// only.
class PodWork {
 public:
  struct Callbacks {
    std::function<void(const std::string& uid)> erased;  // nothing of the pod is left on this machine
    std::function<void()> ended;                         // a call is over
  };
  // `allocations`: the folder that read_allocations() reads; empty: there is none.
  PodWork(AgentLoop& loop, std::size_t threads_max, std::string allocations, Callbacks callbacks);

  // Runs `work` off the loop when the pod's turn comes, and `done` back on it. The pod's folder is not taken away
  // meanwhile.
  template <class T>
  void run(const std::string& uid, std::function<T(Runtime&)> work, std::function<void(T)> done,
           PodCalls::Part part = PodCalls::Part::kGoesOn) {
    ++calls_[uid];
    auto [piece, end] = loop_.piece_of<T>(std::move(work), [this, uid, done = std::move(done)](T result) {
      if (--calls_[uid] == 0) calls_.erase(uid);
      done(std::move(result));
      ended(uid);
    });
    queue_.run(uid, std::move(piece), std::move(end), part);
  }
  // Takes away what the machine has of a pod that is gone, after the calls that are under way: a start among them would
  // leave a container behind that belongs to nobody.
  void erase(const std::string& uid);
  bool has(const std::string& uid) const { return calls_.contains(uid); }
  bool is_idle() const { return calls_.empty(); }

 private:
  void ended(const std::string& uid);

  AgentLoop& loop_;
  std::string allocations_;
  Callbacks callbacks_;
  PodCalls queue_;
  std::map<std::string, int> calls_;  // by uid: calls for the pod that wait or are under way
  std::set<std::string> to_erase_;    // uids of pods that are gone, once no call for them is under way
};

}  // namespace node
