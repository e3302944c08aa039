// Whether a template that failed is tried again, and when.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "api/json/json.h"
#include "base/time.h"
#include "pipelines/argo/workflow_node.h"

namespace pipelines::argo {

struct RetryLook {
  const api::Json& strategy;
  const Node& first;  // its first attempt, and the last one, which failed
  const Node& last;
  std::int64_t attempts = 1;
  base::Time now = {};
};

struct RetryChoice {
  std::optional<std::string> end = {};  // no further attempt, with this message
  base::Duration wait = {};             // before the next one
};

RetryChoice choice_after(const RetryLook& look);

}  // namespace pipelines::argo
