// `volcano simulate`: a whole cluster on virtual time, from a definition and a seed.
#include <cstdio>

#include "base/flags.h"
#include "base/format.h"
#include "base/log.h"
#include "cli/text/terminal_text.h"
#include "main/programs/programs.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"
#include "sim/world/world.h"

namespace volcano_main {
namespace {

constexpr std::size_t kWorldBytesMax = std::size_t{64} << 20;

struct SimulateOptions {
  int seed = 1;
  int runs = 1;
  bool quiet = false;
  bool log = false;
  std::string objects;
  std::string show;
  bool help = false;
};

constexpr const char* kUsage =
    "usage: volcano simulate [flags] FILE\n\nRuns the world that FILE describes and prints one line per event, then a "
    "hash of the whole run: the same\n"
    "for the same seed. Ends with 1 if a check found something, and names the seed.\n\nflags:\n";

int fail(const std::string& message) {
  std::fprintf(stderr, "volcano simulate: %s\n", cli::for_terminal(message).c_str());
  return 2;
}

// One world; false if a check found something or FILE is not a definition.
base::Result<bool> run_world(const std::string& text, std::uint64_t seed, const SimulateOptions& options) {
  sim::Chronicle::Print print;
  if (!options.quiet)
    print = [](std::string_view line) {
      const std::string shown = cli::for_terminal(line);
      std::fwrite(shown.data(), 1, shown.size(), stdout);
      std::fputc('\n', stdout);
    };
  TRY(auto world, sim::World::make(text, seed, print));
  if (!options.show.empty()) world->truth().show(options.show);
  const sim::Outcome outcome = world->run();
  for (const std::string& violation : outcome.violations)
    std::printf("seed %llu: VIOLATION %s\n", static_cast<unsigned long long>(seed),
                cli::for_terminal(violation).c_str());
  std::printf("seed %llu: %s of virtual time, %llu changes, %llu steps, %zu violations, hash %016llx\n",
              static_cast<unsigned long long>(seed), base::format_go_duration(outcome.span).c_str(),
              static_cast<unsigned long long>(outcome.changes), static_cast<unsigned long long>(outcome.steps),
              outcome.violations.size(), static_cast<unsigned long long>(outcome.hash));
  if (!options.objects.empty()) TRY_VOID(rt::write_file(options.objects, world->objects_text(), 0644));
  return outcome.violations.empty();
}

}  // namespace

int run_simulate(const Arguments& arguments) {
  SimulateOptions options;
  const std::vector<base::Flag> flags = {
      {"seed", &options.seed, "the seed of the first world"},
      {"runs", &options.runs, "how many worlds to run, with one seed after the other"},
      {"quiet", &options.quiet, "print only the last line of each world and what the checks found"},
      {"log", &options.log, "print what the components log, on standard error"},
      {"show", &options.show, "print how the objects change whose key contains this"},
      {"objects", &options.objects, "file for the objects at the end of the last world, one JSON document a line"},
      {"help", &options.help, "print this"}};
  if (base::asks_for_help(arguments)) {
    std::printf("%s%s", kUsage, base::flags_help(flags).c_str());
    return 0;
  }
  const auto files = base::parse_flags(flags, arguments);
  if (!files.ok() || files->rest.size() != 1 || options.seed < 0 || options.runs < 1) {
    const std::string why =
        files.ok() ? "exactly one FILE, a seed from 0, and at least one run are wanted" : files.error().message;
    std::fprintf(stderr, "volcano simulate: %s\n%s%s", cli::for_terminal(why).c_str(), kUsage,
                 base::flags_help(flags).c_str());
    return 2;
  }
  const std::string& file = files->rest.front();
  const auto text = rt::read_bounded_file(file, kWorldBytesMax, base::minutes(5));
  if (!text.ok()) return fail(text.error().message);
  // Their warnings carry the real clock's times and would drown the lines.
  if (!options.log) base::configure_log(base::LogLevel::kError, base::LogFormat::kText);
  if (options.quiet) std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a swarm is watched as it goes
  bool sound = true;
  for (int run = 0; run < options.runs; ++run) {
    const auto good =
        run_world(*text, static_cast<std::uint64_t>(options.seed) + static_cast<std::uint64_t>(run), options);
    if (!good.ok()) return fail(base::format("{}: {}", file, good.error().message));
    sound = sound && *good;
  }
  return sound ? 0 : 1;
}

}  // namespace volcano_main
