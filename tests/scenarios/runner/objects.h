// How do the short lines of a scenario become API objects?
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/json.h"
#include "api/meta/resource.h"
#include "base/result.h"
#include "line.h"

namespace scenario {

struct Made {
  api::ResourceId resource;
  api::Json object;
};
// Empty when the verb does not make an object.
base::Result<std::optional<Made>> object_for(const Line& line, const std::string& name, std::int64_t order);

}  // namespace scenario
