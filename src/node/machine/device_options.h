// The devices that a node offers, as its flags say.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace node {

// How the cards of this machine are offered: whole (nvidia.com/gpu), by memory or number as Volcano's GPU share has
// them (volcano.sh/gpu-memory, volcano.sh/gpu-number), or as vGPUs (volcano.sh/vgpu-number, -memory, -cores).
enum class GpuSharing : std::uint8_t { kNone, kGpuShare, kVgpu };

struct DeviceOptions {
  bool enabled = false;           // false: this node has no devices
  std::string driver_root = "/";  // where the NVIDIA driver's files are; empty: its cards are left to others
  std::vector<std::string> cdi_folders = {"/etc/cdi", "/var/run/cdi"};  // the last wins
  GpuSharing sharing = GpuSharing::kNone;
  std::string plugin_folder = {};               // where device plugins register; empty: nowhere
  std::vector<std::string> watch_command = {};  // asks the driver (gpu_watch.h); the library's path is added
  // The devices, or shares of them, that pods hold now, kept up to date; null: nobody reads it. Any thread.
  std::shared_ptr<std::atomic<std::int64_t>> in_use = {};
};

}  // namespace node
