// How people ask a server that may be away: they ask again until they are told something definite.
#pragma once

#include <functional>
#include <memory>

#include "client/client.h"
#include "sim/world/world.h"

namespace sim {

// `done` gets the first answer that is not an outage. `attempts` counts: more than one means that an earlier attempt
// may have been carried out unheard.
void ask_until_answered(Person& person, client::Request request,
                        std::function<void(base::Result<api::Json>, int attempts)> done);

}  // namespace sim
