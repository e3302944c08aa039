// The next step of a CronJob: its list of active Jobs, its history, and the run that is due.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json.h"
#include "base/time.h"
#include "base/time_zone.h"
#include "controllers/framework/controller.h"
#include "controllers/framework/ongoing_states.h"
#include "controllers/framework/plan.h"

namespace controllers::cronjob {

inline constexpr std::string_view kScheduledAt = "volcano.sh/cronjob-scheduled-timestamp";

// All that is remembered of a CronJob from one look to the next; what matters after a restart is in its status.
struct Memory {
  std::string uid = {};
  base::Time handled = {};   // the last run that was made; the status says so a look later
  std::string unseen = {};   // the Job that was asked for last, until a view shows it
  base::Time there_at = {};  // when the server said that it is there
  base::Time looked_at = {};
  std::string schedule = {};            // schedule and zone as last seen
  base::Time schedule_since = {};       // when they changed; zero: never, as far as is known
  std::set<std::string> reported = {};  // warnings that hold since an earlier look
  std::string refused = {};             // why the last Job could not be made
  bool namespace_ends = false;          // that was why
};

struct Observed {
  const api::Json* cronjob = nullptr;           // not null
  std::vector<const api::Json*> children = {};  // Jobs that it controls, in key order
};

struct Decision {
  Plan plan = {};
  Memory memory = {};  // `handled` holds only if the plan succeeded
};

// Finds a Job of the CronJob's namespace by its name, whoever made it. Which names a look needs follows from its clock.
using FindJob = std::function<const api::Json*(std::string_view name)>;

Decision step(const Observed& seen, const FindJob& find_job, Memory memory, const Turn& turn,
              const base::TimeZone& local);

}  // namespace controllers::cronjob
