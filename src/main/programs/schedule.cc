// volcano schedule: the scheduler on files.
#include <ctime>
#include <future>
#include <iostream>

#include "cli/text/terminal_text.h"
#include "main/host/base/resource_use.h"
#include "main/host/flags/manifests.h"
#include "main/host/flags/schedule_files.h"
#include "main/host/flags/schedule_flags.h"
#include "main/programs/programs.h"
#include "rt/env.h"
#include "rt/files/bounded_files.h"
#include "rt/files/files.h"
#include "scheduler/sources/bounded_fetch.h"

namespace volcano_main {
namespace {

constexpr std::size_t kConfigBytesMax = std::size_t{16} << 20;

int fail(const base::Error& error) {
  std::cerr << "error: " << cli::for_terminal(error.message) << "\n";
  return 2;
}

// Asks extenders of the configuration, one question after the other. Its thread exists once somebody is asked.
class Asker {
 public:
  ~Asker() {
    if (!env_) return;
    std::promise<void> gone;
    env_->loop().post([&] {
      fetch_.reset();
      gone.set_value();
    });
    gone.get_future().wait();
  }

  scheduler::ExternalAnswer ask(const scheduler::ExternalQuestion& question) {
    if (!env_) env_ = rt::make_real_env("schedule");
    std::promise<scheduler::ExternalAnswer> answered;
    env_->loop().post([&] {
      if (!fetch_) fetch_ = std::make_unique<scheduler::BoundedFetch>(*env_);
      scheduler::FetchRequest request{
          .method = "POST", .url = question.url, .body = question.body, .timeout = question.timeout};
      fetch_->fetch(std::move(request), [&](base::Result<std::string> result) {
        answered.set_value({result.ok(), result.ok() ? *result : result.error().message, {}});
      });
    });
    return answered.get_future().get();
  }

 private:
  std::unique_ptr<rt::RealEnv> env_;
  std::unique_ptr<scheduler::BoundedFetch> fetch_;
};

// Classes and limits count for all pods of the phase, in whichever order the files are given.
base::Status load(scheduler::OneShot& run, PodCompletion& completion, const std::vector<std::string>& paths) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string& path : paths) {
    TRY(auto files, read_object_files(path));
    for (auto& [name, text] : files) {
      completion.look_at(name, text);
      all.emplace_back(std::move(name), std::move(text));
    }
  }
  for (auto& [name, text] : all) {
    TRY_VOID(run.load(name, text));
    text = {};
  }
  return {};
}

base::Status run_phases(scheduler::OneShot& run, PodCompletion& completion, const ScheduleFlags& flags,
                        std::int64_t& rest_bytes) {
  TRY_VOID(run.configure());
  TRY_VOID(load(run, completion, flags.files));
  rest_bytes = resident_bytes();
  run.run_phase();
  for (const auto& files : flags.then) {
    TRY_VOID(load(run, completion, files));
    run.run_phase();
  }
  return {};
}

}  // namespace

int run_schedule(const Arguments& arguments) {
  auto flags = parse_schedule_flags(arguments);
  if (!flags.ok()) return fail(flags.error());
  if (flags->help) {
    std::cout << schedule_help();
    return 0;
  }
  flags->options.now_given = flags->options.now.is_set();
  if (!flags->options.now_given) flags->options.now = {static_cast<std::int64_t>(std::time(nullptr)) * 1'000'000'000};
  if (!flags->config_file.empty()) {
    auto config = rt::read_bounded_file(flags->config_file, kConfigBytesMax, base::minutes(5));
    if (!config.ok()) return fail(config.error());
    flags->options.config = *std::move(config);
  }
  Asker asker;
  flags->options.asker = [&asker](const scheduler::ExternalQuestion& question) { return asker.ask(question); };
  PodCompletion completion;
  flags->options.complete_pod = [&completion](api::Json& pod) { completion.complete(pod); };
  scheduler::OneShot run(flags->options, stopwatch());
  std::int64_t rest_bytes = 0;
  const base::Status done = run_phases(run, completion, *flags, rest_bytes);
  for (const std::string& remark : completion.remarks()) std::cerr << cli::for_terminal(remark) << "\n";
  for (const std::string& remark : run.warnings()) std::cerr << cli::for_terminal(remark) << "\n";
  if (!done.ok()) return fail(done.error());
  if (!flags->stats_file.empty()) {
    const base::Status written =
        rt::write_file(flags->stats_file, stats_json(run.stats(), rest_bytes).dump() + "\n", 0644);
    if (!written.ok()) return fail(written.error());
  }
  std::cout << cli::for_terminal(flags->json ? run.result().pretty() + "\n" : run.text());
  return 0;
}

}  // namespace volcano_main
