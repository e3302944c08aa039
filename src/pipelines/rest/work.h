// The work that a run or a recurring run names: its experiment, its documents, its parameters.
#pragma once

#include "pipelines/rest/call.h"
#include "pipelines/rest/documents.h"

namespace pipelines::rest {

// Reads the body of a new run. `spec` is that of the object, without its schedule; `ns` that of its experiment.
struct Wanted {
  std::string ns;
  std::string name;  // displayName
  api::Json spec;
};
base::Result<Wanted> wanted_work(const Call& call, Facts& facts);

// Whether the document takes these parameters, and has all that it needs.
base::Status check_parameters(const Documents& documents, const api::Json& parameters);

// Members of an answer that runs and recurring runs share.
void show_work(const api::Json& object, const Facts& facts, api::Json& row);
// The id of the experiment that the object names.
std::string experiment_id_of(const api::Json& object, const Facts& facts);
// The objects of the experiment that the call names, or those of its namespace, with few of their fields.
base::Result<std::vector<api::Json>> objects_of_experiment(const Call& call, Facts& facts,
                                                           const api::ResourceId& resource);

}  // namespace pipelines::rest
