// The work that a run or a job names, from the body of v1beta1 to that of v2beta1.
#pragma once

#include "pipelines/rest/call.h"

namespace pipelines::rest::v1beta1 {

// The call of v2beta1 that makes the same; the document is a Workflow, or that of a version that is named.
base::Result<Call> work_of(const Call& call, Facts& facts);

// The account of the steps: the one that is asked for, then the document's. The SDK writes a name of Kubeflow's own
// namespace where a person named none, and another account stands for it where that one is not there.
base::Result<std::string> account_for(Facts& facts, const std::string& ns, const std::string& asked,
                                      const api::Json& document);

// Members of an answer that runs and jobs share, from a document and values of its parameters.
api::Json pipeline_spec_shape(const api::Json& document, const api::Json& parameters);
// References to an experiment and a version, by the names of their objects.
struct WorkNames {
  std::string ns, experiment, pipeline, version;
};
void show_references(const WorkNames& names, const Facts& facts, api::Json& row);

}  // namespace pipelines::rest::v1beta1
