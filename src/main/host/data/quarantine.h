// A folder beside the database for records that cannot be read, so that everything else can be served.
#pragma once

#include <string>
#include <vector>

#include "apiserver/pipeline/api.h"
#include "base/result.h"
#include "store/store.h"

namespace volcano_main {

// Writes each broken record as two files below `folder`: NAME.bytes, exactly what was stored, and NAME.txt, which says
// what it was, its key and what is wrong. Then takes them out of the store. Returns one line for each.
// Before the first write to `store` only. An error changes nothing in the store.
base::Result<std::vector<std::string>> set_aside_broken(store::Store& store, const std::string& folder, base::Time now);

// An Event of type Warning at each object that was set aside, in its namespace. API server's loop, after bootstrap.
void record_broken(apiserver::Api& api, const std::vector<store::Broken>& broken, const std::string& folder);

}  // namespace volcano_main
