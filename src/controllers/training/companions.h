// The objects that a training job has once: its group and its autoscaler (training.md 8, 9).
#pragma once

#include <map>
#include <optional>

#include "api/json/json.h"
#include "base/time.h"
#include "controllers/training/output.h"
#include "controllers/training/pods.h"
#include "controllers/training/step.h"

namespace controllers::training {

// A job has no event when somebody else's object, which has a name that it needs, goes.
inline constexpr base::Duration kStrangerPause = base::seconds(10);

// False: the job waits for a PriorityClass that it names.
bool are_priorities_known(const Observed& seen, Output& out);

struct GroupAdmission {
  bool may_make_pods = false;
  api::Json good_group = {};  // see Memory::group
};

// Makes the group, or makes it what it should be. `good_group` was found to be so before.
GroupAdmission admit_group(const Observed& seen, const Options& options, api::Json good_group, Output& out);
void remove_group(const Observed& seen, const Options& options, Output& out);

void keep_autoscaler(const Observed& seen, const Options& options, Output& out);
void remove_autoscaler(const Observed& seen, Output& out);

}  // namespace controllers::training
