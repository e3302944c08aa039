// Huge pages by their names: resources of nodes and pods, media of volumes, limits of control groups. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/schema/quantity.h"
#include "base/result.h"

namespace node {

// 2097152 -> "hugepages-2Mi".
std::string huge_page_resource(std::int64_t page_bytes);
// "hugepages-2Mi" -> 2097152; 0: this is no such name.
std::int64_t page_bytes_of(std::string_view resource);
// The most that a container may have of each size that the node has, in the names of OCI ("2MB"): what it asked for,
// and nothing of the others.
std::vector<std::pair<std::string, std::int64_t>> huge_page_limits(const api::Json& container,
                                                                   const api::ResourceList& node);
// The page size of an emptyDir with this medium ("HugePages", "HugePages-2Mi") in this pod.
base::Result<std::int64_t> page_bytes_of_medium(const api::Json& pod, std::string_view medium);

}  // namespace node
