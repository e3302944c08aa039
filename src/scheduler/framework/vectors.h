// How are hot loops over columns compiled? Twice, the second time for wide vectors; the machine decides at the start.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__) || defined(__clang__)
#define VOLCANO_VECTOR
#else
#define VOLCANO_VECTOR __attribute__((target_clones("avx2", "default"), optimize("O3")))
#endif
