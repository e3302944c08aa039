// Which indexes an array of runs has, as Slurm writes them: "1-50%4", "0-6:2", "1,3,7".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace api {

// The annotation of a Job whose pods are the runs of an array. Pod i has the i-th index in its environment.
inline constexpr std::string_view kArrayAnnotation = "volcano.sh/array";
inline constexpr std::string_view kArrayIndexVariable = "VSUB_ARRAY_INDEX";
// The annotation of a Job that begins when other jobs of its namespace have completed: their names with commas.
inline constexpr std::string_view kDependsAnnotation = "volcano.sh/depends-on-jobs";
// "true": such a Job ends when one of them has failed.
inline constexpr std::string_view kEndsWithDependsAnnotation = "volcano.sh/kill-on-invalid-dependency";
// The annotation of a Job whose pods are not started again after the machine stopped: "false".
inline constexpr std::string_view kRequeueAnnotation = "volcano.sh/requeue";

struct ArrayIndexes {
  static constexpr std::size_t kMax = 10'000;
  std::vector<std::int64_t> indexes;  // in the order of the text, each once
  std::int64_t at_once = 0;           // how many may run at the same time; 0: all
};

// The error names the part of the text that is wrong.
base::Result<ArrayIndexes> parse_array(std::string_view text);

}  // namespace api
