// Why a group waits, from what the scheduler wrote and from what it says itself.
#pragma once

#include <map>
#include <string>

#include "cli/command.h"

namespace cli {

// The flag with the address of the scheduler's metrics server.
Flag scheduler_flag();
// The report of the scheduler at --scheduler on waiting groups, by "namespace/name"; empty without the flag.
base::Result<api::Json> ask_scheduler(World& world, const Values& values);

// The last condition of that type, or null.
const api::Json* condition_of(const api::Json& object, std::string_view type);
bool has_started(const api::Json& group);
// Why groups are not admitted, as their events say it, by "namespace/name".
using AdmissionEvents = std::map<std::string, std::string>;
// An empty namespace: of all.
base::Result<AdmissionEvents> admission_events(Api& server, const std::string& ns);
// One sentence; empty when the group has started. `queue` is null if there is none; `live` is what the scheduler says.
std::string reason_of(const api::Json& group, const api::Json* queue, const api::Json& live,
                      const AdmissionEvents& events);

}  // namespace cli
