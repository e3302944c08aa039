// Which labels there are.
#include "node/devices/gpu_labels.h"

#include <algorithm>
#include <vector>

#include "base/format.h"

namespace node {

namespace {

constexpr std::string_view kPrefix = "nvidia.com/";
constexpr std::string_view kKeys[] = {"gpu.", "cuda.", "mig.", "mig-"};

// The text that a label may have.
std::string value_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool fine =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    out += fine ? c : '-';
  }
  out.resize(std::min<std::size_t>(out.size(), 63));
  while (!out.empty() && !std::isalnum(static_cast<unsigned char>(out.back()))) out.pop_back();
  while (!out.empty() && !std::isalnum(static_cast<unsigned char>(out.front()))) out.erase(0, 1);
  return out;
}

std::string_view family_of(const Gpu& gpu) {
  switch (gpu.compute_major) {
    case 1: return "tesla";
    case 2: return "fermi";
    case 3: return "kepler";
    case 5: return "maxwell";
    case 6: return "pascal";
    case 7: return gpu.compute_minor < 5 ? "volta" : "turing";
    case 8: return gpu.compute_minor < 9 ? "ampere" : "ada-lovelace";
    case 9: return "hopper";
    case 10:
    case 12: return "blackwell";
    default: return "undefined";
  }
}

std::vector<std::string> version_parts(const std::string& version) {
  std::vector<std::string> parts(3);
  std::size_t begin = 0;
  for (std::string& part : parts) {
    const std::size_t end = std::min(version.find('.', begin), version.size());
    if (begin < end) part = version.substr(begin, end - begin);
    begin = std::min(end + 1, version.size());
  }
  return parts;
}

}  // namespace

std::string mig_resource(const GpuInstance& instance) { return base::format("nvidia.com/mig-{}", instance.profile); }

bool is_gpu_amount(std::string_view resource) {
  return resource == "nvidia.com/gpu" || resource.starts_with("nvidia.com/mig-") ||
         resource.starts_with("volcano.sh/gpu-") || resource.starts_with("volcano.sh/vgpu-");
}

bool is_gpu_label(std::string_view key) {
  if (!key.starts_with(kPrefix)) return false;
  key.remove_prefix(kPrefix.size());
  return key != "gpu.deploy" && !key.starts_with("gpu.deploy.") &&
         std::ranges::any_of(kKeys, [&](std::string_view begin) { return key.starts_with(begin); });
}

std::map<std::string, std::string> gpu_labels(const GpuReport& report) {
  std::map<std::string, std::string> labels;
  if (report.gpus.empty()) return labels;
  const auto set = [&](const std::string& key, std::string_view value) {
    if (const std::string fine = value_of(value); !fine.empty()) labels[std::string(kPrefix) + key] = fine;
  };
  const std::vector<std::string> driver = version_parts(report.driver);
  const int major = report.cuda_version / 1000, minor = report.cuda_version % 1000 / 10;
  set("cuda.driver.major", driver[0]);
  set("cuda.driver.minor", driver[1]);
  set("cuda.driver.rev", driver[2]);
  set("cuda.driver-version.major", driver[0]);
  set("cuda.driver-version.minor", driver[1]);
  set("cuda.driver-version.revision", driver[2]);
  set("cuda.driver-version.full", report.driver);
  if (report.cuda_version > 0) {
    set("cuda.runtime.major", std::to_string(major));
    set("cuda.runtime.minor", std::to_string(minor));
    set("cuda.runtime-version.major", std::to_string(major));
    set("cuda.runtime-version.minor", std::to_string(minor));
    set("cuda.runtime-version.full", base::format("{}.{}", major, minor));
  }
  // Machines with several models are labelled with the first, as GPU feature discovery labels them.
  const Gpu& first = report.gpus.front();
  set("gpu.present", "true");
  set("gpu.count", std::to_string(report.gpus.size()));
  set("gpu.product", first.name);
  set("gpu.memory", std::to_string(first.memory_mib));
  set("gpu.family", family_of(first));
  set("gpu.compute.major", std::to_string(first.compute_major));
  set("gpu.compute.minor", std::to_string(first.compute_minor));
  set("gpu.replicas", "1");
  set("gpu.sharing-strategy", "none");
  const bool capable = std::ranges::any_of(report.gpus, [](const Gpu& gpu) { return gpu.mig_capable; });
  set("mig.capable", capable ? "true" : "false");
  std::map<std::string, int> counts;
  for (const Gpu& gpu : report.gpus) {
    for (const GpuInstance& instance : gpu.instances) {
      const std::string key = mig_resource(instance).substr(kPrefix.size());
      set(key + ".count", std::to_string(++counts[key]));
      set(key + ".memory", std::to_string(instance.memory_mib));
      set(key + ".product", base::format("{}-MIG-{}", gpu.name, instance.profile));
      set(key + ".replicas", "1");
      set(key + ".sharing-strategy", "none");
    }
  }
  if (!counts.empty()) set("mig.strategy", "mixed");
  return labels;
}

}  // namespace node
