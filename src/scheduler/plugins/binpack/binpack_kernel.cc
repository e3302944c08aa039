// Four nodes at a time where the machine has wide vectors.
#include "scheduler/plugins/binpack/binpack_kernel.h"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scheduler {

double binpack_score(std::span<const BinpackTerm> terms, double divisor, double weight, std::size_t node) {
  double sum = 0;
  for (const BinpackTerm& term : terms) {
    const std::int64_t capacity = term.allocatable[node];
    if (capacity == 0) continue;
    const std::int64_t after = term.used[node] + term.amount;
    if (after > capacity) return 0;
    sum += static_cast<double>(term.free ? capacity - after : after) * term.weight / static_cast<double>(capacity);
  }
  return sum / divisor * 100 * weight;
}

#if defined(__x86_64__)
namespace {

constexpr std::int64_t kExactMax = (std::int64_t{1} << 52) - 1;

#define WIDE __attribute__((target("avx2"))) inline

// Exact for 0 <= value < 2^52.
WIDE __m256d doubles(__m256i raw) {
  const __m256i shifted = _mm256_add_epi64(raw, _mm256_set1_epi64x(0x4330000000000000));
  return _mm256_sub_pd(_mm256_castsi256_pd(shifted), _mm256_set1_pd(4503599627370496.0));
}

// False: a value is too large for this, and nothing was added.
WIDE bool add_four(std::span<const BinpackTerm> terms, double divisor, double factor, double weight, double* totals,
                   std::size_t n) {
  const __m256i inexact = _mm256_set1_epi64x(~kExactMax);
  const __m256d zero = _mm256_setzero_pd();
  __m256d sum = zero, over = zero;
  for (const BinpackTerm& term : terms) {
    const __m256i capacity_raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(term.allocatable + n));
    const __m256i used_raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(term.used + n));
    if (!_mm256_testz_si256(_mm256_or_si256(capacity_raw, used_raw), inexact)) return false;
    const __m256d capacity = doubles(capacity_raw);
    const __m256d after = _mm256_add_pd(doubles(used_raw), _mm256_set1_pd(static_cast<double>(term.amount)));
    const __m256d offered = _mm256_cmp_pd(capacity, zero, _CMP_NEQ_OQ);
    over = _mm256_or_pd(over, _mm256_and_pd(offered, _mm256_cmp_pd(after, capacity, _CMP_GT_OQ)));
    const __m256d part = _mm256_div_pd(_mm256_mul_pd(after, _mm256_set1_pd(term.weight)), capacity);
    sum = _mm256_add_pd(sum, _mm256_and_pd(offered, part));
  }
  const __m256d mean =
      factor != 0 ? _mm256_mul_pd(sum, _mm256_set1_pd(factor)) : _mm256_div_pd(sum, _mm256_set1_pd(divisor));
  __m256d score = _mm256_mul_pd(mean, _mm256_set1_pd(100));
  score = _mm256_andnot_pd(over, _mm256_mul_pd(score, _mm256_set1_pd(weight)));
  _mm256_storeu_pd(totals + n, _mm256_add_pd(_mm256_loadu_pd(totals + n), score));
  return true;
}

__attribute__((target("avx2"))) void add_wide(std::span<const BinpackTerm> terms, double divisor, double weight,
                                              double* totals, std::size_t count) {
  // To divide by a power of two is to multiply, to the bit; 0 for another divisor.
  int exponent = 0;
  const double factor = std::frexp(divisor, &exponent) == 0.5 ? 1 / divisor : 0;
  for (std::size_t n = 0; n < count; n += 4) {
    if (add_four(terms, divisor, factor, weight, totals, n)) continue;
    for (std::size_t i = n; i < n + 4; ++i) totals[i] += binpack_score(terms, divisor, weight, i);
  }
}

}  // namespace
#endif

void add_binpack_scores(std::span<const BinpackTerm> terms, double divisor, double weight, double* totals,
                        std::size_t count) {
#if defined(__x86_64__)
  static const bool kWide = __builtin_cpu_supports("avx2");
  bool exact = kWide;
  for (const BinpackTerm& term : terms) exact = exact && term.amount <= kExactMax && !term.free;
  if (exact) return add_wide(terms, divisor, weight, totals, count);
#endif
  for (std::size_t n = 0; n < count; ++n) totals[n] += binpack_score(terms, divisor, weight, n);
}

}  // namespace scheduler
