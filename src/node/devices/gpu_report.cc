// The line's form.
#include "node/devices/gpu_report.h"

#include <algorithm>

#include "api/json/json.h"
#include "base/format.h"
#include "base/utf8.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::size_t kTextMax = 256;

std::string plain(std::string_view text) {
  std::string out(text.substr(0, kTextMax));
  for (char& c : out)
    if (c < 0x20 || c > 0x7e) c = '?';
  return out;
}

bool is_identifier(std::string_view text) {
  return !text.empty() && text.size() <= 128 && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '/' || c == '.';
  });
}

bool is_profile(std::string_view text) { return is_identifier(text) && text.find('/') == std::string_view::npos; }

int small(const Json& value, int max) { return static_cast<int>(std::clamp<std::int64_t>(value.as_int(), 0, max)); }

std::int64_t mib(const Json& value) { return std::clamp<std::int64_t>(value.as_int(), 0, std::int64_t{1} << 40); }

base::Result<GpuInstance> instance_from(const Json& json) {
  GpuInstance instance{.uuid = json["uuid"].str(),
                       .profile = json["profile"].str(),
                       .memory_mib = mib(json["memory"]),
                       .gpu_instance = small(json["gi"], 1 << 16),
                       .compute_instance = small(json["ci"], 1 << 16)};
  // "1g.5gb+me" is written so in a resource's name.
  std::replace(instance.profile.begin(), instance.profile.end(), '+', '.');
  if (is_identifier(instance.uuid) && is_profile(instance.profile)) return instance;
  return make_error(Code::kInvalid, base::format("the driver names a MIG device {:?} of profile {:?}",
                                                 plain(instance.uuid), plain(instance.profile)));
}

}  // namespace

std::string gpu_report_text(const GpuReport& report) {
  Json gpus = Json::array();
  for (const Gpu& gpu : report.gpus) {
    Json instances = Json::array();
    for (const GpuInstance& one : gpu.instances)
      instances.push_back(Json::object({{"uuid", one.uuid},
                                        {"profile", one.profile},
                                        {"memory", one.memory_mib},
                                        {"gi", one.gpu_instance},
                                        {"ci", one.compute_instance}}));
    gpus.push_back(Json::object({{"index", gpu.index},
                                 {"uuid", gpu.uuid},
                                 {"name", base::to_utf8(gpu.name)},
                                 {"bus", base::to_utf8(gpu.bus_id)},
                                 {"minor", gpu.minor},
                                 {"memory", gpu.memory_mib},
                                 {"computeMajor", gpu.compute_major},
                                 {"computeMinor", gpu.compute_minor},
                                 {"migCapable", gpu.mig_capable},
                                 {"mig", gpu.mig},
                                 {"ill", base::to_utf8(gpu.ill)},
                                 {"instances", instances}}));
  }
  return Json::object({{"driver", base::to_utf8(report.driver)}, {"cuda", report.cuda_version}, {"gpus", gpus}}).dump();
}

std::string gpu_trouble_text(std::string_view why) { return Json::object({{"trouble", base::to_utf8(why)}}).dump(); }

base::Result<GpuReport> parse_gpu_report(std::string_view line) {
  if (line.size() > kGpuReportBytesMax) return make_error(Code::kInvalid, "the report on GPUs is too long");
  auto parsed = api::parse_json(line);
  if (!parsed.ok() || !parsed->is_object()) return make_error(Code::kInvalid, "the report on GPUs is malformed");
  const Json& json = *parsed;
  if (json.has("trouble")) return make_error(Code::kUnavailable, plain(json["trouble"].as_string()));
  GpuReport report{.driver = plain(json["driver"].as_string()), .cuda_version = small(json["cuda"], 1 << 24)};
  if (json["gpus"].size() > kGpusMax)
    return make_error(Code::kInvalid, base::format("the driver counts {} GPUs", json["gpus"].size()));
  for (const Json& one : json["gpus"].items()) {
    Gpu gpu{.index = small(one["index"], kGpusMax),
            .uuid = one["uuid"].str(),
            .name = plain(one["name"].as_string()),
            .bus_id = plain(one["bus"].as_string()),
            .minor = small(one["minor"], 1 << 20),
            .memory_mib = mib(one["memory"]),
            .compute_major = small(one["computeMajor"], 1000),
            .compute_minor = small(one["computeMinor"], 1000),
            .mig_capable = one["migCapable"].as_bool(),
            .mig = one["mig"].as_bool(),
            .ill = plain(one["ill"].as_string())};
    if (!is_identifier(gpu.uuid))
      return make_error(Code::kInvalid, base::format("the driver names a GPU {:?}", plain(gpu.uuid)));
    if (one["instances"].size() > kGpuInstancesMax)
      return make_error(Code::kInvalid, base::format("the driver counts {} MIG devices", one["instances"].size()));
    for (const Json& instance : one["instances"].items()) {
      TRY(GpuInstance read, instance_from(instance));
      gpu.instances.push_back(std::move(read));
    }
    const bool twice = std::ranges::any_of(report.gpus, [&](const Gpu& other) { return other.uuid == gpu.uuid; });
    if (twice) return make_error(Code::kInvalid, base::format("the driver names two GPUs {:?}", gpu.uuid));
    report.gpus.push_back(std::move(gpu));
  }
  return report;
}

}  // namespace node
