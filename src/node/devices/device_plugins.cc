// The device manager and plugins of others.
#include <unistd.h>

#include <algorithm>

#include "base/format.h"
#include "base/log.h"
#include "base/split.h"
#include "node/devices/device_manager_state.h"
#include "node/os/pod_folders.h"
#include "rt/files/files.h"

namespace node {

namespace {

constexpr std::size_t kForgottenMax = 1024;  // beyond, the Node keeps their names

// Resources that plugins have offered, a line each: pods that were bound to them wait for the plugin after a start.
std::string names_file(const std::string& folder) { return folder + "/plugins"; }

}  // namespace

void DeviceManager::State::begin_plugins() {
  if (options.plugin_folder.empty()) return;
  const std::string names = read_text(names_file(folder));
  for (const std::string_view name : base::split_words(names, '\n')) {
    awaited.emplace(name);
    pools.set(std::string(name), {});
  }
  plugins = std::make_unique<PluginHost>(
      env, options.plugin_folder,
      PluginHost::Callbacks{
          .changed = [this](const std::string& resource,
                            std::vector<Device> devices) { plugin_changed(resource, std::move(devices)); },
          .warn = [this](const std::string& message) { call.warn("DevicePlugin", message); },
          .objection =
              [this](const std::string& resource) {
                const bool ours = has_driver && (is_gpu_resource(resource) || resource.starts_with("volcano.sh/"));
                return std::string(ours ? "this node offers it itself (--nvidia-driver-root=none leaves it to plugins)"
                                        : "");
              },
          .is_held = [this](const std::string& resource) { return pools.is_held(resource); },
          .forgotten = [this](const std::string& resource) { plugin_forgotten(resource); }});
  if (const base::Status started = plugins->start(); !started.ok()) {
    base::log_warning("node", "device plugins cannot register: " + started.error().message);
    return plugins.reset();
  }
  for (const std::string& name : awaited) plugins->expect(name);
}

// One at a time: two writers of one file would take its temporary name from each other.
void DeviceManager::State::write_names() {
  names_due = true;
  if (std::exchange(names_busy, true)) return;
  names_due = false;
  std::string names;
  for (const auto& [name, list] : pools.all())
    if (!is_gpu_resource(name)) names += name + "\n";
  env.offload(
      [names, folder = folder] {
        base::Status written = rt::make_folders(folder, 0700);
        if (written.ok()) written = rt::write_file(names_file(folder), names, 0600);
        if (!written.ok()) base::log_warning("node", written.error().message);
      },
      [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self) return;
        self->names_busy = false;
        if (self->names_due) self->write_names();
      });
}

void DeviceManager::State::plugin_changed(const std::string& resource, std::vector<Device> devices) {
  const bool known = pools.knows(resource);
  awaited.erase(resource);
  forgotten.erase(resource);
  set_pool(resource, std::move(devices));
  if (!known) write_names();
  wake_waiting();
  call.node_changed();
}

void DeviceManager::State::plugin_forgotten(const std::string& resource) {
  base::log_info("node", base::format("nobody offers {} any more", resource));
  awaited.erase(resource);
  pools.forget(resource);
  if (forgotten.size() < kForgottenMax) forgotten.insert(resource);
  write_names();
  wake_waiting();
  call.node_changed();
}

std::vector<std::string> DeviceManager::forgotten() const {
  return {state_->forgotten.begin(), state_->forgotten.end()};
}

void DeviceManager::forgotten_reported(const std::vector<std::string>& resources) {
  for (const std::string& resource : resources) state_->forgotten.erase(resource);
}

}  // namespace node
