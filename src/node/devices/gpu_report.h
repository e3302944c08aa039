// The NVIDIA driver's report on this machine's cards, as one line of JSON from the process that asks it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace node {

// A part of a card that MIG has made a device of its own.
struct GpuInstance {
  std::string uuid;     // "MIG-..."
  std::string profile;  // "1g.10gb"
  std::int64_t memory_mib = 0;
  int gpu_instance = 0;  // numbers that name its capability files
  int compute_instance = 0;

  bool operator==(const GpuInstance&) const = default;
};

struct Gpu {
  int index = 0;
  std::string uuid;    // "GPU-..."
  std::string name;    // "NVIDIA H100 80GB HBM3"
  std::string bus_id;  // "00000000:3B:00.0"
  int minor = 0;       // /dev/nvidiaN
  std::int64_t memory_mib = 0;
  int compute_major = 0;
  int compute_minor = 0;
  bool mig_capable = false;
  bool mig = false;  // it is used by its instances only
  std::string ill;   // why it cannot be used; empty: it can
  std::vector<GpuInstance> instances = {};

  bool operator==(const Gpu&) const = default;
};

struct GpuReport {
  std::string driver;    // "550.54.15"
  int cuda_version = 0;  // 12040 is 12.4
  std::vector<Gpu> gpus = {};

  bool operator==(const GpuReport&) const = default;
};

// The most cards of one machine; more than this is nonsense.
inline constexpr std::size_t kGpusMax = 256;
inline constexpr std::size_t kGpuInstancesMax = 64;
inline constexpr std::size_t kGpuReportBytesMax = 1 << 20;

// Without a newline.
std::string gpu_report_text(const GpuReport& report);
// An error is either the report's own (`trouble`, the driver does not answer as it should) or says what is wrong with
// it. Texts are short printable ASCII afterwards, identifiers can be names of files.
base::Result<GpuReport> parse_gpu_report(std::string_view line);
std::string gpu_trouble_text(std::string_view why);

}  // namespace node
