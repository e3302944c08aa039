// Runs of version 1, which are Workflows of Argo.
#pragma once

#include "pipelines/rest/call.h"
#include "pipelines/rest/listing.h"

namespace pipelines::rest::v1beta1 {

// The form of lists, and of one run; the Workflows of the namespace or the experiment that the call names.
extern const ListedAs kRunList;
api::Json run_shape(const api::Json& workflow, const Facts& facts);
base::Result<std::vector<api::Json>> workflows_asked_for(const Call& call, Facts& facts);

base::Result<Reply> create_run(const Call& call, Facts& facts);
base::Result<Reply> get_run(const Call& call, Facts& facts);
base::Result<Reply> archive_run(const Call& call, Facts& facts);
base::Result<Reply> unarchive_run(const Call& call, Facts& facts);
base::Result<Reply> terminate_run(const Call& call, Facts& facts);
// Steps that failed begin anew, and those that succeeded stay.
base::Result<Reply> retry_run(const Call& call, Facts& facts);
base::Result<Reply> delete_run(const Call& call, Facts& facts);

}  // namespace pipelines::rest::v1beta1
