// How the devices of claims are, for the statuses of the pods that have them.
#include <limits>

#include "base/format.h"
#include "node/dra/claim_keeper.h"
#include "node/dra/claim_keeper_state.h"

namespace node {

using api::Json;

namespace {

// Each change is a write of every pod concerned, and a driver may say thousands a second.
constexpr base::Duration kReportPause = base::milliseconds(200);

}  // namespace

void ClaimKeeper::health_changed_by(const std::string& driver, const std::vector<DeviceNews>& news) {
  state_->health_changed(state_->health.update(driver, news, state_->env.uptime()));
}

void ClaimKeeper::health_lost(const std::string& driver) { state_->health_changed(state_->health.lost(driver)); }

Json ClaimKeeper::health_of(const Json& pod, const Json& container) const {
  Json list = Json::array();
  if (!has_claims(pod)) return list;
  for (const ClaimedDevices& row : devices_by_claims(pod, container, state_->claims)) {
    Json devices = Json::array();
    for (const auto& [driver, device] : row.devices) {
      const KnownHealth known = state_->health.of(driver, device->pool, device->device);
      Json one = Json::object(
          {{"resourceID", device->cdi_names.empty() ? base::format("{}/{}/{}", driver, device->pool, device->device)
                                                    : device->cdi_names.front()},
           {"health", name_of(known.health)}});
      if (!known.message.empty()) one.set("message", known.message);
      devices.push_back(std::move(one));
    }
    list.push_back(Json::object({{"name", row.name}, {"resources", std::move(devices)}}));
  }
  return list;
}

void ClaimKeeper::State::health_changed(bool changed) {
  if (health_timer != 0) env.loop().cancel(std::exchange(health_timer, 0));
  const base::Duration next = health.next_end();
  if (next < base::Duration{std::numeric_limits<std::int64_t>::max()})
    health_timer = env.loop().after(next - env.uptime(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->health_timer = 0;
      self->health_changed(self->health.expire(self->env.uptime()));
    });
  if (!changed || health_due) return;
  if (env.uptime() >= health_next) return report_health();
  health_due = true;
  env.loop().after(health_next - env.uptime(), [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->health_due = false;
    self->report_health();
  });
}

void ClaimKeeper::State::report_health() {
  health_next = env.uptime() + kReportPause;
  std::set<std::string> pods;
  for (const auto& [uid, claim] : claims) pods.insert(claim.pods.begin(), claim.pods.end());
  for (const std::string& uid : pods) call.pod_changed(uid);
}

}  // namespace node
