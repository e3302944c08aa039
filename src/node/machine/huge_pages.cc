// Names of sizes.
#include "node/machine/huge_pages.h"

#include <algorithm>
#include <set>

#include "base/format.h"

namespace node {

using api::Json;
using base::Code;
using base::make_error;

namespace {

constexpr std::string_view kResource = "hugepages-";
constexpr std::string_view kMedium = "HugePages-";

std::int64_t bytes_of(std::string_view text) {
  const auto size = api::Quantity::parse(text);
  return size && size->sign() > 0 ? size->value() : 0;
}

// "2MB", as the kernel names the files of its control groups.
std::string oci_size(std::int64_t bytes) {
  constexpr std::int64_t kUnit = 1024;
  const char* const units[] = {"B", "KB", "MB", "GB"};
  std::size_t unit = 0;
  while (unit + 1 < std::size(units) && bytes >= kUnit && bytes % kUnit == 0) {
    bytes /= kUnit;
    ++unit;
  }
  return base::format("{}{}", bytes, units[unit]);
}

std::set<std::int64_t> sizes_asked_for(const Json& pod) {
  std::set<std::int64_t> sizes;
  for (const char* list : {"initContainers", "containers"})
    for (const Json& container : pod["spec"][list].items())
      for (const char* side : {"requests", "limits"})
        for (const Json::Member& amount : container["resources"][side].members())
          if (const std::int64_t bytes = page_bytes_of(amount.name()); bytes > 0) sizes.insert(bytes);
  return sizes;
}

}  // namespace

std::string huge_page_resource(std::int64_t page_bytes) {
  return base::format("{}{}", kResource,
                      api::Quantity::from_int(page_bytes, api::Quantity::Format::kBinarySi).to_string());
}

std::int64_t page_bytes_of(std::string_view resource) {
  return resource.starts_with(kResource) ? bytes_of(resource.substr(kResource.size())) : 0;
}

std::vector<std::pair<std::string, std::int64_t>> huge_page_limits(const Json& container,
                                                                   const api::ResourceList& node) {
  std::vector<std::pair<std::string, std::int64_t>> limits;
  for (const auto& [name, amount] : node) {
    const std::int64_t page = page_bytes_of(name);
    if (page == 0) continue;
    const auto asked = api::Quantity::from_json(container["resources"]["limits"][name]);
    limits.emplace_back(oci_size(page), asked ? std::max<std::int64_t>(0, asked->value()) : 0);
  }
  return limits;
}

base::Result<std::int64_t> page_bytes_of_medium(const Json& pod, std::string_view medium) {
  const std::set<std::int64_t> sizes = sizes_asked_for(pod);
  if (sizes.empty())
    return make_error(Code::kInvalid, "hugePages storage requested, but there is no resource request for huge pages.");
  if (medium.starts_with(kMedium)) {
    const std::int64_t bytes = bytes_of(medium.substr(kMedium.size()));
    if (bytes > 0 && sizes.contains(bytes)) return bytes;
    return make_error(Code::kInvalid,
                      base::format("medium {} can't be used: no container requests pages of that size", medium));
  }
  if (medium != "HugePages") return make_error(Code::kInvalid, base::format("unknown storage medium {:?}", medium));
  if (sizes.size() > 1)
    return make_error(Code::kInvalid,
                      base::format("medium {} can't be used if container requests multiple huge page sizes", medium));
  return *sizes.begin();
}

}  // namespace node
