// CronJobs of batch/v1: Jobs by the clock.
#pragma once

#include <memory>

#include "base/time_zone.h"
#include "controllers/framework/controller.h"

namespace controllers::workloads {

// `local`: the zone of schedules that name none.
std::unique_ptr<Controller> make_batch_cron_job_controller(base::TimeZone local);

}  // namespace controllers::workloads
