// Nodes of a run, which are its tasks: their logs and their artifacts.
#pragma once

#include <string>
#include <vector>

#include "pipelines/rest/call.h"

namespace pipelines::rest {

base::Result<std::vector<api::Json>> tasks_of(Facts& facts, const api::Json& run);
base::Result<Reply> read_log(const Call& call, Facts& facts);
// The bytes of an output, or input, of a task; `max_bytes` of the query: no more than the first of them.
base::Result<Reply> read_artifact(const Call& call, Facts& facts);
// The same as HTML, for a frame of the page.
base::Result<Reply> view_artifact(const Call& call, Facts& facts);

// The log of a step's pod, followed where the call says so.
Reply log_of_pod(const Call& call, const std::string& ns, const std::string& pod);
// A file of the claim that holds the artifacts of a namespace.
base::Result<Reply> stored_file(Facts& facts, const std::string& ns, std::string path);
// The command by which a person reads it where no server mounts the volume.
std::string command_to_read(const StoredFile& file);

// The same of a run that is a Workflow.
base::Result<Reply> read_workflow_log(const Call& call, Facts& facts);
base::Result<Reply> read_workflow_artifact(const Call& call, Facts& facts);
base::Result<Reply> view_workflow_artifact(const Call& call, Facts& facts);

// The object at the address of an artifact, by the ConfigMap and the Secret of its namespace, which the user's own
// rights must show. Nothing: the artifact lies in the namespace's volume.
base::Result<std::optional<StoredObject>> stored_object(Facts& facts, const std::string& ns, const std::string& uri);

}  // namespace pipelines::rest
