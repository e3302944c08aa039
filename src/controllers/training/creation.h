// The objects that a training job lacks: those of its framework, its pods and their services (training.md 5.6, 7.4).
#pragma once

#include "controllers/framework/restart_pauses.h"
#include "controllers/training/output.h"
#include "controllers/training/pods_by_type.h"
#include "controllers/training/step.h"

namespace controllers::training {

// False if one of them belongs to somebody else; nothing that comes after it is made then.
bool make_own_objects(const Observed& seen, const FindTaken& find_taken, const Options& options, Output& out);

// As many pods as one look makes, and services. A place that rests is left empty.
void make_replicas(const Observed& seen, const FindTaken& find_taken, const Options& options, const PodsByType& pods,
                   const RestartPauses& pauses, base::Time now, Output& out);

}  // namespace controllers::training
