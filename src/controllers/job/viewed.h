// Which objects of a job's plugins does the view show?
#pragma once

#include "controllers/job/plugins/plugin.h"

namespace controllers::job {

// Only the server knows whether the others (secrets, network policies) are there, and whose they are.
inline bool is_viewed(const PluginObject& object) {
  return object.resource == api::resources::kConfigMaps || object.resource == api::resources::kServices;
}

}  // namespace controllers::job
