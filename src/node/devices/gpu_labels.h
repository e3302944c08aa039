// A machine's cards as labels of its Node, named as NVIDIA's GPU feature discovery names them. Pure.
#pragma once

#include <map>
#include <string>

#include "node/devices/gpu_report.h"

namespace node {

// By key; values are valid label values. Empty without cards.
std::map<std::string, std::string> gpu_labels(const GpuReport& report);
// Whether gpu_labels() could have made it.
bool is_gpu_label(std::string_view key);
// A resource that only this agent offers: of whole cards, MIG devices, or cards that pods share.
bool is_gpu_amount(std::string_view resource);
// "nvidia.com/mig-1g.10gb"
std::string mig_resource(const GpuInstance& instance);

}  // namespace node
