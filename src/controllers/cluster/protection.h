// Claims and volumes that are in use stay until they are not, whoever deletes them.
#pragma once

#include <memory>

#include "controllers/framework/controller.h"

namespace controllers::cluster {

// Lets a claim that is being deleted go when no pod that has a node names it.
std::unique_ptr<Controller> make_claim_protection();
// Lets a volume that is being deleted go when no claim is bound to it.
std::unique_ptr<Controller> make_volume_protection();

}  // namespace controllers::cluster
