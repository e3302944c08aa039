// Resource claims as the agent's pods have them: their drivers, what containers get, the end.
#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/agent/agent_state.h"

namespace node {

using api::Json;

std::string Agent::State::claims_folder() const {
  return options.data_dir.empty() ? std::string() : options.data_dir + "/claims";
}

ClaimKeeper::Callbacks Agent::State::claim_callbacks() {
  return {.pod_changed =
              [this](const std::string& uid) {
                step(uid);
                check_stopped();
              },
          .release_failed =
              [this](const std::string& uid, const std::string& message) {
                if (const PodWorker* worker = find(uid))
                  event(worker->pod, "Warning", "FailedUnprepareDynamicResources",
                        "Failed to unprepare dynamic resources: " + message);
                else
                  base::log_warning("node", base::format("pod {}: {}", uid, message));
                check_stopped();
              }};
}

// Drivers come after what they published before is gone: they publish it again.
void Agent::State::begin_claims(LocalClaims kept) {
  resource_claims.start(std::move(kept));
  if (!drivers) return;
  device_slices.wipe_all([this] {
    if (stopping) return;
    drivers->start(
        {.came = [this](const std::string& driver) { driver_came(driver); },
         .gone = [this](const std::string& driver) { device_slices.driver_gone(driver); },
         .warn =
             [warn = device_callbacks().warn](const std::string& message) {
               base::log_warning("node", message);
               warn("DRAPlugin", message);
             },
         .health = [this](const std::string& driver,
                          const std::vector<DeviceNews>& news) { resource_claims.health_told(driver, news); },
         .health_lost = [this](const std::string& driver) { resource_claims.health_lost(driver); }});
  });
}

void Agent::State::driver_came(const std::string& driver) {
  device_slices.driver_came(driver);
  resource_claims.driver_came();
  std::vector<std::string> waiting;
  for (const auto& [uid, worker] : pods.workers())
    if (is_to_be_made(worker->state.sandbox) && !worker->settled && has_claims(worker->pod)) waiting.push_back(uid);
  for (const std::string& uid : waiting) {
    if (PodWorker* worker = find(uid)) worker->state.prepare_at = {};
    step(uid);
  }
}

bool Agent::State::give_claims(const PodWorker& worker, const ContainerState& container,
                               base::Result<ContainerSpec>& spec) {
  if (!spec.ok()) return true;
  DeviceGrant grant;
  std::string why;
  const ClaimKeeper::Answer answer =
      resource_claims.grant(worker.pod, container_spec(worker.pod, container), spec->attempt, grant, why);
  if (answer == ClaimKeeper::Answer::kWait) return false;
  if (answer == ClaimKeeper::Answer::kFailed)
    spec = base::make_error(base::Code::kUnavailable, why);
  else
    spec->devices.add(grant);
  return true;
}

// Before the pod is told to be over, so that nobody is given a device that its driver has not taken back.
void Agent::State::release_claims(const PodWorker& worker) {
  for (const ContainerState& container : worker.state.containers)
    if (container.phase == RunPhase::kStarting || container.phase == RunPhase::kRunning) return;
  if (worker.settled || worker.state.stopping || api::is_deleting(worker.pod) ||
      worker.state.sandbox == Sandbox::kGone || is_over(worker.pod, worker.state))
    resource_claims.release(std::string(api::uid_of(worker.pod)));
}

// How the devices that containers have are, by claims and by resources.
void Agent::State::tell_health(const PodWorker& worker, Json& status) const {
  const std::string uid(api::uid_of(worker.pod));
  for (const ContainerState& container : worker.state.containers) {
    if (container.ephemeral) continue;
    const std::string list(status_list(container));
    for (std::size_t i = 0; i < status[list].size(); ++i) {
      if (status[list][i]["name"].as_string() != container.name) continue;
      Json health = devices.health_of(uid, container.name);
      if (has_claims(worker.pod)) {
        const Json by_claims = resource_claims.health_of(worker.pod, container_spec(worker.pod, container));
        for (const Json& one : by_claims.items()) health.push_back(one);
      }
      if (!health.empty()) status.edit(list).edit(i).set("allocatedResourcesStatus", std::move(health));
    }
  }
}

// An agent that stops does not wait: the next one goes on.
bool Agent::State::awaits_drivers(const PodWorker& worker) const {
  return !stopping && resource_claims.holds(std::string(api::uid_of(worker.pod)));
}

}  // namespace node
