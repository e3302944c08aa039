// How a container's devices become what the container gets. Blocks: it reads the machine's files.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "node/devices/device_facts.h"
#include "node/devices/gpu_shares.h"

namespace node {

inline constexpr const char* kGpuResource = "nvidia.com/gpu";
// True for whole cards or MIG devices, which this agent gives out itself.
bool is_gpu_resource(std::string_view resource);

struct GrantWork {
  std::string driver_root;
  std::vector<std::string> cdi_folders;
  GpuReport report;
  bool plain_processes = false;
  std::map<std::string, SharedCards> shared = {};                  // by container
  std::map<std::string, std::vector<std::string>> cdi_names = {};  // by container, as plugins answered
  HeldPod pod = {};                                                // what plugins granted is in it
};
// The pod with all that it gets. An error names a device that no CDI spec has.
base::Result<HeldPod> with_grants(GrantWork work);

}  // namespace node
