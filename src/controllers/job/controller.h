// The job controller: what wakes it and where its view of one job comes from.
#pragma once

#include <memory>

#include "base/metrics.h"
#include "controllers/framework/controller.h"
#include "controllers/job/step.h"

namespace controllers::job {

// It counts into `metrics`, which may be null and outlives it.
std::unique_ptr<Controller> make_job_controller(Options options, base::Metrics* metrics = nullptr);

// The job with this key, as `view` shows it. `job` is null if there is none.
struct Sight {
  const api::Json* job = nullptr;
  Observed observed;
};
Sight observe(const View& view, const std::string& key);

}  // namespace controllers::job
