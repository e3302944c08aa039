// The files of this machine's NVIDIA driver: the management library, and what containers need of it.
#pragma once

#include <string>
#include <vector>

#include "node/devices/gpu_report.h"
#include "node/machine/device_grant.h"

namespace node {

// The path of libnvidia-ml.so.1 below `driver_root`; empty: there is no driver. A few looks at the disk.
std::string find_nvml(const std::string& driver_root);

// Blocking. The additions for containers that use these cards, if no CDI spec names them: device nodes, and libraries
// and programs below /usr/local/nvidia, as NVIDIA's images look for them there. Instances are named by their cards.
struct GpuUse {
  Gpu gpu;
  const GpuInstance* instance = nullptr;  // null: the whole card
};
DeviceGrant driver_grant(const std::string& driver_root, const std::string& driver, const std::vector<GpuUse>& uses);

// The minor number of a MIG capability ("gpu0/gi1/access"), from the text of /proc/driver/nvidia-caps/mig-minors; -1:
// it has none. Pure.
int mig_minor(std::string_view minors, int gpu_minor, int gpu_instance, int compute_instance);

}  // namespace node
