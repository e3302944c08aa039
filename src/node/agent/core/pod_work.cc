// How the folder of a pod that is gone is taken away once no call for the pod is under way.
#include "node/agent/core/pod_work.h"

#include "node/agent/core/allocation_facts.h"

namespace node {

PodWork::PodWork(AgentLoop& loop, std::size_t threads_max, std::string allocations, Callbacks callbacks)
    : loop_(loop),
      allocations_(std::move(allocations)),
      callbacks_(std::move(callbacks)),
      queue_(loop.env(), threads_max) {}

void PodWork::erase(const std::string& uid) {
  if (calls_.contains(uid)) {
    to_erase_.insert(uid);
    return;
  }
  run<int>(
      uid,
      [uid, folder = allocations_](Runtime& machine) {
        machine.remove(uid, true);
        erase_allocation(folder, uid);
        return 0;
      },
      [this, uid](int) { callbacks_.erased(uid); });
}

void PodWork::ended(const std::string& uid) {
  if (!calls_.contains(uid) && to_erase_.erase(uid) != 0) erase(uid);
  callbacks_.ended();
}

}  // namespace node
