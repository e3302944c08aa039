// How volumes of running pods are laid out anew.
#include "node/agent/pods/pod_volumes.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/log.h"

namespace node {

using api::Json;

PodVolumes::PodVolumes(AgentLoop& loop, const PodTable& pods, PodWork& work, const PodLookups& lookups)
    : loop_(loop), pods_(pods), work_(work), lookups_(lookups) {}

void PodVolumes::object_changed(const char* kind, const Json& object) {
  changed_.emplace(kind, api::key_of(object));
  if (std::exchange(due_, true)) return;
  loop_.post([this] {
    due_ = false;
    const std::set<VolumeObject> changed = std::exchange(changed_, {});
    for (const auto& [uid, worker] : pods_.workers())
      if (std::ranges::any_of(live_objects_of(worker->pod),
                              [&](const VolumeObject& object) { return changed.contains(object); }))
        refresh(uid);
  });
}

void PodVolumes::refresh(const std::string& uid) {
  const PodWorker* worker = pods_.find(uid);
  if (worker == nullptr || worker->state.sandbox != Sandbox::kReady || worker->settled) return;
  std::size_t room = kVolumeBytesMax;
  const Lookups look = lookups_.of(*worker);
  LaidOut& laid_out = pods_laid_out_[uid];
  for (const Json& volume : worker->pod["spec"]["volumes"].items()) {
    if (!is_live_volume(volume)) continue;
    auto spec = volume_of(worker->pod, volume, look, room);
    if (!spec.ok()) continue;                               // running pods keep what they have
    if (laid_out.under_way.contains(spec->name)) continue;  // looked at again when that is done
    std::string version = version_of(*spec);
    std::string& known = laid_out.versions[spec->name];
    if (known == version) continue;
    known = std::move(version);
    laid_out.under_way.insert(spec->name);
    work_.run<base::Status>(
        uid, [uid, spec = *spec](Runtime& machine) { return machine.update_volume(uid, spec); },
        [this, uid, name = spec->name](base::Status updated) {
          if (!updated.ok()) base::log_error("node", updated.error().message);
          if (!pods_.has(uid)) return;
          pods_laid_out_[uid].under_way.erase(name);
          refresh(uid);
        });
  }
}

void PodVolumes::laid_out(const std::string& uid, const std::vector<VolumeSpec>& volumes) {
  for (const VolumeSpec& volume : volumes)
    if (volume.kind == VolumeSpec::Kind::kFiles) pods_laid_out_[uid].versions[volume.name] = version_of(volume);
}

}  // namespace node
