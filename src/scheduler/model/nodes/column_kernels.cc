// Comparisons over whole columns, 64 nodes to a word of a node set.
#include "scheduler/model/nodes/column_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scheduler {
namespace {

template <class Test>
void keep_plain(std::uint64_t* words, std::size_t count, const Test& test) {
  for (std::size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < 64; ++i) mask |= static_cast<std::uint64_t>(test(w * 64 + i) ? 1 : 0) << i;
    words[w] &= mask;
  }
}

#if defined(__x86_64__)

bool has_wide_vectors() {
  static const bool kHas = __builtin_cpu_supports("avx2");
  return kHas;
}

__attribute__((target("avx2"))) inline __m256i load(const std::int64_t* at) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

// One bit per entry where left > right, i.e. where the test fails.
__attribute__((target("avx2"))) inline std::uint64_t greater(__m256i left, __m256i right) {
  return static_cast<std::uint64_t>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(left, right))));
}

__attribute__((target("avx2"))) void keep_at_least_wide(const std::int64_t* column, std::int64_t amount,
                                                        std::uint64_t* words, std::size_t count) {
  const __m256i wanted = _mm256_set1_epi64x(amount);
  for (std::size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    std::uint64_t fails = 0;
    for (std::size_t i = 0; i < 64; i += 4) fails |= greater(wanted, load(column + w * 64 + i)) << i;
    words[w] &= ~fails;
  }
}

__attribute__((target("avx2"))) void keep_future_wide(const std::int64_t* idle, const std::int64_t* releasing,
                                                      const std::int64_t* pipelined, std::int64_t amount,
                                                      std::uint64_t* words, std::size_t count) {
  const __m256i wanted = _mm256_set1_epi64x(amount);
  for (std::size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    std::uint64_t fails = 0;
    for (std::size_t i = 0; i < 64; i += 4) {
      const std::size_t at = w * 64 + i;
      const __m256i future =
          _mm256_sub_epi64(_mm256_add_epi64(load(idle + at), load(releasing + at)), load(pipelined + at));
      fails |= greater(wanted, future) << i;
    }
    words[w] &= ~fails;
  }
}

__attribute__((target("avx2"))) void keep_less_wide(const std::int64_t* left, const std::int64_t* right,
                                                    std::uint64_t* words, std::size_t count) {
  for (std::size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    std::uint64_t holds = 0;
    for (std::size_t i = 0; i < 64; i += 4) holds |= greater(load(right + w * 64 + i), load(left + w * 64 + i)) << i;
    words[w] &= holds;
  }
}

#endif

}  // namespace

void keep_at_least(const std::int64_t* column, std::int64_t amount, std::uint64_t* words, std::size_t count) {
#if defined(__x86_64__)
  if (has_wide_vectors()) return keep_at_least_wide(column, amount, words, count);
#endif
  keep_plain(words, count, [&](std::size_t i) { return column[i] >= amount; });
}

void keep_future_at_least(const std::int64_t* idle, const std::int64_t* releasing, const std::int64_t* pipelined,
                          std::int64_t amount, std::uint64_t* words, std::size_t count) {
#if defined(__x86_64__)
  if (has_wide_vectors()) return keep_future_wide(idle, releasing, pipelined, amount, words, count);
#endif
  keep_plain(words, count, [&](std::size_t i) { return idle[i] + releasing[i] - pipelined[i] >= amount; });
}

void keep_less(const std::int64_t* left, const std::int64_t* right, std::uint64_t* words, std::size_t count) {
#if defined(__x86_64__)
  if (has_wide_vectors()) return keep_less_wide(left, right, words, count);
#endif
  keep_plain(words, count, [&](std::size_t i) { return left[i] < right[i]; });
}

}  // namespace scheduler
