// The claims behind a Job's volumes.
#pragma once

#include "controllers/framework/plan.h"
#include "controllers/job/job.h"
#include "controllers/job/step.h"

namespace controllers::job {

// Names claims that have no name yet (in the plan and in `job`), makes those the job defines, and notes them in
// `controlled`. False if the job has to wait for a claim of somebody else.
bool keep_volumes(Job& job, const Observed& seen, const FindTaken& find_taken, Plan& plan, api::Json& controlled);

// Pods must not be made from such a job: they would lack a volume.
bool has_nameless_claim(const Job& job);

}  // namespace controllers::job
