// How reports become pools, and pods' wishes become grants.
#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/log.h"
#include "node/devices/device_manager_state.h"
#include "node/devices/driver_files.h"
#include "node/devices/gpu_labels.h"

namespace node {

namespace {

// After a start devices may be bound to pods before they have been found again.
constexpr base::Duration kFirstLook = base::seconds(60);

// Also while nobody knows yet which of these there are.
bool names_gpus(const Json& pod) {
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items())
      for (const Json::Member& member : container["resources"]["limits"].members())
        if (member.name().starts_with("nvidia.com/")) return true;
  return false;
}

}  // namespace

bool has_nvidia_driver(const DeviceOptions& options) {
  return options.enabled && !options.driver_root.empty() && !find_nvml(options.driver_root).empty();
}

DeviceManager::DeviceManager(rt::Env& env, DeviceOptions options, std::string folder, Callbacks callbacks)
    : state_(std::make_shared<State>(env, std::move(options), std::move(folder), std::move(callbacks))) {}
DeviceManager::~DeviceManager() { stop(); }

void DeviceManager::start(std::vector<HeldPod> held, bool plain_processes) {
  State& state = *state_;
  state.plain_processes = plain_processes;
  for (HeldPod& pod : held) {
    std::vector<ContainerDevices> devices;
    for (const HeldContainer& container : pod.containers) devices.push_back(container.devices);
    state.hold(pod.uid, devices);
    const std::string uid = pod.uid;
    state.held[uid] = {std::move(pod), Progress::kReady, {}};
  }
  if (!state.options.enabled) return;
  state.begin_plugins();
  if (state.options.driver_root.empty())
    state.looked = true;
  else
    state.begin_watch();
  state.env.loop().after(kFirstLook, [weak = std::weak_ptr(state_)] {
    if (const auto self = weak.lock()) self->first_look_over();
  });
}

void DeviceManager::stop() {
  state_->watch.reset();
  state_->plugins.reset();
}

void DeviceManager::State::first_look_over() {
  looked = true;
  awaited.clear();
  wake_waiting();
}

void DeviceManager::State::begin_watch() {
  const std::string library = find_nvml(options.driver_root);
  has_driver = !library.empty() && !options.watch_command.empty();
  if (!has_driver) return void(looked = true);
  // Pods that were bound before this start wait for their cards.
  if (options.sharing == GpuSharing::kNone) pools.set(kGpuResource, {});
  std::vector<std::string> command = options.watch_command;
  command.push_back(library);
  watch = std::make_unique<GpuWatch>(std::move(command),
                                     [weak = weak_from_this(), &loop = env.loop()](base::Result<GpuReport> gpu_report) {
                                       loop.post([weak, gpu_report = std::move(gpu_report)]() mutable {
                                         if (const auto self = weak.lock()) self->reported(std::move(gpu_report));
                                       });
                                     });
}

void DeviceManager::State::reported(base::Result<GpuReport> gpu_report) {
  if (!gpu_report.ok()) return silent(gpu_report.error().message);
  const GpuReport before = std::exchange(report, *std::move(gpu_report));
  // A card that has gone is not forgotten: somebody may have it.
  for (const Gpu& old : before.gpus) {
    const bool there = std::ranges::any_of(report.gpus, [&](const Gpu& gpu) { return gpu.uuid == old.uuid; });
    if (there) continue;
    report.gpus.push_back(old);
    report.gpus.back().ill = "it is gone from the bus";
  }
  std::ranges::stable_sort(report.gpus, {}, &Gpu::index);
  const bool first = !std::exchange(looked, true);
  const bool back = !std::exchange(trouble, {}).empty();
  if (!first && !back && report == before) return;
  if (first) base::log_info("node", base::format("{} NVIDIA GPUs, driver {}", report.gpus.size(), report.driver));
  warn_of_illness(before);
  fill_pools();
  wake_waiting();
  call.node_changed();
}

void DeviceManager::State::silent(const std::string& why) {
  looked = true;
  if (trouble != why) {
    base::log_warning("node", "NVIDIA GPUs: " + why);
    if (!report.gpus.empty()) call.warn("GPUUnhealthy", base::format("no GPU can be given to pods: {}", why));
  }
  trouble = why;
  fill_pools();
  wake_waiting();
  call.node_changed();
}

void DeviceManager::State::warn_of_illness(const GpuReport& before) {
  for (const Gpu& gpu : report.gpus) {
    const auto old = std::ranges::find(before.gpus, gpu.uuid, &Gpu::uuid);
    const std::string was = old == before.gpus.end() ? std::string() : old->ill;
    if (gpu.ill == was) continue;
    if (gpu.ill.empty())
      base::log_info("node", base::format("GPU {} works again", gpu.uuid));
    else
      call.warn("GPUUnhealthy", base::format("GPU {} ({}, {}) is not given to pods any more: {}", gpu.uuid, gpu.name,
                                             gpu.bus_id, gpu.ill));
  }
}

void DeviceManager::State::fill_pools() {
  if (options.sharing != GpuSharing::kNone) return;
  std::map<std::string, std::vector<Device>> devices{{kGpuResource, {}}};
  for (const auto& [resource, known] : pools.all())
    if (is_gpu_resource(resource)) devices[resource];
  for (const Gpu& gpu : report.gpus) {
    const bool healthy = gpu.ill.empty() && trouble.empty();
    if (!gpu.mig) devices[kGpuResource].push_back({gpu.uuid, healthy, -1});
    for (const GpuInstance& instance : gpu.instances)
      devices[mig_resource(instance)].push_back({instance.uuid, healthy, -1});
  }
  for (auto& [resource, list] : devices) set_pool(resource, std::move(list));
}

