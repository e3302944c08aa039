// Events, whose names are words of paths.
#include "apiserver/kinds/rows.h"

namespace apiserver {

using api::Json;

const KindRules kEvent = {.kind = "Event", .naming = Naming::kPath};

}  // namespace apiserver
