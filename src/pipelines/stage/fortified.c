// Debian's mbedTLS was compiled against another C library, with checks of bounds; these are the functions of the checks.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void* __memcpy_chk(void* to, const void* from, size_t count, size_t room) {
  if (count > room) __builtin_trap();
  return memcpy(to, from, count);
}

void* __memset_chk(void* to, int value, size_t count, size_t room) {
  if (count > room) __builtin_trap();
  return memset(to, value, count);
}

int __vsnprintf_chk(char* to, size_t count, int flag, size_t room, const char* format, va_list values) {
  (void)flag;
  if (count > room) __builtin_trap();
  return vsnprintf(to, count, format, values);
}

int __snprintf_chk(char* to, size_t count, int flag, size_t room, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int bytes = __vsnprintf_chk(to, count, flag, room, format, values);
  va_end(values);
  return bytes;
}

/* Only self-tests of the library print. */
int __printf_chk(int flag, const char* format, ...) {
  (void)flag;
  (void)format;
  return 0;
}
