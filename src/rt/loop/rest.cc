// How does the memory that a thread has freed go back to the system?
#include "rt/loop/rest.h"

// Programs are linked with mimalloc; tests and those for sanitizers are not.
extern "C" __attribute__((weak)) void mi_collect(bool force);

namespace rt {

void give_back_memory() {
  if (mi_collect != nullptr) mi_collect(true);
}

void run_with_rests(boost::asio::io_context& context, std::size_t handlers_of_work,
                    const std::function<void()>& at_rest, std::chrono::milliseconds span) {
  std::size_t handlers = handlers_of_work;  // a start is work
  for (;;) {
    if (handlers < handlers_of_work) {
      if (context.run_one() == 0) return;
      ++handlers;
      continue;
    }
    const std::size_t ran = context.run_for(span);
    if (context.stopped()) return;
    if (ran >= handlers_of_work) continue;
    at_rest();
    handlers = 0;
  }
}

}  // namespace rt
