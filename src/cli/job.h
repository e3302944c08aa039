// The shared parts of vcctl job and the programs named after Slurm's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace cli {

// job_new.cc: a Job of one task, from words of a command line.
struct NewJob {
  std::string name;
  std::string ns;
  std::string image;
  std::string scheduler;
  std::int64_t min_available = 1;
  std::int64_t replicas = 1;
  std::string requests;  // "cpu=1000m,memory=100Mi"; empty: none
  std::string limits;
  std::vector<std::string> command = {};  // of the container; empty: the image's own
};
base::Result<api::Json> make_job(const NewJob& from);
// "cpu=1,memory=1Gi" as a resource list.
base::Result<api::Json> parse_resources(const std::string& text);

// job_table.cc: the table of cli.md 2.3 with its header. The columns are as wide as those of `measured` need.
std::string job_table(const World& world, const std::vector<api::Json>& shown, const std::vector<api::Json>& measured,
                      bool with_namespace);

// job_view.cc: one job in words, with its events.
struct JobView {
  const World& world;
  bool with_conditions = true;
};
std::string job_view(const api::Json& job, const std::vector<api::Json>& events, const JobView& how);
// The events of a job as `job view` finds them. An error of reading them is said on standard error.
std::vector<api::Json> events_of_job(World& world, Api& server, const std::string& ns, const std::string& name);

// job.cc
base::Result<api::Json> create_job(Api& server, const std::string& ns, api::Json job);
base::Status delete_job(Api& server, const std::string& ns, const std::string& name);
// Orders `action` for the job that the flags name, by a bus Command; `word` is what the user calls it.
base::Status order_job(World& world, const Values& values, std::string_view word, std::string_view action);
// Does `act` for each job that the flags name. Each failure among several is said, and the last one is the result.
base::Status for_each_job(World& world, const Values& values, std::string_view word,
                          const std::function<base::Status(const std::string& name)>& act);

// job_wait.cc: until a job is in `goal`, a phase in lower case, or "deleted". A `limit` of zero is none.
base::Status wait_for_job(World& world, Api& server, const std::string& ns, const std::string& name,
                          const std::string& goal, base::Duration limit);
// Shows how a job goes and what it writes until it has ended; the exit status is that of its first container that
// failed, or 0.
base::Result<int> follow_job(World& world, Api& server, const std::string& ns, const std::string& name);

// logs.cc
Command logs_command();
// job_wait.cc
Command wait_command();

}  // namespace cli
