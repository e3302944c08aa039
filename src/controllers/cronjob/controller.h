// The CronJob controller: makes Jobs by the clock (controllers.md 9).
#pragma once

#include <memory>

#include "base/time_zone.h"
#include "controllers/framework/controller.h"

namespace controllers::cronjob {

struct Options {
  base::TimeZone local = {};  // of schedules that name no zone
};

std::unique_ptr<Controller> make_cronjob_controller(Options options = {});

}  // namespace controllers::cronjob
