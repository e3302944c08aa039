// Arithmetic over whole columns of scores. Wide vectors are used where the machine has them; results are the same.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scheduler {

// How many bits are set.
std::size_t count_bits(const std::uint64_t* words, std::size_t count);

// totals[i] += weight * scores[i], as if one by one.
void add_weighted(const double* scores, double weight, double* totals, std::size_t count);

// The first position with the highest total among those whose bit is set; one bit at least is. `totals` holds 64
// entries per word, none of them NaN.
std::size_t first_highest(const double* totals, const std::uint64_t* words, std::size_t count);

}  // namespace scheduler
