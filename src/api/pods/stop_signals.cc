// The table of signals. Real-time signals are counted from SIGRTMIN (34) or back from SIGRTMAX (64).
#include "api/pods/stop_signals.h"

#include <algorithm>
#include <csignal>
#include <string>

#include "base/number.h"

namespace api {

namespace {

struct Signal {
  std::string_view name;
  int number;
};

constexpr Signal kSignals[] = {
    {"ABRT", SIGABRT},     {"ALRM", SIGALRM},   {"BUS", SIGBUS},   {"CHLD", SIGCHLD}, {"CLD", SIGCHLD},
    {"CONT", SIGCONT},     {"FPE", SIGFPE},     {"HUP", SIGHUP},   {"ILL", SIGILL},   {"INT", SIGINT},
    {"IO", SIGIO},         {"IOT", SIGABRT},    {"KILL", SIGKILL}, {"PIPE", SIGPIPE}, {"POLL", SIGIO},
    {"PROF", SIGPROF},     {"PWR", SIGPWR},     {"QUIT", SIGQUIT}, {"SEGV", SIGSEGV}, {"STKFLT", SIGSTKFLT},
    {"STOP", SIGSTOP},     {"SYS", SIGSYS},     {"TERM", SIGTERM}, {"TRAP", SIGTRAP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN},     {"TTOU", SIGTTOU},   {"URG", SIGURG},   {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
    {"VTALRM", SIGVTALRM}, {"WINCH", SIGWINCH}, {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}};
constexpr int kRealTimeMin = 34, kRealTimeMax = 64;

std::optional<int> real_time(std::string_view name) {
  const bool from_min = name.starts_with("RTMIN");
  if (!from_min && !name.starts_with("RTMAX")) return std::nullopt;
  const std::string_view rest = name.substr(5);
  if (rest.empty()) return from_min ? kRealTimeMin : kRealTimeMax;
  const auto steps = base::parse_number<int>(rest.substr(1));
  if (rest[0] != (from_min ? '+' : '-') || !steps || *steps < 1 || *steps > (from_min ? 15 : 14)) return std::nullopt;
  return from_min ? kRealTimeMin + *steps : kRealTimeMax - *steps;
}

}  // namespace

std::optional<int> signal_number(std::string_view text) {
  if (const auto number = base::parse_number<int>(text))
    return *number >= 1 && *number <= kRealTimeMax ? number : std::nullopt;
  std::string capitals(text);
  for (char& c : capitals) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  std::string_view name = capitals;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  const auto found = std::ranges::find(kSignals, name, &Signal::name);
  return found != std::end(kSignals) ? std::optional(found->number) : real_time(name);
}

bool is_stop_signal(std::string_view name) {
  if (!name.starts_with("SIG")) return false;
  const std::string_view rest = name.substr(3);
  return std::ranges::find(kSignals, rest, &Signal::name) != std::end(kSignals) || real_time(rest).has_value();
}

}  // namespace api
