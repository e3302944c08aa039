// Jobs, which version 2 calls recurring runs.
#pragma once

#include "pipelines/rest/call.h"

namespace pipelines::rest::v1beta1 {

base::Result<Reply> create_job(const Call& call, Facts& facts);
base::Result<Reply> get_job(const Call& call, Facts& facts);
base::Result<Reply> list_jobs(const Call& call, Facts& facts);

}  // namespace pipelines::rest::v1beta1
