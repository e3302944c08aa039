// The program `volcano pipeline`.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "pipelines/rest/documents.h"

namespace cli {

Command pipeline_root();

base::Status upload_pipeline(World& world, const Values& values);
base::Status run_pipeline(World& world, const Values& values);
base::Status list_pipelines(World& world, const Values& values);
base::Status show_run_logs(World& world, const Values& values);
base::Status show_graph(World& world, const Values& values);
base::Status show_artifacts(World& world, const Values& values);
base::Status retry_run(World& world, const Values& values);
base::Status terminate_run(World& world, const Values& values);

// A table for a person, with its heads as the first row.
void print_rows(World& world, std::vector<std::vector<std::string>> rows);

// An argument is the name of a file where it ends like one, or has a slash.
bool is_file_name(const std::string& text);
base::Result<pipelines::rest::Documents> documents_in(World& world, const std::string& path);
// The version of that pipeline with this name, or the newest one for an empty name.
base::Result<api::Json> version_of(Api& server, const std::string& ns, const std::string& pipeline,
                                   const std::string& version);
// Shows the tasks of a run as they go, until it has ended; the exit status is its result. `limit`: 0: without end.
base::Status follow_run(World& world, Api& server, const std::string& ns, const std::string& name,
                        base::Duration limit);
// The path of a task without the graph of the whole run: "train", "for-loop-1[2].train"; empty for that graph itself.
std::string short_path(const api::Json& task);
bool has_run_ended(std::string_view state);

// The run of this name: a PipelineRun, or the Workflow that is one of version 1.
base::Result<api::Json> run_named(Api& server, const std::string& ns, const std::string& name);
// The state of a Workflow in the words of a run, its steps as a table, and its end.
std::string workflow_state(const api::Json& workflow);
base::Status show_workflow_graph(World& world, const api::Json& workflow);
// Asks for another try of one that failed, and shows its steps as they go, unless `waits` is false.
base::Status retry_workflow(World& world, Api& server, const api::Json& workflow, bool waits);
base::Status terminate_workflow(World& world, Api& server, const api::Json& workflow);

}  // namespace cli
