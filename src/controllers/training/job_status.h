// The status of a training job as it will be, and the judgements that it follows from (training.md 6).
#pragma once

#include <string>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/training/findings.h"
#include "controllers/training/output.h"
#include "controllers/training/step.h"
#include "controllers/training/verdict.h"

namespace controllers::training {

// A condition that tells why the server does not let the job make its pods.
inline constexpr std::string_view kCreationRefused = "CreationRefused";

struct JobStatus {
  Conditions conditions;
  api::Json fields;  // without conditions
};

// As the document has it.
JobStatus read_status(const api::Json& job, base::Time now);

// With the condition Created.
JobStatus with_creation(const TrainingJob& job, JobStatus status, Output& out);
// The words of the server about what it does not let the job make; empty: it refuses nothing that is still missing.
std::string refusal_of(const Turn& turn, bool has_all_pods);
// A pod that a successful job leaves running is not a failure.
JobStatus with_active_as_succeeded(JobStatus status);

// The conditions of a job whose pods were judged, and how it came to them.
struct Judgement {
  Conditions conditions;
  std::vector<Reported> reported;
  bool has_succeeded = false;
  bool has_failed = false;
};

Judgement judge(const TrainingJob& job, Conditions conditions, const PodFindings& found);
Judgement judge_limit_reached(const TrainingJob& job, Conditions conditions, const std::string& message);
// With conditions, counts and, if the job has ended, its time.
JobStatus with_judgement(const TrainingJob& job, JobStatus status, Judgement judged, const CountsByType& counts,
                         base::Time now, Output& out);

// The write of a status that differs from the document's, or a later look if only numbers of pods differ.
void write_status(const Reading& reading, const JobStatus& status, const Turn& turn, Output& out);

}  // namespace controllers::training
