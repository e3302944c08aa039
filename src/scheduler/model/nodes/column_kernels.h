// Comparisons over whole columns, 64 nodes to a word of a node set. Wide vectors are used where the machine has them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace scheduler {

// Each clears the bits of `words` whose entries fail. Columns hold 64 entries per word.
void keep_at_least(const std::int64_t* column, std::int64_t amount, std::uint64_t* words, std::size_t count);
void keep_future_at_least(const std::int64_t* idle, const std::int64_t* releasing, const std::int64_t* pipelined,
                          std::int64_t amount, std::uint64_t* words, std::size_t count);
void keep_less(const std::int64_t* left, const std::int64_t* right, std::uint64_t* words, std::size_t count);

}  // namespace scheduler
