// The Job of a node: the template's spec with the node's patch laid over it, and whose it is.
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/result.h"
#include "controllers/jobflow/flow.h"

namespace controllers::jobflow {

// COMPAT(jobflow-patch): a strategic merge. Tasks merge by name, volumes by mountPath, and what is in a pod template as
// Kubernetes merges it; other lists are replaced, null removes. Errors say what is wrong with the patch.
base::Result<api::Json> patched_spec(const api::Json& spec, const api::Json& patch);

// `left_out` gets the labels that would be longer than a label may be.
base::Result<api::Json> make_job(const api::Json& flow, const Node& node, const api::Json& job_template,
                                 std::vector<std::string>& left_out);

}  // namespace controllers::jobflow
