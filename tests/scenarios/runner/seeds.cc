// Random clusters: decided by the fast and the plain scheduler, which must agree and break no invariant.
//
// Clusters are decided in child processes, so that one that crashes or hangs is shrunk like one that is decided
// wrongly.
#include "seeds.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iostream>

#include "by_the_book.h"
#include "random_cluster.h"
#include "run.h"
#include "shrink.h"

namespace scenario {
namespace {

constexpr std::uint64_t kSeedsInAChild = 100;
constexpr unsigned kSecondsToDecide = 30;

// The progress of the children, in memory shared with them.
struct Progress {
  std::uint64_t seed;
  std::uint64_t by_the_book;
  std::uint64_t binds, evictions;
};
Progress* progress = nullptr;
std::uint64_t splits = 1;  // how many are tried; more while a find is shrunk, so that it is found again

std::uint64_t count_lines(const std::string& text, std::string_view beginning) {
  std::uint64_t out = 0;
  for (std::size_t at = text.find(beginning); at != std::string::npos; at = text.find(beginning, at + 1)) ++out;
  return out;
}

// The faults of the decisions, or nothing. A text that cannot be played is not a find.
std::string fault_of(const std::string& text) {
  const auto fast = play(text);
  if (!fast.ok()) return "";
  if (const std::size_t at = fast->find("\nBROKEN "); at != std::string::npos)
    return fast->substr(at + 1, fast->find('\n', at + 1) - at - 1);
  const auto plain = play(text, Player::kPlain);
  if (!plain.ok() || *plain != *fast) return "the plain scheduler decides otherwise";
  const auto replayed = play(text, Player::kReplayed);
  if (!replayed.ok() || *replayed != *fast) return "hearing of unchanged objects again changes decisions";
  for (std::uint64_t split = 0; split < splits; ++split) {
    const auto parts = play(text, Player::kSplit, split);
    if (!parts.ok() || *parts != *fast) return "the order and the parts in which events come change decisions";
  }
  progress->binds += count_lines(*fast, "\nbind ");
  progress->evictions += count_lines(*fast, "\nevict ");
  if (text.find("show order\n") == std::string::npos) return "";
  if (!play(text, Player::kDumped).ok()) return "a dump decides otherwise";
  const auto book = decide_by_the_book(text);
  if (!book.ok()) return "the book does not know all of it";
  ++progress->by_the_book;
  if (*book != binds_of(*fast)) return "by the book it would be\n" + *book + "and it is\n" + binds_of(*fast);
  return "";
}

// Runs in a child of its own; its exit status, or the signal's number and 128.
template <class Work>
int in_a_child(Work&& work) {
  std::cout.flush();
  const pid_t child = fork();
  if (child == 0) {
    const int code = work();
    std::cout.flush();
    _exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// 0: nothing is wrong. Finds of one kind have one number, so that shrinking does not slip to another.
int kind_of(const std::string& text) {
  return in_a_child([&] {
    // A crash prints once, when the shrunk text is played.
    if (freopen("/dev/null", "w", stderr) == nullptr) return 0;
    alarm(kSecondsToDecide);
    const std::string fault = fault_of(text);
    if (fault.empty()) return 0;
    if (!fault.starts_with("BROKEN "))
      return fault.starts_with("the plain")     ? 1
             : fault.starts_with("by the book") ? 2
             : fault.starts_with("the order")   ? 80
             : fault.starts_with("a dump")      ? 81
             : fault.starts_with("the book")    ? 82
                                                : 3;
    return 4 + static_cast<int>(fault[7] % 64);
  });
}

void report(std::uint64_t seed, const Seeds& seeds) {
  std::string text = random_scenario(seed);
  if (!seeds.shrinks) return;
  splits = 12;
  const int kind = kind_of(text);
  if (kind != 0) text = shrink(text, [&](const std::string& one) { return kind_of(one) == kind; });
  std::cout << "FAIL seed " << seed << (kind == 0 ? " (not when played alone)" : "") << "\n" << text;
  in_a_child([&] {
    alarm(kSecondsToDecide);
    std::cout << "# " << fault_of(text) << std::endl;
    return 0;
  });
}

}  // namespace

int run_seeds(const Seeds& seeds) {
  const auto start = std::chrono::steady_clock::now();
  const auto is_over = [&] {
    return seeds.seconds > 0 &&
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seeds.seconds;
  };
  progress = static_cast<Progress*>(
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::uint64_t& at = progress->seed;
  int failed = 0;
  std::uint64_t next = seeds.first;
  const std::uint64_t end = seeds.first + seeds.count;
  while (next < end && !is_over()) {
    const std::uint64_t stop = std::min(end, next + kSeedsInAChild);
    const int code = in_a_child([&] {
      for (at = next; at < stop && !is_over(); ++at) {
        alarm(kSecondsToDecide);
        const std::string text = random_scenario(at);
        if (const auto readable = play(text); !readable.ok()) {
          std::cout << "seed " << at << ": " << readable.error().message << "\n";
          return 2;
        }
        if (!fault_of(text).empty()) return 1;
      }
      return 0;
    });
    next = at;
    if (code == 0) continue;
    ++failed;
    report(next++, seeds);
  }
  std::cout << next - seeds.first << " seeds from " << seeds.first << " (" << progress->by_the_book
            << " also by the book, " << progress->binds << " binds, " << progress->evictions << " evictions), "
            << failed << " failed\n";
  munmap(progress, sizeof(Progress));
  return failed;
}

}  // namespace scenario
