// The launcher's report of what a command wrote, and the outputs that it means.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "controllers/pipelines/values.h"
#include "pipelines/ir/pipeline.h"

namespace controllers::pipelines {

struct Report {
  std::vector<std::optional<std::string>> parameters;  // texts of their files, in the order of their names
  std::string metadata = {};                           // the text of output_metadata.json; may be empty
  std::optional<std::string> result = {};              // the end of what the command printed
};

base::Result<Report> read_report(std::string_view text, std::size_t parameters);
// Errors name the output.
base::Result<Values> outputs_of(const Report& report, const ::pipelines::Component& component,
                                const api::Json& executor_input);

}  // namespace controllers::pipelines
