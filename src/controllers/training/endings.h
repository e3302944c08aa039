// The objects that go when a training job has finished, is suspended, or has been there long enough (training.md 7.3,
// 7.6).
#pragma once

#include "controllers/training/job_status.h"
#include "controllers/training/output.h"
#include "controllers/training/step.h"

namespace controllers::training {

// The pods and services of a job that is to have none.
void remove_all(const Observed& seen, Output& out);
// The remains of a job that failed at a limit, whatever its policy says.
void remove_after_limit(const Observed& seen, Output& out);

// A finished job: its remains go, its status is written, and it goes itself when its time to live is over.
// `failed_at_limit`: it did so in a look before.
void clean_up(const Observed& seen, const Options& options, JobStatus status, bool failed_at_limit, const Turn& turn,
              Output& out);

void suspend(const Observed& seen, const Options& options, JobStatus status, const Turn& turn, Output& out);
// The Job that makes a launcher follows; one that is suspended has no pods either.
void suspend_launcher_job(const Observed& seen, bool suspend, Output& out);
// The status of a job that begins again. Unset while pods of the time before are still there.
std::optional<JobStatus> resume(const Observed& seen, JobStatus status, const Turn& turn, Output& out);

}  // namespace controllers::training
