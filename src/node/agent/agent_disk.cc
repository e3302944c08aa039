// Which pods go because they keep more on the disk than they may.
#include "node/agent/agent_state.h"
#include "node/pod/disk_limits.h"
#include "node/pod/pod_plan.h"

namespace node {

namespace {

// As often as a kubelet looks, and what it lets an evicted pod's containers have to end.
constexpr base::Duration kDiskPeriod = base::seconds(10);
constexpr base::Duration kEvictionGrace = base::seconds(1);

bool can_be_evicted(const PodWorker& worker) {
  return worker.state.sandbox == Sandbox::kReady && worker.state.failure_reason.empty() && !worker.settled &&
         !api::is_deleting(worker.pod) && !is_over(worker.pod, worker.state);
}

}  // namespace

void Agent::State::look_at_disk_later() {
  env.loop().after(kDiskPeriod, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look_at_disk();
  });
}

void Agent::State::look_at_disk() {
  if (stopping) return;
  for (const auto& [uid, worker] : workers) {
    if (!can_be_evicted(*worker)) continue;
    if (auto places = disk_places(worker->pod, worker->state)) disk_due.push_back(*std::move(places));
  }
  measure_next();
}

// One after the other, so that no more than one thread and one disk's worth of reading is ever spent on it.
void Agent::State::measure_next() {
  if (stopping) return;
  if (disk_due.empty()) return look_at_disk_later();
  DiskPlaces places = std::move(disk_due.front());
  disk_due.pop_front();
  const std::string uid = places.pod_uid;
  off_loop<DiskUse>([places = std::move(places),
                     cancelled = disk_given_up](Runtime& machine) { return machine.disk_use(places, *cancelled); },
                    [this, uid](const DiskUse& use) {
                      PodWorker* worker = find(uid);
                      if (worker != nullptr && can_be_evicted(*worker)) {
                        if (const auto why = beyond_disk_limits(worker->pod, use)) evict(*worker, *why);
                      }
                      measure_next();
                    });
}

void Agent::State::evict(PodWorker& worker, const std::string& why) {
  worker.state.failure_reason = kEvicted;
  worker.state.failure_message = why;
  for (ContainerState& container : worker.state.containers) container.doom_grace = kEvictionGrace;
  event(worker.pod, "Warning", "Evicted", why);
  step(std::string(api::uid_of(worker.pod)));
}

}  // namespace node
