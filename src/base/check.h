// Invariants: a failed CHECK is a bug in this program and stops it, in release builds too. Input of a user or a peer
// may never be able to trip one; such input is refused with a Result.
#pragma once

namespace base {

[[noreturn]] void check_failed(const char* expression, const char* file, int line);

}  // namespace base

#define CHECK(condition)                                    \
  do {                                                      \
    if (!(condition)) [[unlikely]]                          \
      ::base::check_failed(#condition, __FILE__, __LINE__); \
  } while (false)

// DCHECK guards measured hot loops only; it is compiled away in release builds.
#ifdef NDEBUG
#define DCHECK(condition) static_cast<void>(0)
#else
#define DCHECK(condition) CHECK(condition)
#endif
