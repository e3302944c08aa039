// Metrics that a client reports for steps of a run: numbers, kept in an annotation of the run's object.
#pragma once

#include "pipelines/rest/call.h"

namespace pipelines::rest::v1beta1 {

// Each metric has its own result: OK, INVALID_ARGUMENT or DUPLICATE_REPORTING.
base::Result<Reply> report_metrics(const Call& call, Facts& facts);
// The metrics of a Workflow or a PipelineRun, as runs show them.
api::Json metrics_of(const api::Json& object);

}  // namespace pipelines::rest::v1beta1
