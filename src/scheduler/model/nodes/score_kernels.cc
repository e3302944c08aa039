// Sums, counts and maxima of columns.
#include "scheduler/model/nodes/score_kernels.h"

#include <bit>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scheduler {
namespace {

// Calls `visit` with the positions of the bits, upwards.
template <class Visit>
void for_each_bit(std::uint64_t word, std::size_t base, Visit visit) {
  for (; word != 0; word &= word - 1) visit(base + static_cast<std::size_t>(std::countr_zero(word)));
}

double highest_plain(const double* totals, const std::uint64_t* words, std::size_t count) {
  double highest = -std::numeric_limits<double>::infinity();
  for (std::size_t w = 0; w < count; ++w) {
    for_each_bit(words[w], w * 64, [&](std::size_t i) {
      if (totals[i] > highest) highest = totals[i];
    });
  }
  return highest;
}

#if defined(__x86_64__)

bool has_wide_vectors() {
  static const bool kHas = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
  return kHas;
}

__attribute__((target("popcnt"))) std::size_t count_bits_wide(const std::uint64_t* words, std::size_t count) {
  std::size_t total = 0;
  for (std::size_t w = 0; w < count; ++w) total += static_cast<std::size_t>(_mm_popcnt_u64(words[w]));
  return total;
}

// Returns how many were done; the rest is left to the caller.
__attribute__((target("avx2"))) std::size_t add_weighted_wide(const double* scores, double weight, double* totals,
                                                              std::size_t count) {
  const __m256d factor = _mm256_set1_pd(weight);
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const __m256d part = _mm256_mul_pd(_mm256_loadu_pd(scores + i), factor);
    _mm256_storeu_pd(totals + i, _mm256_add_pd(_mm256_loadu_pd(totals + i), part));
  }
  return i;
}

__attribute__((target("avx2"))) double highest_wide(const double* totals, const std::uint64_t* words,
                                                    std::size_t count) {
  const __m256d lowest = _mm256_set1_pd(-std::numeric_limits<double>::infinity());
  const __m256i places = _mm256_setr_epi64x(1, 2, 4, 8);
  __m256d highest = lowest;
  for (std::size_t w = 0; w < count; ++w) {
    if (words[w] == 0) continue;
    for (std::size_t i = 0; i < 64; i += 4) {
      const __m256i four = _mm256_set1_epi64x(static_cast<std::int64_t>(words[w] >> i));
      const __m256i chosen = _mm256_cmpeq_epi64(_mm256_and_si256(four, places), places);
      const __m256d here = _mm256_loadu_pd(totals + w * 64 + i);
      highest = _mm256_max_pd(highest, _mm256_blendv_pd(lowest, here, _mm256_castsi256_pd(chosen)));
    }
  }
  double four[4];
  _mm256_storeu_pd(four, highest);
  double out = four[0];
  for (const double one : four) out = one > out ? one : out;
  return out;
}

#endif

double highest_of(const double* totals, const std::uint64_t* words, std::size_t count) {
#if defined(__x86_64__)
  if (has_wide_vectors()) return highest_wide(totals, words, count);
#endif
  return highest_plain(totals, words, count);
}

}  // namespace

std::size_t count_bits(const std::uint64_t* words, std::size_t count) {
#if defined(__x86_64__)
  if (has_wide_vectors()) return count_bits_wide(words, count);
#endif
  std::size_t total = 0;
  for (std::size_t w = 0; w < count; ++w) total += static_cast<std::size_t>(std::popcount(words[w]));
  return total;
}

void add_weighted(const double* scores, double weight, double* totals, std::size_t count) {
  std::size_t done = 0;
#if defined(__x86_64__)
  if (has_wide_vectors()) done = add_weighted_wide(scores, weight, totals, count);
#endif
  for (; done < count; ++done) totals[done] += weight * scores[done];
}

std::size_t first_highest(const double* totals, const std::uint64_t* words, std::size_t count) {
  const double highest = highest_of(totals, words, count);
  for (std::size_t w = 0; w < count; ++w) {
    for (std::uint64_t word = words[w]; word != 0; word &= word - 1) {
      const std::size_t i = w * 64 + static_cast<std::size_t>(std::countr_zero(word));
      if (totals[i] == highest) return i;
    }
  }
  return 0;  // not reached while a bit is set
}

}  // namespace scheduler
