// RecurringRuns: PipelineRuns, or Workflows, at the times of a schedule (kubeflow.md 6.2).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controllers/framework/controller.h"

namespace controllers::pipelines {

std::unique_ptr<Controller> make_recurring_run_controller();

// A look at one of them. `runs`: those that it made and that are still there; `versions`: of the pipeline that it
// names, which are asked for where it names no version.
struct RecurringLook {
  const api::Json& recurring;
  std::vector<const api::Json*> runs = {};
  std::vector<const api::Json*> workflows = {};  // runs of documents of version 1
  std::vector<const api::Json*> versions = {};
};
Plan recurring_step(const RecurringLook& look, const Turn& turn);

// The name of the run of that time: the same for the same time, so that a crash makes no run twice.
std::string run_name(std::string_view recurring, base::Time scheduled);

}  // namespace controllers::pipelines
