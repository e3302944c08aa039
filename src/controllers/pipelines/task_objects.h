// PipelineTasks and their statuses.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "controllers/pipelines/run_look.h"

namespace controllers::pipelines {

// A task's place in a run: what the document says, and where it stands.
struct Place {
  const ::pipelines::Task& task;
  const ::pipelines::Component& component;
  std::string path;
  std::string parent;
  std::optional<std::int64_t> turn = {};  // of a loop
  // The policy of the nearest graph or loop around it that has one; for tasks without a policy of their own.
  const ::pipelines::RetryPolicy* retry_around = nullptr;
  std::string_view loop = {};  // the path of the innermost one around it

  const ::pipelines::RetryPolicy& retry() const {
    return task.retry.count_max > 0 || retry_around == nullptr ? task.retry : *retry_around;
  }
};

struct Change {
  std::string state;
  std::string error = {};
  std::optional<Values> inputs = {};
  std::optional<Values> outputs = {};
  std::optional<std::int64_t> attempt = {};
  std::string pod = {};
  std::string message = {};  // why it waits; replaces the one before
  std::string cached_from = {};
};

bool is_final(std::string_view state);
// Steps, importers and claims, which are what a run's tasks are counted by.
bool is_leaf(std::string_view type);
std::string task_object_name(const RunFacts& run, std::string_view path);
std::string_view type_of(const ::pipelines::Pipeline& pipeline, const Place& place);
// The status after a change; times and history follow.
api::Json changed_status(const api::Json& status, const Change& change, base::Time now);

// Makes the task's object, and its status where a change is given.
void begin_task(RunLook& look, const Place& place, const std::string& cache_key, const std::optional<Change>& change);
// Removes the group that the scheduler's controller made for the pods of a step: without pods it would hold its place
// in the queue for as long as there is the task.
Action& remove_group(Plan& plan, const api::Json& task);
// Writes the change, if it is one.
void write_task(RunLook& look, const api::Json& task, const Change& change);

}  // namespace controllers::pipelines
