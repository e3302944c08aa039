// What was `volcano schedule` asked to do?
#include "main/host/schedule_flags.h"

#include <charconv>

#include "base/format.h"

namespace volcano_main {
namespace {

base::Error wrong(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

// Takes the flags that only this program has; returns how many arguments each used.
struct OwnFlags {
  ScheduleFlags& out;
  std::string problem;

  int take(std::string_view name, const std::string* value) {
    if (name == "until-idle") return out.options.until_idle = true, 1;
    if (name == "as-is") return out.options.as_is = true, 1;
    if (name == "tasks") return out.options.tasks = true, 1;
    if (name == "help" || name == "h") return out.help = true, 1;
    if (value == nullptr) return 0;
    if (name == "config") return out.config_file = *value, 2;
    if (name == "stats") return out.stats_file = *value, 2;
    if (name == "then") return out.then.push_back({*value}), 2;
    if (name == "o" || name == "output") {
      if (*value != "json" && *value != "text") problem = base::format("-o: {} is neither json nor text", *value);
      return out.json = *value == "json", 2;
    }
    if (name == "evicted") {
      if (*value != "leave" && *value != "release")
        problem = base::format("--evicted: {} is neither leave nor release", *value);
      return out.options.leave_evicted = *value == "leave", 2;
    }
    if (name == "now") {
      const auto time = base::parse_rfc3339(*value);
      if (!time)
        problem = base::format("--now: {} is not an RFC 3339 time", *value);
      else
        out.options.now = *time;
      return 2;
    }
    if (name == "cycles") {
      const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), out.options.cycles);
      if (error != std::errc{} || end != value->data() + value->size() || out.options.cycles < 0) {
        problem = base::format("--cycles: {} is not a count", *value);
      }
      return 2;
    }
    return 0;
  }
};

}  // namespace

base::Result<ScheduleFlags> parse_schedule_flags(const Arguments& arguments) {
  ScheduleFlags out;
  OwnFlags own{out, {}};
  // "-" alone is standard input, which the flag parser would take for a flag without a name.
  TRY(out.options.scheduler,
      scheduler::parse_options(arguments, out.files,
                               [&](std::string_view name, const std::string* value) { return own.take(name, value); }));
  if (!own.problem.empty()) return wrong(own.problem);
  if (out.config_file.empty()) out.config_file = out.options.scheduler.scheduler_conf;
  if (out.files.empty() && !out.help) return wrong("no files to read; see volcano schedule --help");
  return out;
}

std::string schedule_help() {
  return "Usage: volcano schedule [flags] FILE|DIR|- ... [--then FILE]...\n\n"
         "Decides what the scheduler would do with the objects in the files.\n\n"
         "  --config FILE       the scheduler's configuration (default: that of a dump among the files, or the "
         "built-in one)\n"
         "  --cycles N          run N cycles in each phase (default 1)\n"
         "  --until-idle        run cycles until one decides nothing\n"
         "  --as-is             complete nothing: objects mean exactly what they say\n"
         "  --evicted HOW       release (gone at the next cycle) or leave (stays terminating)\n"
         "  --now TIME          the time of the first cycle, RFC 3339 (default: that of a dump among the files, or "
         "now)\n"
         "  --tasks             list the status of every pod\n"
         "  --stats FILE        write what it cost\n"
         "  -o json|text        the form of the answer\n"
         "  --then FILE         objects of a further phase; may be repeated\n\n"
         "Flags of vc-scheduler:\n" +
         scheduler::flags_help();
}

}  // namespace volcano_main
