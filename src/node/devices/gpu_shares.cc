// The notes of deviceshare, read.
#include "node/devices/gpu_shares.h"

#include <algorithm>

#include "base/format.h"
#include "base/number.h"
#include "base/split.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr const char* kMemory = "volcano.sh/gpu-memory";
constexpr const char* kNumber = "volcano.sh/gpu-number";
constexpr const char* kIndex = "volcano.sh/gpu-index";
constexpr const char* kVgpuNumber = "volcano.sh/vgpu-number";
constexpr const char* kVgpuMemory = "volcano.sh/vgpu-memory";
constexpr const char* kVgpuCores = "volcano.sh/vgpu-cores";
constexpr const char* kVgpuIds = "volcano.sh/vgpu-ids-new";
constexpr std::int64_t kVgpusOfCard = 10;

std::int64_t asked(const Json& container, const char* resource) {
  const auto amount = api::Quantity::from_json(container["resources"]["limits"][resource]);
  return amount ? std::max<std::int64_t>(0, amount->value()) : 0;
}

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ",") + word;
  return out;
}

base::Error unusable(const char* annotation, std::string_view why) {
  return make_error(Code::kUnavailable,
                    base::format("Allocate failed due to annotation {}: {}, which is unexpected", annotation, why));
}

base::Result<const Gpu*> working(const char* annotation, const GpuReport& report, const auto& is_it,
                                 std::string_view word) {
  const auto found = std::ranges::find_if(report.gpus, is_it);
  if (found == report.gpus.end()) return unusable(annotation, base::format("this node has no GPU {:?}", word));
  if (!found->ill.empty()) return unusable(annotation, base::format("GPU {:?} does not work: {}", word, found->ill));
  return &*found;
}

base::Result<std::vector<SharedCards>> cards_by_index(const Json& pod, const GpuReport& report) {
  const std::string_view annotated = pod["metadata"]["annotations"][kIndex].as_string();
  if (annotated.empty()) return unusable(kIndex, "it is missing");
  std::vector<std::string> uuids;
  std::vector<std::string> indexes;
  std::int64_t memory = 0;
  for (const std::string_view word : base::split(annotated.substr(0, 4096), ',')) {
    const auto number = base::parse_number<std::int64_t>(word);
    // As the scheduler counts them.
    const auto is_it = [&](const Gpu& gpu) { return number && &gpu - report.gpus.data() == *number; };
    TRY(const Gpu* gpu, working(kIndex, report, is_it, word));
    uuids.push_back(gpu->uuid);
    indexes.emplace_back(word);
    memory = gpu->memory_mib;
  }
  std::vector<SharedCards> cards;
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : pod["spec"][list].items()) {
      const std::int64_t mib = asked(container, kMemory), number = asked(container, kNumber);
      if (mib == 0 && number == 0) continue;
      SharedCards& one = cards.emplace_back(SharedCards{container["name"].str(), uuids, {}});
      one.environment = {{"NVIDIA_VISIBLE_DEVICES", join(indexes)},
                         {"VOLCANO_GPU_ALLOCATED", std::to_string(mib > 0 ? mib : number)}};
      if (mib > 0) one.environment.emplace_back("VOLCANO_GPU_MEMORY_TOTAL", std::to_string(memory));
    }
  }
  return cards;
}

