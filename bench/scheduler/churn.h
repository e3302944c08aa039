// The memory that jobs leave in a scheduler when they are gone.
#pragma once

#include "base/result.h"

namespace bench {

// Jobs of two pods come, are placed, run to their end and go, a thousand at a time, `jobs` in all. The growth of the
// memory from a fifth of them to the last, in bytes a job. `near_each_other`: the pods of each wish to be.
base::Result<double> bytes_left_by_a_job(int jobs, bool near_each_other);

}  // namespace bench
