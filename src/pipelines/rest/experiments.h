// Experiments: shelves for runs.
#pragma once

#include "pipelines/rest/call.h"

namespace pipelines::rest {

base::Result<Reply> create_experiment(const Call& call, Facts& facts);
base::Result<Reply> get_experiment(const Call& call, Facts& facts);
base::Result<Reply> list_experiments(const Call& call, Facts& facts);
base::Result<Reply> archive_experiment(const Call& call, Facts& facts);
base::Result<Reply> unarchive_experiment(const Call& call, Facts& facts);
base::Result<Reply> delete_experiment(const Call& call, Facts& facts);

// The experiment of a new run: by its id, or Default in `ns`, which is made where it is not there. An archived one
// takes none.
base::Result<api::Json> experiment_for(Facts& facts, const std::string& id, const std::string& ns);

}  // namespace pipelines::rest
