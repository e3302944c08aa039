// Recurring runs: made, shown, stopped and started.
#pragma once

#include "pipelines/rest/call.h"

namespace pipelines::rest {

base::Result<Reply> create_recurring_run(const Call& call, Facts& facts);
base::Result<Reply> get_recurring_run(const Call& call, Facts& facts);
base::Result<Reply> list_recurring_runs(const Call& call, Facts& facts);
base::Result<Reply> enable_recurring_run(const Call& call, Facts& facts);
base::Result<Reply> disable_recurring_run(const Call& call, Facts& facts);
base::Result<Reply> delete_recurring_run(const Call& call, Facts& facts);

}  // namespace pipelines::rest
