// Cards that pods share: which the scheduler's deviceshare plugin wrote into the pod's annotations, and what containers
// are told about their part. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "base/result.h"
#include "node/devices/gpu_report.h"
#include "node/machine/device_options.h"

namespace node {

base::Result<GpuSharing> gpu_sharing_from(std::string_view word);  // none, gpu-share, vgpu

// The Node's amounts of cards that are shared.
std::map<std::string, std::int64_t> shared_amounts(GpuSharing sharing, const GpuReport& report);
std::map<std::string, std::string> shared_annotations(GpuSharing sharing, const GpuReport& report);

struct SharedCards {
  std::string container;
  std::vector<std::string> uuids;
  std::vector<std::pair<std::string, std::string>> environment;
};
bool asks_for_share(GpuSharing sharing, const api::Json& pod);
// For each container that asks. An error where the annotation is missing, or names no card of this machine that works.
base::Result<std::vector<SharedCards>> shared_cards(GpuSharing sharing, const api::Json& pod, const GpuReport& report);

}  // namespace node
