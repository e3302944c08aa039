// Which of many finished pods go?
#pragma once

#include <string_view>

#include "controllers/framework/controller.h"

namespace controllers::cluster {

// How many finished pods stay; zero or less: all.
struct FinishedPodLimits {
  int everywhere = 12'500;
  int in_namespace = 2'500;
};

// The index of finished pods by namespace, and by "" for all of them. Pods that their owner would make again, and those
// that it has not counted yet, are left out where that can be seen from the pod.
inline constexpr std::string_view kFinishedPods = "finished-pods";
IndexBy finished_pods();

// Deletes those that are too many in `ns`, or anywhere if it is empty: the oldest first.
void collect_finished(const View& view, std::string_view ns, const FinishedPodLimits& limits, base::Time now,
                      Plan& plan);

}  // namespace controllers::cluster
