// The class that objects get which name none, where there may be several that are marked as the default.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/admission.h"
#include "api/meta/resource.h"

namespace apiserver {

// The newest of those with one of these annotations; of equally old ones the first by name. Empty: there is none.
std::string newest_default(const api::ObjectReader& objects, const api::ResourceId& classes,
                           std::span<const std::string_view> marks);

}  // namespace apiserver
