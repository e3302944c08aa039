// The flags of `volcano schedule`.
#include "main/host/flags/schedule_flags.h"

#include "base/format.h"

namespace volcano_main {
namespace {

base::Error wrong(std::string message) { return base::make_error(base::Code::kInvalid, std::move(message)); }

// The texts that rows of the program's own flags point into, beside its options.
struct Texts {
  std::string evicted = "release";
  std::string output = "text";
  std::string now;
  std::vector<std::string> then;
};

std::vector<base::Flag> own_rows(ScheduleFlags& out, Texts& texts) {
  return {
      {"config", &out.config_file,
       "the scheduler's configuration (default: that of a dump among the files, or the built-in one)"},
      {"cycles", &out.options.cycles, "how many cycles each phase runs"},
      {"until-idle", &out.options.until_idle, "run cycles until one decides nothing"},
      {"as-is", &out.options.as_is, "complete nothing: objects mean exactly what they say"},
      {"evicted", &texts.evicted, "release: gone at the next cycle; leave: stays terminating"},
      {"now", &texts.now, "the time of the first cycle, RFC 3339 (default: that of a dump among the files, or now)"},
      {"tasks", &out.options.tasks, "list the status of every pod"},
      {"stats", &out.stats_file, "file for what it cost"},
      {"output", &texts.output, "the form of the answer: json or text", 'o'},
      {"then", &texts.then, "file with objects of a further phase; may be repeated"}};
}

base::Status take(const Texts& texts, ScheduleFlags& out) {
  if (texts.output != "json" && texts.output != "text")
    return wrong(base::format("--output: \"{}\" is neither json nor text", texts.output));
  out.json = texts.output == "json";
  if (texts.evicted != "leave" && texts.evicted != "release")
    return wrong(base::format("--evicted: \"{}\" is neither leave nor release", texts.evicted));
  out.options.leave_evicted = texts.evicted == "leave";
  if (!texts.now.empty()) {
    const auto time = base::parse_rfc3339(texts.now);
    if (!time) return wrong(base::format("--now: \"{}\" is not an RFC 3339 time", texts.now));
    out.options.now = *time;
  }
  if (out.options.cycles < 0) return wrong(base::format("--cycles: {} is below zero", out.options.cycles));
  for (const std::string& file : texts.then) out.then.push_back({file});
  return {};
}

}  // namespace

base::Result<ScheduleFlags> parse_schedule_flags(const Arguments& arguments) {
  ScheduleFlags out;
  out.help = base::asks_for_help(arguments);
  if (out.help) return out;
  Texts texts;
  const std::vector<base::Flag> own = own_rows(out, texts);
  TRY(out.files, scheduler::parse_options(arguments, out.options.scheduler, own));
  TRY_VOID(take(texts, out));
  if (out.config_file.empty()) out.config_file = out.options.scheduler.scheduler_conf;
  if (out.files.empty()) return wrong("no files to read; see volcano schedule --help");
  return out;
}

std::string schedule_help() {
  ScheduleFlags defaults;
  Texts texts;
  return "Usage: volcano schedule [flags] FILE|DIR|- ... [--then FILE]...\n\n"
         "Decides what the scheduler would do with the objects in the files.\n\n" +
         base::flags_help(own_rows(defaults, texts)) + "\nFlags of vc-scheduler:\n" +
         base::flags_help(scheduler::flag_rows(defaults.options.scheduler));
}

}  // namespace volcano_main
