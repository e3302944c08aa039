// CDI first, the driver's own files else.
#include "node/devices/device_making.h"

#include <algorithm>
#include <optional>

#include "base/format.h"
#include "node/devices/cdi.h"
#include "node/devices/driver_files.h"

namespace node {

namespace {

std::vector<GpuUse> uses_of(const GpuReport& report, const std::vector<std::string>& ids) {
  std::vector<GpuUse> uses;
  for (const std::string& id : ids) {
    for (const Gpu& gpu : report.gpus) {
      if (gpu.uuid == id) uses.push_back({gpu, nullptr});
      for (const GpuInstance& instance : gpu.instances)
        if (instance.uuid == id) uses.push_back({gpu, &instance});
    }
  }
  return uses;
}

// By uuid or by index, as the tools that write specs name devices; null unless there is one for each.
std::optional<DeviceGrant> cdi_grant(const CdiDevices& devices, const GpuReport& report,
                                     const std::vector<std::string>& ids) {
  DeviceGrant grant;
  for (const std::string& id : ids) {
    const DeviceGrant* found = devices.find(base::format("{}={}", kGpuResource, id));
    for (const Gpu& gpu : report.gpus) {
      if (found == nullptr && gpu.uuid == id) found = devices.find(base::format("{}={}", kGpuResource, gpu.index));
      for (std::size_t i = 0; found == nullptr && i < gpu.instances.size(); ++i)
        if (gpu.instances[i].uuid == id) found = devices.find(base::format("{}={}:{}", kGpuResource, gpu.index, i));
    }
    if (found == nullptr) return std::nullopt;
    grant.add(*found);
  }
  grant.unlimited_memlock = true;
  return grant;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

// Blocking.
DeviceGrant gpu_grant(const GrantWork& work, const CdiDevices& cdi, const std::vector<std::string>& ids,
                      const std::vector<std::pair<std::string, std::string>>& environment) {
  DeviceGrant grant;
  grant.environment = environment;
  if (work.plain_processes) {
    grant.environment.emplace_back("CUDA_VISIBLE_DEVICES", join(ids));
    return grant;
  }
  const auto by_spec = cdi_grant(cdi, work.report, ids);
  grant.add(by_spec ? *by_spec : driver_grant(work.driver_root, work.report.driver, uses_of(work.report, ids)));
  return grant;
}

}  // namespace

bool is_gpu_resource(std::string_view resource) {
  return resource == kGpuResource || resource.starts_with("nvidia.com/mig-");
}

base::Result<HeldPod> with_grants(GrantWork work) {
  std::vector<std::string> trouble;
  const CdiDevices cdi = work.plain_processes ? CdiDevices() : read_cdi_folders(work.cdi_folders, trouble);
  log_cdi_trouble(trouble);
  for (HeldContainer& container : work.pod.containers) {
    const std::string& name = container.devices.container;
    if (const auto shared = work.shared.find(name); shared != work.shared.end())
      container.grant.add(gpu_grant(work, cdi, shared->second.uuids, shared->second.environment));
    std::vector<std::string> ids;
    for (const auto& [resource, some] : container.devices.ids)
      if (is_gpu_resource(resource)) ids.insert(ids.end(), some.begin(), some.end());
    if (!ids.empty()) container.grant.add(gpu_grant(work, cdi, ids, {{"NVIDIA_VISIBLE_DEVICES", join(ids)}}));
    if (!work.plain_processes) {
      TRY(const DeviceGrant named, cdi.grant_of(work.cdi_names[name]));
      container.grant.add(named);
    }
    container.grant.unlimited_memlock |= has_infiniband(container.grant);
  }
  return std::move(work.pod);
}

}  // namespace node
