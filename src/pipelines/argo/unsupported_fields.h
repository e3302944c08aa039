// Fields that a Workflow may not have here, and what does instead. Inside of argo only.
#pragma once

#include <string>
#include <string_view>

namespace pipelines::argo {

// The sentence of a refusal: whether the field is one of Argo's, and what to write in its place.
std::string why_unsupported(std::string_view field);

}  // namespace pipelines::argo
