// Least allocated, most allocated and balanced allocation of every node for one pod, in one pass over the columns.
#include "scheduler/plugins/nodeorder/capacity_kernel.h"

#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace scheduler {
namespace {

// For 0 <= part <= whole below 2^46 the quotient never rounds up across an integer.
double floor_percent(double part, double whole) { return std::floor(part * 100.0 / whole); }
double smaller(double a, double b) { return a < b ? a : b; }

double evenness_plain(double cpu, double memory) {
  return std::trunc((1 - std::fabs(smaller(cpu, 1) - smaller(memory, 1)) / 2) * 100);
}

}  // namespace

double capacity_score(const CapacityTask& t, std::size_t n) {
  const auto cc = static_cast<double>(t.cpu_cap[n]), mc = static_cast<double>(t.memory_cap[n]);
  const double cu = static_cast<double>(t.cpu_used[n]) + t.cpu, mu = static_cast<double>(t.memory_used[n]) + t.memory;
  const int resources = (cc != 0) + (mc != 0);
  double total = 0;
  if (resources > 0) {
    const double least_cpu = cc == 0 || cu > cc ? 0 : floor_percent(cc - cu, cc);
    const double least_memory = mc == 0 || mu > mc ? 0 : floor_percent(mc - mu, mc);
    const double most_cpu = cc == 0 ? 0 : floor_percent(smaller(cu, cc), cc);
    const double most_memory = mc == 0 ? 0 : floor_percent(smaller(mu, mc), mc);
    total += t.least * std::floor((least_cpu + least_memory) / resources) +
             t.most * std::floor((most_cpu + most_memory) / resources);
  }
  if (t.balanced == 0) return total;
  double after = 100;
  if (resources == 2) {
    const auto cr = static_cast<double>(t.cpu_real[n]), mr = static_cast<double>(t.memory_real[n]);
    after = evenness_plain((cr + t.cpu_wanted) / cc, (mr + t.memory_wanted) / mc);
  }
  return total + t.balanced * (50 + std::trunc((50 + after - t.balance_now[n]) / 2));
}

#if defined(__x86_64__)
namespace {

#define WIDE __attribute__((target("avx2"))) inline

// Exact for 0 <= value < 2^52.
WIDE __m256d doubles(const std::int64_t* at) {
  const __m256i raw = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i shifted = _mm256_add_epi64(raw, _mm256_set1_epi64x(0x4330000000000000));
  return _mm256_sub_pd(_mm256_castsi256_pd(shifted), _mm256_set1_pd(4503599627370496.0));
}
WIDE __m256d floors(__m256d x) { return _mm256_floor_pd(x); }
WIDE __m256d truncs(__m256d x) { return _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC); }
WIDE __m256d magnitude(__m256d x) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), x); }
WIDE __m256d percent(__m256d part, __m256d whole) {
  return floors(_mm256_div_pd(_mm256_mul_pd(part, _mm256_set1_pd(100)), whole));
}

// 100 minus the gap of the two fractions, in whole points.
WIDE __m256d evenness(__m256d cpu, __m256d memory) {
  const __m256d one = _mm256_set1_pd(1);
  const __m256d gap = magnitude(_mm256_sub_pd(_mm256_min_pd(cpu, one), _mm256_min_pd(memory, one)));
  const __m256d rest = _mm256_sub_pd(one, _mm256_mul_pd(gap, _mm256_set1_pd(0.5)));
  return truncs(_mm256_mul_pd(rest, _mm256_set1_pd(100)));
}

// Four nodes that offer both cpu and memory.
WIDE void add_four(const CapacityTask& t, double* totals, std::size_t n, __m256d cc, __m256d mc) {
  const __m256d half = _mm256_set1_pd(0.5);
  const __m256d cu = _mm256_add_pd(doubles(t.cpu_used + n), _mm256_set1_pd(t.cpu));
  const __m256d mu = _mm256_add_pd(doubles(t.memory_used + n), _mm256_set1_pd(t.memory));
  const __m256d zero = _mm256_setzero_pd();
  __m256d total = zero;
  if (t.least != 0) {
    const __m256d cpu = percent(_mm256_max_pd(_mm256_sub_pd(cc, cu), zero), cc);
    const __m256d memory = percent(_mm256_max_pd(_mm256_sub_pd(mc, mu), zero), mc);
    total = _mm256_mul_pd(_mm256_set1_pd(t.least), floors(_mm256_mul_pd(_mm256_add_pd(cpu, memory), half)));
  }
  if (t.most != 0) {
    const __m256d sum = _mm256_add_pd(percent(_mm256_min_pd(cu, cc), cc), percent(_mm256_min_pd(mu, mc), mc));
    total = _mm256_add_pd(total, _mm256_mul_pd(_mm256_set1_pd(t.most), floors(_mm256_mul_pd(sum, half))));
  }
  if (t.balanced != 0) {
    const __m256d cr = doubles(t.cpu_real + n), mr = doubles(t.memory_real + n);
    const __m256d after = evenness(_mm256_div_pd(_mm256_add_pd(cr, _mm256_set1_pd(t.cpu_wanted)), cc),
                                   _mm256_div_pd(_mm256_add_pd(mr, _mm256_set1_pd(t.memory_wanted)), mc));
    const __m256d change = _mm256_sub_pd(_mm256_add_pd(_mm256_set1_pd(50), after), _mm256_loadu_pd(t.balance_now + n));
    const __m256d balance = _mm256_add_pd(_mm256_set1_pd(50), truncs(_mm256_mul_pd(change, half)));
    total = _mm256_add_pd(total, _mm256_mul_pd(_mm256_set1_pd(t.balanced), balance));
  }
  _mm256_storeu_pd(totals + n, _mm256_add_pd(_mm256_loadu_pd(totals + n), total));
}

__attribute__((target("avx2"))) void add_wide(const CapacityTask& t, double* totals, std::size_t count) {
  const __m256d zero = _mm256_setzero_pd();
  for (std::size_t n = 0; n < count; n += 4) {
    const __m256d cc = doubles(t.cpu_cap + n), mc = doubles(t.memory_cap + n);
    const __m256d lacking = _mm256_or_pd(_mm256_cmp_pd(cc, zero, _CMP_EQ_OQ), _mm256_cmp_pd(mc, zero, _CMP_EQ_OQ));
    if (_mm256_movemask_pd(lacking) == 0) {
      add_four(t, totals, n, cc, mc);
    } else {
      for (std::size_t i = n; i < n + 4; ++i) totals[i] += capacity_score(t, i);
    }
  }
}

}  // namespace
#endif

double balance_points(std::int64_t cpu_used, std::int64_t cpu_cap, std::int64_t memory_used, std::int64_t memory_cap) {
  if (cpu_cap == 0 || memory_cap == 0) return 100;
  return evenness_plain(static_cast<double>(cpu_used) / static_cast<double>(cpu_cap),
                        static_cast<double>(memory_used) / static_cast<double>(memory_cap));
}

void add_capacity_scores(const CapacityTask& task, double* totals, std::size_t count) {
#if defined(__x86_64__)
  static const bool kWide = __builtin_cpu_supports("avx2");
  if (kWide) return add_wide(task, totals, count);
#endif
  for (std::size_t n = 0; n < count; ++n) totals[n] += capacity_score(task, n);
}

}  // namespace scheduler
