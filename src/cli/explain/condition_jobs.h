// Jobs that say their state by conditions: training jobs of kubeflow.org and batch/v1 Jobs.
#pragma once

#include <optional>
#include <string>

#include "cli/table.h"

namespace cli {

struct ConditionJob {
  std::string kind;
  api::Json object;
};

// The job of that name, of whatever such kind the server has; null: none. Kinds that may not be read are passed over.
base::Result<std::optional<ConditionJob>> find_condition_job(Api& server, const std::string& ns,
                                                             const std::string& name);

// The type of its newest true condition; "Pending" without one.
std::string state_of(const ConditionJob& job);
bool has_ended(const ConditionJob& job);

// Why a job has no pods, as its controller said last; both are empty where pods were made since.
struct JobRefusals {
  std::string refused;  // the server's words, when it refused something that the job needs
  std::string invalid;  // what is wrong with the job itself
};
base::Result<JobRefusals> refusals_of(Api& server, const ConditionJob& job);

}  // namespace cli
