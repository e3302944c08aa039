// Runs: made, shown with their tasks, archived, ended, tried again.
#pragma once

#include "pipelines/rest/call.h"
#include "pipelines/rest/listing.h"

namespace pipelines::rest {

// The form of lists, and of one run, without its tasks.
extern const ListedAs kRunList;
api::Json run_shape(const api::Json& run, const Facts& facts);

base::Result<Reply> create_run(const Call& call, Facts& facts);
base::Result<Reply> get_run(const Call& call, Facts& facts);
base::Result<Reply> list_runs(const Call& call, Facts& facts);
base::Result<Reply> archive_run(const Call& call, Facts& facts);
base::Result<Reply> unarchive_run(const Call& call, Facts& facts);
base::Result<Reply> terminate_run(const Call& call, Facts& facts);
base::Result<Reply> retry_run(const Call& call, Facts& facts);
base::Result<Reply> delete_run(const Call& call, Facts& facts);

}  // namespace pipelines::rest