// "uuid,type,memory,cores:..." of each container, joined by ";".
base::Result<std::vector<SharedCards>> cards_by_vgpu(const Json& pod, const GpuReport& report) {
  const std::string annotated = pod["metadata"]["annotations"][kVgpuIds].str();
  if (annotated.empty()) return unusable(kVgpuIds, "it is missing");
  const std::vector<std::string_view> of_containers = base::split(std::string_view(annotated).substr(0, 1 << 16), ';');
  std::vector<SharedCards> cards;
  std::size_t index = 0;
  for (const Json& container : pod["spec"]["containers"].items()) {
    const std::string_view text = index < of_containers.size() ? of_containers[index] : std::string_view();
    ++index;
    if (asked(container, kVgpuNumber) == 0 && asked(container, kVgpuMemory) == 0) continue;
    SharedCards one{container["name"].str(), {}, {}};
    std::int64_t cores_limit = 0;
    for (const std::string_view device : base::split(text, ':')) {
      if (device.empty()) continue;
      const std::vector<std::string_view> words = base::split(device, ',');
      if (words.size() != 4) return unusable(kVgpuIds, base::format("{:?} is not uuid,type,memory,cores", device));
      const auto is_it = [&](const Gpu& gpu) { return gpu.uuid == words[0]; };
      TRY([[maybe_unused]] const Gpu* gpu, working(kVgpuIds, report, is_it, words[0]));
      const auto memory = base::parse_number<std::int64_t>(words[2]),
                 cores = base::parse_number<std::int64_t>(words[3]);
      if (!memory || !cores || *memory < 0 || *cores < 0)
        return unusable(kVgpuIds, base::format("{:?} is not uuid,type,memory,cores", device));
      one.environment.emplace_back(base::format("CUDA_DEVICE_MEMORY_LIMIT_{}", one.uuids.size()),
                                   base::format("{}m", *memory));
      one.uuids.emplace_back(words[0]);
      cores_limit = *cores;
    }
    if (one.uuids.empty()) return unusable(kVgpuIds, base::format("nothing for container {:?}", one.container));
    one.environment.emplace_back("NVIDIA_VISIBLE_DEVICES", join(one.uuids));
    one.environment.emplace_back("CUDA_DEVICE_SM_LIMIT", std::to_string(cores_limit));
    cards.push_back(std::move(one));
  }
  return cards;
}

}  // namespace

base::Result<GpuSharing> gpu_sharing_from(std::string_view word) {
  if (word == "none") return GpuSharing::kNone;
  if (word == "gpu-share") return GpuSharing::kGpuShare;
  if (word == "vgpu") return GpuSharing::kVgpu;
  return make_error(Code::kInvalid, base::format("\"{}\" is none of none, gpu-share, vgpu", word));
}

std::map<std::string, std::int64_t> shared_amounts(GpuSharing sharing, const GpuReport& report) {
  if (sharing == GpuSharing::kNone) return {};
  std::int64_t memory = 0;
  for (const Gpu& gpu : report.gpus) memory += gpu.memory_mib;
  const auto count = static_cast<std::int64_t>(report.gpus.size());
  if (sharing == GpuSharing::kGpuShare) return {{kMemory, memory}, {kNumber, count}};
  return {{kVgpuNumber, count * kVgpusOfCard}, {kVgpuMemory, memory}, {kVgpuCores, count * 100}};
}

std::map<std::string, std::string> shared_annotations(GpuSharing sharing, const GpuReport& report) {
  if (sharing == GpuSharing::kNone) return {};
  std::string ill, all;
  for (std::size_t i = 0; i < report.gpus.size(); ++i) {
    const Gpu& gpu = report.gpus[i];
    if (!gpu.ill.empty()) ill += (ill.empty() ? "" : ",") + std::to_string(i);
    std::string name = gpu.name;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ',' || c == ':'; }, ' ');
    const bool named = name.find("NVIDIA") != std::string::npos;
    all += base::format("{},{},{},{}{},{},hami-core:", gpu.uuid, kVgpusOfCard, gpu.memory_mib, named ? "" : "NVIDIA-",
                        name, gpu.ill.empty());
  }
  if (sharing == GpuSharing::kGpuShare) return {{"volcano.sh/gpu-unhealthy-ids", ill}};
  return {{"volcano.sh/node-vgpu-register", all}};
}

bool asks_for_share(GpuSharing sharing, const Json& pod) {
  if (sharing == GpuSharing::kNone) return false;
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items())
      for (const char* resource : {kMemory, kNumber, kVgpuNumber, kVgpuMemory})
        if (asked(container, resource) > 0) return true;
  return false;
}

base::Result<std::vector<SharedCards>> shared_cards(GpuSharing sharing, const Json& pod, const GpuReport& report) {
  return sharing == GpuSharing::kVgpu ? cards_by_vgpu(pod, report) : cards_by_index(pod, report);
}

}  // namespace node
