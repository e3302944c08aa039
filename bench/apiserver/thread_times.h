// The computing time of this process's threads, by their names.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace bench {

// Nanoseconds on a processor of the threads that live now.
std::map<std::string, std::int64_t> thread_times();
// "http 31.0, store 12.5": what was added since `before`, in microseconds for each of `count`.
std::string times_each(const std::map<std::string, std::int64_t>& before, int count);

}  // namespace bench
