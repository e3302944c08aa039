// Which changes of what it sees can change what a job is in need of; the others wake nobody.
#pragma once

#include "api/json/json.h"
#include "controllers/training/framework.h"

namespace controllers::training {

// Whether an object is controlled by a job of this framework, or by a Job that may be the launcher of one.
bool may_be_owned(const Framework& framework, const api::Json& object);

// Whether a look at the job of a pod could find something else after this change. Both are set.
bool is_news_to_its_job(const Framework& framework, const api::Json& before, const api::Json& after);
// For news about a pod of `job`: whether nothing but numbers of the job's status can follow from it. All are objects as
// the server shows them.
bool changes_only_counts(const Framework& framework, const api::Json& job, const api::Json& before,
                         const api::Json& after);
// Whether a pod of a job that has finished may do as it does without a look at the job.
bool is_settled(const api::Json& job, const api::Json& pod);
// Whether a look at a job could find something else after its document changed: numbers of pods are only told.
bool is_news_to_itself(const api::Json& before, const api::Json& after);

}  // namespace controllers::training
