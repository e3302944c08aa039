// Files of a pod: parameters that are read from files, and artifacts, which come from the namespace's claim and go
// there. Inside of argo only.
#pragma once

#include <string>
#include <vector>

#include "pipelines/argo/operation.h"

namespace pipelines::argo {

// The annotations of raw artifacts begin with it.
inline constexpr std::string_view kRawAnnotation = "workflows.argoproj.io/";

// The files of parameters that the command leaves behind, in their order.
std::vector<std::string> output_files(const api::Json& spec);

// COMPAT(workflow-artifacts). The place of the output in the claim; empty: it stays in its container.
std::string key_of(const PodRequest& request, const api::Json& artifact);

// Whether outputs are copied behind the command, and the launcher's words for them.
bool copies_artifacts(const api::Json& spec);
void add_keep_words(const PodRequest& request, std::vector<api::Json>& words);

// The problem of outputs that could not be kept; empty: there is none.
std::string artifact_problem(const api::Json& spec);

void mount_artifacts(const PodRequest& request, api::Json& mounts);
void mount_raw(const api::Json& inputs, api::Json& mounts);
// The volume of raw artifacts; null: there are none.
api::Json raw_volume(const api::Json& inputs);

}  // namespace pipelines::argo
