// The content of a database at one moment, read beside the process that writes to it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rt {

// Visits all records of the newest committed state of the database in the folder `path`, in key order, until `visit`
// returns false. The writer goes on; pages that it frees meanwhile are kept until this returns. A file that no process
// has open is looked through first, and damage is an error. kNotFound: there is no database.
base::Status scan_lmdb_snapshot(const std::string& path,
                                const std::function<bool(std::string_view key, std::string_view value)>& visit);

}  // namespace rt
