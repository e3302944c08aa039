// The first process of a pod whose containers share their processes: it keeps the process namespace, takes the exit
// codes of orphans, and does nothing else. Without a library, so that the file is a few kilobytes and needs no other.

#if defined(__x86_64__)
enum { kSigaction = 13, kPpoll = 271 };
static long call(long number, long a, long b, long c, long d, long e) {
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  long answer;
  __asm__ volatile("syscall"
                   : "=a"(answer)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
                   : "rcx", "r11", "memory");
  return answer;
}
#elif defined(__aarch64__)
enum { kSigaction = 134, kPpoll = 73 };
static long call(long number, long a, long b, long c, long d, long e) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
  return x0;
}
#else
#error "pause.c: system calls of this processor are not known"
#endif

// As the kernel has it: handler, flags, restorer, mask.
struct action {
  unsigned long handler, flags, restorer, mask;
};

void _start(void) {
  const struct action ignore = {1, 0, 0, 0};  // SIG_IGN: the kernel buries children by itself
  call(kSigaction, 17 /* SIGCHLD */, (long)&ignore, 0, 8, 0);
  for (;;) call(kPpoll, 0, 0, 0, 0, 0);
}
