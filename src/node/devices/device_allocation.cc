// A pod's way to its devices: plugins are asked one after the other, then all of it is written down.
#include <algorithm>

#include "base/format.h"
#include "node/devices/device_manager_state.h"

namespace node {

namespace {

std::vector<ContainerDevices> devices_of(const HeldPod& pod) {
  std::vector<ContainerDevices> devices;
  for (const HeldContainer& container : pod.containers) devices.push_back(container.devices);
  return devices;
}

}  // namespace

void DeviceManager::State::hold(const std::string& uid, const std::vector<ContainerDevices>& devices) {
  pools.hold(uid, devices);
  if (options.in_use) *options.in_use = pools.held_count();
}

void DeviceManager::State::let_go(const std::string& uid) {
  pools.release(uid);
  if (options.in_use) *options.in_use = pools.held_count();
}

// The devices are taken at once, and are the pod's when that is on disk.
void DeviceManager::State::begin_making(HeldPod wanted, std::map<std::string, SharedCards> shared) {
  hold(wanted.uid, devices_of(wanted));
  held[wanted.uid] = {wanted, Progress::kMaking, {}};
  auto making = std::make_shared<Making>();
  making->work = {.driver_root = options.driver_root,
                  .cdi_folders = options.cdi_folders,
                  .report = report,
                  .plain_processes = plain_processes,
                  .shared = std::move(shared),
                  .pod = std::move(wanted)};
  const HeldPod& pod = making->work.pod;
  for (std::size_t i = 0; i < pod.containers.size(); ++i)
    for (const auto& [resource, ids] : pod.containers[i].devices.ids)
      if (plugins && plugins->has(resource)) making->calls.push_back({i, resource});
  prefer(making);
}

// The devices that one of several containers may have depend on the others of the same plugin: the first are taken.
void DeviceManager::State::prefer(const std::shared_ptr<Making>& making) {
  if (making->calls.size() != 1 || !plugins->options(making->calls[0].resource).prefers) return allocate(making);
  const Making::Call& call = making->calls[0];
  std::vector<std::string>& ids = making->work.pod.containers[call.container].devices.ids[call.resource];
  std::vector<std::string> available = pools.free_of(call.resource);
  available.insert(available.begin(), ids.begin(), ids.end());
  plugins->prefer(call.resource, available, static_cast<std::int64_t>(ids.size()),
                  [weak = weak_from_this(), making](base::Result<std::vector<std::string>> request) {
                    const auto self = weak.lock();
                    if (!self || !self->held.contains(making->work.pod.uid)) return;
                    if (request.ok()) self->preferred(making, *request);
                    self->allocate(making);
                  });
}

// Others may have taken some of them meanwhile.
void DeviceManager::State::preferred(const std::shared_ptr<Making>& making, const std::vector<std::string>& ids) {
  const Making::Call& call = making->calls[0];
  std::vector<std::string>& own = making->work.pod.containers[call.container].devices.ids[call.resource];
  const std::vector<std::string> free = pools.free_of(call.resource);
  const auto may_have = [&](const std::string& id) {
    return std::ranges::find(free, id) != free.end() || std::ranges::find(own, id) != own.end();
  };
  if (!std::ranges::all_of(ids, may_have)) return;
  own = ids;
  hold(making->work.pod.uid, devices_of(making->work.pod));
}

void DeviceManager::State::allocate(const std::shared_ptr<Making>& making) {
  if (making->next == making->calls.size()) return make(making);
  const Making::Call& call = making->calls[making->next];
  const HeldContainer& container = making->work.pod.containers[call.container];
  if (!plugins) return;
  plugins->allocate(call.resource, container.devices.ids.find(call.resource)->second,
                    [weak = weak_from_this(), making](base::Result<PluginAllocation> allocation) {
                      const auto self = weak.lock();
                      if (!self || !self->held.contains(making->work.pod.uid)) return;
                      if (!allocation.ok()) return self->made(making->work.pod.uid, allocation.take_error());
                      HeldContainer& of = making->work.pod.containers[making->calls[making->next].container];
                      of.grant.add(allocation->grant);
                      std::vector<std::string>& names = making->work.cdi_names[of.devices.container];
                      names.insert(names.end(), allocation->cdi_names.begin(), allocation->cdi_names.end());
                      ++making->next;
                      self->allocate(making);
                    });
}

void DeviceManager::State::make(const std::shared_ptr<Making>& making) {
  const std::string uid = making->work.pod.uid;
  auto result = std::make_shared<base::Result<HeldPod>>(HeldPod{});
  env.offload(
      [making, result, folder = folder] {
        *result = with_grants(std::move(making->work));
        if (!result->ok()) return;
        if (base::Status written = write_held(folder, **result); !written.ok()) *result = written.take_error();
      },
      [weak = weak_from_this(), result, uid] {
        if (const auto self = weak.lock()) self->made(uid, std::move(*result));
      });
}

void DeviceManager::State::made(const std::string& uid, base::Result<HeldPod> pod) {
  const auto found = held.find(uid);
  if (found == held.end()) return env.offload([folder = folder, uid] { erase_held(folder, uid); }, [] {});
  if (pod.ok()) {
    found->second.pod = *std::move(pod);
    found->second.progress = Progress::kReady;
  } else {
    found->second.progress = Progress::kFailed;
    found->second.failure = base::format("Allocate failed due to {}, which is unexpected", pod.error().message);
    let_go(uid);
  }
  call.pod_changed(uid);
}

DeviceManager::Admission DeviceManager::prepare(const std::string& uid, const std::string& container, int attempt,
                                                std::string& why) {
  State& state = *state_;
  const auto found = state.held.find(uid);
  if (found == state.held.end() || !state.plugins) return Admission::kThere;
  const std::string key = uid + "/" + container;
  State::Preparation& preparation = state.preparations[key];
  const bool known = preparation.attempt == attempt + 1;
  if (known && preparation.progress == Progress::kMaking) return Admission::kWait;
  if (known && preparation.progress == Progress::kReady) return Admission::kThere;
  if (known) {
    why = preparation.failure;
    state.preparations.erase(key);
    return Admission::kRefused;
  }
  preparation = {attempt + 1, Progress::kReady, {}};
  auto left = std::make_shared<int>(0);
  for (const HeldContainer& one : found->second.pod.containers) {
    if (one.devices.container != container) continue;
    for (const auto& [resource, ids] : one.devices.ids) {
      if (!state.plugins->options(resource).pre_start_required) continue;
      ++*left;
      preparation.progress = Progress::kMaking;
      state.plugins->pre_start(resource, ids, [weak = std::weak_ptr(state_), key, uid, left](const base::Status& done) {
        const auto self = weak.lock();
        const auto entry = self ? self->preparations.find(key) : decltype(self->preparations.find(key)){};
        if (!self || entry == self->preparations.end()) return;
        if (!done.ok()) {
          entry->second.progress = Progress::kFailed;
          entry->second.failure = done.error().message;
        } else if (entry->second.progress == Progress::kMaking && --*left == 0) {
          entry->second.progress = Progress::kReady;
        }
        if (entry->second.progress != Progress::kMaking) self->call.pod_changed(uid);
      });
    }
  }
  return preparation.progress == Progress::kReady ? Admission::kThere : Admission::kWait;
}

}  // namespace node
