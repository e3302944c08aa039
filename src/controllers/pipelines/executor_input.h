// The document that a step's command gets as {{$}}: its inputs, and the places of its outputs.
#pragma once

#include <string>
#include <string_view>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/pipelines/values.h"
#include "pipelines/ir/pipeline.h"

namespace controllers::pipelines {

inline constexpr const char* kOutputsFolder = "/tmp/kfp";
inline constexpr const char* kMetadataFile = "/tmp/kfp/outputs/output_metadata.json";
inline constexpr const char* kParametersFolder = "/tmp/kfp/outputs/parameters";
inline constexpr std::string_view kDefaultRoot = "minio://mlpipeline/v2/artifacts";
inline constexpr const char* kStorePath = "/minio/mlpipeline";

// `folder`: of the artifacts of this attempt, a URI.
api::Json executor_input(const ::pipelines::Component& component, const Values& inputs, const std::string& folder);
// The place of an artifact in the step's file system, as the SDK has it.
std::string local_path(const api::Json& artifact);
// An error for places that no step could read: other stores, and those that lead out of the store.
base::Status check_uri(std::string_view uri);

}  // namespace controllers::pipelines