void DeviceManager::State::set_pool(const std::string& resource, std::vector<Device> devices) {
  for (std::string& uid : pools.set(resource, std::move(devices))) waiting.insert(std::move(uid));
}

void DeviceManager::State::wake_waiting() {
  for (const std::string& uid : std::exchange(waiting, {})) call.pod_changed(uid);
}

Json DeviceManager::health_of(const std::string& uid, std::string_view container) const {
  return state_->pools.health_of(uid, container);
}

DeviceManager::Amounts DeviceManager::amounts() const {
  const State& state = *state_;
  Amounts amounts;
  // Before the first answer the Node keeps what it had.
  for (const auto& [resource, amount] : state.pools.amounts()) {
    if (is_gpu_resource(resource) && !state.looked) continue;
    amounts.capacity[resource] = api::Quantity::from_int(amount.capacity);
    amounts.allocatable[resource] = api::Quantity::from_int(amount.allocatable);
  }
  if (!state.has_driver || !state.looked) return amounts;
  for (const auto& [resource, amount] : shared_amounts(state.options.sharing, state.report)) {
    amounts.capacity[resource] = api::Quantity::from_int(amount);
    amounts.allocatable[resource] = api::Quantity::from_int(state.trouble.empty() ? amount : 0);
  }
  return amounts;
}

std::map<std::string, std::string> DeviceManager::labels() const { return gpu_labels(state_->report); }

std::map<std::string, std::string> DeviceManager::annotations() const {
  return shared_annotations(state_->options.sharing, state_->report);
}

bool DeviceManager::State::awaits(const Json& pod) const {
  if (awaited.empty()) return false;
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items())
      for (const auto& [resource, count] : pools.asked(container))
        if (awaited.contains(resource)) return true;
  return false;
}

bool DeviceManager::settled() const { return state_->options.enabled && state_->looked; }

std::string DeviceManager::summary() const {
  const State& state = *state_;
  if (!state.looked) return {};
  if (!state.has_driver) return "no NVIDIA driver found";
  if (!state.trouble.empty()) return "no NVIDIA GPUs: " + state.trouble;
  std::map<std::string, int> models;
  for (const Gpu& gpu : state.report.gpus) ++models[gpu.name];
  std::string names;
  for (const auto& [name, count] : models) names += (names.empty() ? "" : ", ") + name;
  return base::format("{} NVIDIA GPU{}{}, driver {}", state.report.gpus.size(),
                      state.report.gpus.size() == 1 ? "" : "s", names.empty() ? "" : " (" + names + ")",
                      state.report.driver);
}

DeviceManager::Admission DeviceManager::admit(const Json& pod, std::string& why) {
  State& state = *state_;
  const std::string uid(api::uid_of(pod));
  if (const auto known = state.held.find(uid); known != state.held.end()) {
    why = known->second.failure;
    return known->second.progress == Progress::kReady    ? Admission::kThere
           : known->second.progress == Progress::kMaking ? Admission::kWait
                                                         : Admission::kRefused;
  }
  const bool shares = asks_for_share(state.options.sharing, pod);
  const bool unsure = (state.has_driver && !state.looked && names_gpus(pod)) || state.awaits(pod);
  if (!shares && !unsure && !state.pools.asks(pod)) return Admission::kThere;
  if (unsure || (shares && !state.looked)) {
    state.waiting.insert(uid);
    return Admission::kWait;
  }
  auto chosen = state.pools.choose(pod);
  if (!chosen.ok()) {
    why = chosen.error().message;
    return Admission::kRefused;
  }
  std::map<std::string, SharedCards> shared;
  HeldPod wanted{uid, {}};
  for (ContainerDevices& devices : *chosen) wanted.containers.push_back({std::move(devices), {}});
  if (shares) {
    auto cards = shared_cards(state.options.sharing, pod, state.report);
    if (!cards.ok()) {
      why = cards.error().message;
      return Admission::kRefused;
    }
    for (SharedCards& one : *cards) {
      const auto is_it = [&](const HeldContainer& held) { return held.devices.container == one.container; };
      if (std::ranges::none_of(wanted.containers, is_it)) wanted.containers.push_back({{one.container, {}}, {}});
      const std::string name = one.container;
      shared[name] = std::move(one);
    }
  }
  state.begin_making(std::move(wanted), std::move(shared));
  return Admission::kWait;
}

const DeviceGrant* DeviceManager::grant(const std::string& uid, const std::string& container) const {
  const auto found = state_->held.find(uid);
  if (found == state_->held.end()) return nullptr;
  for (const HeldContainer& one : found->second.pod.containers)
    if (one.devices.container == container) return &one.grant;
  return nullptr;
}

void DeviceManager::release(const std::string& uid) {
  State& state = *state_;
  state.waiting.erase(uid);
  const auto found = state.held.find(uid);
  if (found == state.held.end()) return;
  state.let_go(uid);
  std::erase_if(state.preparations, [&](const auto& one) { return one.first.starts_with(uid + "/"); });
  const bool on_disk = found->second.progress != Progress::kMaking;  // otherwise whoever writes it takes it away
  state.held.erase(found);
  if (on_disk) state.env.offload([folder = state.folder, uid] { erase_held(folder, uid); }, [] {});
}

void DeviceManager::keep_only(const std::function<bool(const std::string& uid)>& is_known) {
  std::vector<std::string> unknown;
  for (const auto& [uid, held] : state_->held)
    if (!is_known(uid)) unknown.push_back(uid);
  for (const std::string& uid : unknown) release(uid);
}

}  // namespace node
