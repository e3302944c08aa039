// How resource claims are prepared for pods and given back.
#include "node/agent/pods/pod_claims.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/pod/pod_plan.h"

namespace node {

PodClaims::PodClaims(AgentLoop& loop, client::Client& client, const Options& options,
                     std::unique_ptr<DraDrivers> drivers, const PodTable& pods, PodEvents& events, PodSteps& steps,
                     std::function<void()> released)
    : pods_(pods),
      events_(events),
      steps_(steps),
      drivers_(std::move(drivers)),
      keeper_(loop.env(), client, drivers_.get(), {folder(options), options.devices.cdi_folders, options.metrics},
              callbacks(std::move(released))),
      slices_(loop.env(), client, options.node_name) {}

std::string PodClaims::folder(const Options& options) {
  return options.data_dir.empty() ? std::string() : options.data_dir + "/claims";
}

ClaimKeeper::Callbacks PodClaims::callbacks(std::function<void()> released) {
  return {.pod_changed =
              [this, released](const std::string& uid) {
                steps_.step(uid);
                released();
              },
          .release_failed =
              [this, released](const std::string& uid, const std::string& message) {
                if (const PodWorker* worker = pods_.find(uid))
                  events_.record(worker->pod, "Warning", "FailedUnprepareDynamicResources",
                                 "Failed to unprepare dynamic resources: " + message);
                else
                  base::log_warning("node", base::format("pod {}: {}", uid, message));
                released();
              }};
}

// Drivers come after what they published before is gone: they publish it again.
void PodClaims::start(LocalClaims kept) {
  keeper_.start(std::move(kept));
  if (!drivers_) return;
  slices_.wipe_all([this] {
    if (stopping_) return;
    drivers_->start({.came = [this](const std::string& driver) { driver_came(driver); },
                     .gone = [this](const std::string& driver) { slices_.driver_gone(driver); },
                     .warn =
                         [this](const std::string& message) {
                           base::log_warning("node", message);
                           events_.warn_about_node("DRAPlugin", message);
                         },
                     .health = [this](const std::string& driver,
                                      const std::vector<DeviceNews>& news) { keeper_.health_changed_by(driver, news); },
                     .health_lost = [this](const std::string& driver) { keeper_.health_lost(driver); }});
  });
}

void PodClaims::close() {
  if (drivers_) drivers_->stop();
}

ClaimKeeper::Answer PodClaims::prepare(const PodWorker& worker, std::string& why) {
  return keeper_.prepare(worker.pod, why);
}

void PodClaims::driver_came(const std::string& driver) {
  slices_.driver_came(driver);
  keeper_.driver_came();
  std::vector<std::string> waiting;
  for (const auto& [uid, worker] : pods_.workers())
    if (is_to_be_made(worker->state.sandbox) && !worker->settled && has_claims(worker->pod)) waiting.push_back(uid);
  for (const std::string& uid : waiting) {
    if (PodWorker* worker = pods_.find(uid)) worker->state.prepare_at = {};
    steps_.step(uid);
  }
}

bool PodClaims::give(const PodWorker& worker, const ContainerState& container, base::Result<ContainerSpec>& spec) {
  if (!spec.ok()) return true;
  DeviceGrant grant;
  std::string why;
  const ClaimKeeper::Answer answer =
      keeper_.grant(worker.pod, container_spec(worker.pod, container), spec->attempt, grant, why);
  if (answer == ClaimKeeper::Answer::kWait) return false;
  if (answer == ClaimKeeper::Answer::kFailed)
    spec = base::make_error(base::Code::kUnavailable, why);
  else
    spec->devices.add(grant);
  return true;
}

void PodClaims::release(const PodWorker& worker) {
  for (const ContainerState& container : worker.state.containers)
    if (container.phase == RunPhase::kStarting || container.phase == RunPhase::kRunning) return;
  if (worker.settled || worker.state.stopping || api::is_deleting(worker.pod) ||
      worker.state.sandbox == Sandbox::kGone || is_over(worker.pod, worker.state))
    keeper_.release(std::string(api::uid_of(worker.pod)));
}

// An agent that stops does not wait: the next one goes on.
bool PodClaims::awaits_drivers(const PodWorker& worker) const {
  return !stopping_ && keeper_.holds(std::string(api::uid_of(worker.pod)));
}

}  // namespace node
