// Pipelines and their versions.
#pragma once

#include "pipelines/rest/call.h"
#include "pipelines/rest/documents.h"

namespace pipelines::rest {

base::Result<Reply> create_pipeline(const Call& call, Facts& facts);
base::Result<Reply> create_pipeline_and_version(const Call& call, Facts& facts);
base::Result<Reply> upload_pipeline(const Call& call, Facts& facts);
base::Result<Reply> get_pipeline(const Call& call, Facts& facts);
base::Result<Reply> get_pipeline_by_name(const Call& call, Facts& facts);
base::Result<Reply> list_pipelines(const Call& call, Facts& facts);
base::Result<Reply> update_pipeline(const Call& call, Facts& facts);
base::Result<Reply> delete_pipeline(const Call& call, Facts& facts);

base::Result<Reply> create_version(const Call& call, Facts& facts);
base::Result<Reply> upload_version(const Call& call, Facts& facts);
base::Result<Reply> get_version(const Call& call, Facts& facts);
base::Result<Reply> list_versions(const Call& call, Facts& facts);
base::Result<Reply> update_version(const Call& call, Facts& facts);
base::Result<Reply> delete_version(const Call& call, Facts& facts);

// The id of the version that is run where only the pipeline is named.
inline constexpr std::string_view kDefaultVersionAnnotation = "pipelines.kubeflow.org/default-version";
// The version that a run names: by its id, or the default of a pipeline where `version_id` is empty.
base::Result<api::Json> version_for(Facts& facts, const std::string& pipeline_id, const std::string& version_id);
// The one that was chosen as the default, or the newest.
base::Result<api::Json> default_version_of(Facts& facts, const api::Json& pipeline);
Documents documents_of_version(const api::Json& version);

}  // namespace pipelines::rest
