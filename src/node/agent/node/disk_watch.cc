// How the disk use of pods is measured, and what follows from it.
#include "node/agent/node/disk_watch.h"

#include "api/meta/resource.h"
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

DiskWatch::DiskWatch(AgentLoop& loop, const PodTable& pods, PodEvents& events, PodSteps& steps)
    : loop_(loop), pods_(pods), events_(events), steps_(steps) {}

void DiskWatch::stop() {
  stopped_ = true;
  *given_up_ = true;
}

void DiskWatch::look_later() {
  loop_.after(kDiskPeriod, [this] { look(); });
}

void DiskWatch::look() {
  if (stopped_) return;
  for (const auto& [uid, worker] : pods_.workers()) {
    if (!can_be_evicted(*worker)) continue;
    if (auto places = disk_places(worker->pod, worker->state)) due_.push_back(*std::move(places));
  }
  measure_next();
}

// One after the other, so that no more than one thread and one disk's worth of reading is ever spent on it.
void DiskWatch::measure_next() {
  if (stopped_) return;
  if (due_.empty()) return look_later();
  DiskPlaces places = std::move(due_.front());
  due_.pop_front();
  const std::string uid = places.pod_uid;
  loop_.off_loop<DiskUse>([places = std::move(places),
                           cancelled = given_up_](Runtime& machine) { return machine.disk_use(places, *cancelled); },
                          [this, uid](const DiskUse& use) {
                            PodWorker* worker = pods_.find(uid);
                            if (worker != nullptr && can_be_evicted(*worker)) {
                              if (const auto why = beyond_disk_limits(worker->pod, use)) evict(*worker, *why);
                            }
                            measure_next();
                          });
}

void DiskWatch::evict(PodWorker& worker, const std::string& why) {
  worker.state.failure_reason = kEvicted;
  worker.state.failure_message = why;
  for (ContainerState& container : worker.state.containers) container.doom_grace = kEvictionGrace;
  events_.record(worker.pod, "Warning", "Evicted", why);
  steps_.step(std::string(api::uid_of(worker.pod)));
}

}  // namespace node
