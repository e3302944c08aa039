// Which jobs are listed, in which order, and the table that people see.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace cli {

// --state, --user and --sort, for `vjobs` and `vcctl job list`.
std::vector<Flag> job_list_flags();
// Whether the job is one that --queue, --user and --state (or a phase behind -s) ask for.
bool is_asked_for(const api::Json& job, const Values& values);
// -s is --master in Volcano's tools. A phase is not an address, and means --state.
bool names_state(const Values& values);
base::Result<std::unique_ptr<Api>> connect_beside_state(World& world, const Values& values);
// In natural order of names, or as --sort says.
void sort_jobs(std::vector<api::Json>& jobs, const Values& values);
// NAME, QUEUE, STATE, READY, AGE, and the nodes of what runs or the reason of what does not.
std::string job_table_for_people(const World& world, Api& server, const std::vector<api::Json>& jobs,
                                 const std::string& ns, bool with_namespace);
// "3/4": pods that run or have succeeded, of those that the job has.
std::string ready_of(const api::Json& job);

}  // namespace cli
