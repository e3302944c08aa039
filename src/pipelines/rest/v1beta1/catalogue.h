// Experiments, pipelines and their versions in the shapes of v1beta1.
#pragma once

#include "pipelines/rest/call.h"

namespace pipelines::rest::v1beta1 {

base::Result<Reply> create_experiment(const Call& call, Facts& facts);
base::Result<Reply> get_experiment(const Call& call, Facts& facts);
base::Result<Reply> list_experiments(const Call& call, Facts& facts);

base::Result<Reply> create_pipeline(const Call& call, Facts& facts);
base::Result<Reply> upload_pipeline(const Call& call, Facts& facts);
base::Result<Reply> get_pipeline(const Call& call, Facts& facts);
base::Result<Reply> list_pipelines(const Call& call, Facts& facts);
base::Result<Reply> delete_pipeline(const Call& call, Facts& facts);
base::Result<Reply> get_pipeline_template(const Call& call, Facts& facts);
base::Result<Reply> set_default_version(const Call& call, Facts& facts);

base::Result<Reply> create_version(const Call& call, Facts& facts);
base::Result<Reply> upload_version(const Call& call, Facts& facts);
base::Result<Reply> get_version(const Call& call, Facts& facts);
base::Result<Reply> list_versions(const Call& call, Facts& facts);
base::Result<Reply> delete_version(const Call& call, Facts& facts);
base::Result<Reply> get_version_template(const Call& call, Facts& facts);

}  // namespace pipelines::rest::v1beta1
