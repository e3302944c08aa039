// How much work do values cost? Counted in steps of this thread: members and items looked at, moved, copied, compared.
//
// A step is the same on every machine, so tests measure growth by it, and edits with a limit of work stop at it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace api {

inline constinit thread_local std::uint64_t work_steps = 0;

inline void count_work(std::size_t steps) { work_steps += steps; }

}  // namespace api
