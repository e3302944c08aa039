// vcctl job wait, and vsub --wait: how a job goes, until it is where the user wants it.
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/letters.h"
#include "cli/job.h"
#include "cli/job_logs.h"
#include "cli/reasons.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

std::int64_t pods_of_job(const Json& job) {
  std::int64_t sum = 0;
  for (const Json& task : job["spec"]["tasks"].items()) sum += task["replicas"].as_int();
  return sum;
}

bool is_over(std::string_view phase) { return phase == "Completed" || phase == "Failed" || phase == "Terminated"; }

// A job as its stream tells it.
class OneJob {
 public:
  OneJob(World& world, Api& server, const std::string& ns, const std::string& name, base::Duration limit)
      : world_(world), server_(server), limit_(limit), started_(world.now()) {
    stream_ = server.follow({.resource = resources::kJobs, .ns = ns, .field_selector = "metadata.name=" + name});
  }
  ~OneJob() { server_.stop(stream_); }
  OneJob(const OneJob&) = delete;
  OneJob& operator=(const OneJob&) = delete;

  // A stream that was stopped may have left news.
  bool is_about_it(const Happening& news) const { return news.stream == stream_; }
  // Waits for the next news of it.
  base::Result<Happening> next() {
    base::Duration patience = base::hours(1);
    if (limit_.ns > 0) {
      patience = limit_ - (world_.now() - started_);
      if (patience.ns <= 0)
        return base::make_error(base::Code::kTimeout,
                                base::format("timed out after {}", base::format_go_duration(limit_)));
    }
    Happening news = server_.next(patience);
    if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return news.end.take_error();
    return news;
  }

 private:
  World& world_;
  Api& server_;
  base::Duration limit_;
  base::Time started_;
  int stream_ = 0;
};

// The exit code of the first container of a job's pods that failed; nothing where none did.
base::Result<std::optional<int>> exit_code_of(Api& server, const std::string& ns, const std::string& name) {
  TRY(const std::vector<Json> pods, list(server, resources::kPods, ns, "volcano.sh/job-name=" + name));
  std::optional<int> first;
  std::string when;
  for (const Json& pod : pods)
    for (const char* kind : {"initContainerStatuses", "containerStatuses"})
      for (const Json& status : pod["status"][kind].items()) {
        const Json& ended = status["state"]["terminated"];
        const std::int64_t code = ended["exitCode"].as_int();
        if (code <= 0 || code > 255 || (first && when <= ended["finishedAt"].as_string())) continue;
        first = static_cast<int>(code);
        when = ended["finishedAt"].str();
      }
  return first;
}

std::string progress_of(const Json& job) {
  const Json& status = job["status"];
  std::string text(status["state"]["phase"].as_string("Pending"));
  for (const char* count : {"pending", "running", "succeeded", "failed"})
    if (const std::int64_t number = status[count].as_int(); number > 0) text += base::format(", {} {}", number, count);
  if (const std::string why = status["state"]["message"].str(); !why.empty()) text += base::format(" ({})", why);
  return text;
}

base::Status wait(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const base::Duration limit = values.span("timeout");
  const base::Time begin = world.now();
  return for_each_job(world, values, "wait for", [&](const std::string& name) {
    // The time is for all of them.
    const bool is_first = values.list("name").front() == name;
    const base::Duration left = std::max(limit - (world.now() - begin), base::milliseconds(1));
    return wait_for_job(world, *server, values.text("namespace"), name, base::lower(values.text("for")),
                        limit.ns == 0 || is_first ? limit : left);
  });
}

}  // namespace

base::Status wait_for_job(World& world, Api& server, const std::string& ns, const std::string& name,
                          const std::string& goal, base::Duration limit) {
  OneJob job(world, server, ns, name, limit);
  bool seen = false;
  for (;;) {
    TRY(const Happening news, job.next());
    if (!job.is_about_it(news)) continue;
    if (news.kind == Happening::Kind::kObject) {
      seen = true;
      const std::string phase = news.object["status"]["state"]["phase"].str();
      if (base::lower(phase) == goal) break;
      if (goal != "deleted" && is_over(phase))
        return usage_error(base::format("job {}/{} ended as {}, not as {}", ns, name, phase, goal));
    }
    const bool is_gone = news.kind == Happening::Kind::kGone || (news.kind == Happening::Kind::kCurrent && !seen);
    if (!is_gone) continue;
    if (goal == "deleted") break;
    return base::make_error(base::Code::kNotFound, base::format("jobs.batch.volcano.sh \"{}\" not found", name));
  }
  world.out += base::format("job {}/{} is {}\n", ns, name, goal);
  return {};
}

namespace {

// Says each state of a job once, and why it waits.
class Progress {
 public:
  Progress(World& world, Api& server, std::string ns, std::string name, bool has_heads)
      : world_(world), server_(server), ns_(std::move(ns)), name_(std::move(name)), logs_(world, has_heads) {}
  ~Progress() {
    for (const int stream : {group_, pods_})
      if (stream != 0) server_.stop(stream);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Whether it was about what belongs to the job.
  bool take_part(const Happening& news) {
    if (logs_.knows(news.stream)) {
      logs_.take(news);
      return true;
    }
    if (news.stream != group_ && news.stream != pods_) return false;
    if (news.kind == Happening::Kind::kObject) news.stream == group_ ? take_group(news.object) : take_pod(news.object);
    return true;
  }
  void take_job(const Json& job) {
    if (group_ == 0) {
      group_ = server_.follow({.resource = resources::kPodGroups,
                               .ns = ns_,
                               .field_selector = base::format("metadata.name={}-{}", name_, api::uid_of(job))});
      pods_ =
          server_.follow({.resource = resources::kPods, .ns = ns_, .label_selector = "volcano.sh/job-name=" + name_});
    }
    report(progress_of(job));
  }
  // Prints the rest of the logs of a job that has ended.
  base::Status finish_logs() {
    TRY(const std::vector<Json> pods, list(server_, resources::kPods, ns_, "volcano.sh/job-name=" + name_));
    for (const Json& pod : pods) take_pod(pod);
    while (!logs_.empty()) {
      const Happening news = server_.next(base::seconds(10));
      if (logs_.knows(news.stream)) {
        if (!logs_.take(news)) return {};
        continue;
      }
      // A server that says no more ends no job that has ended otherwise.
      if (news.kind == Happening::Kind::kNothing || (news.kind == Happening::Kind::kEnd && !news.end.ok())) return {};
    }
    return {};
  }

 private:
  void take_group(const Json& group) {
    const Json* waits = condition_of(group, "Unschedulable");
    const bool is_waiting = !has_started(group) && waits != nullptr && (*waits)["status"].as_string() == "True";
    if (is_waiting) report("it waits: " + (*waits)["message"].str());
  }
  void take_pod(const Json& pod) {
    for (const StartedContainer& container : started_containers(pod))
      if (begun_.insert(container.run + container.name).second)
        logs_.add(server_.read_log({.ns = ns_, .pod = container.pod, .container = container.name, .follow = true}),
                  container);
    for (const Json& status : pod["status"]["containerStatuses"].items()) {
      const std::string why = status["state"]["waiting"]["reason"].str();
      if (why.empty() || why == "ContainerCreating" || why == "PodInitializing") continue;
      std::string& before = troubles_[std::string(api::name_of(pod))];
      if (std::exchange(before, why) != why) report(base::format("pod {}: {}", api::name_of(pod), why));
    }
  }
  void report(std::string text) {
    if (text == reported_) return;
    reported_ = std::move(text);
    world_.out += base::format("job {}/{}: {}\n", ns_, name_, reported_);
    world_.show(world_);
  }

  World& world_;
  Api& server_;
  std::string ns_, name_;
  std::string reported_;
  std::map<std::string, std::string> troubles_;  // by pod, what holds it up
  LogPrinter logs_;
  std::set<std::string> begun_;  // containers whose logs were asked for
  // Streams.
  int group_ = 0;
  int pods_ = 0;
};

}  // namespace

base::Result<int> follow_job(World& world, Api& server, const std::string& ns, const std::string& name) {
  OneJob job(world, server, ns, name, {});
  std::optional<Progress> progress;
  for (;;) {
    TRY(const Happening news, job.next());
    if (progress && progress->take_part(news)) continue;
    if (!job.is_about_it(news)) continue;
    if (news.kind == Happening::Kind::kGone)
      return usage_error(base::format("job {}/{} was deleted before it ended", ns, name));
    if (news.kind != Happening::Kind::kObject) continue;
    if (!progress) progress.emplace(world, server, ns, name, pods_of_job(news.object) != 1);
    progress->take_job(news.object);
    const std::string phase = news.object["status"]["state"]["phase"].str();
    if (!is_over(phase)) continue;
    TRY_VOID(progress->finish_logs());
    TRY(const std::optional<int> code, exit_code_of(server, ns, name));
    return code.value_or(phase == "Completed" ? 0 : 1);
  }
}

Command wait_command() {
  using enum Flag::Type;
  return {
      .name = "wait",
      .summary = "wait until a job is in a phase",
      .flags = with_connection(
          {{"namespace", 'n', kText, "default", "the namespace of job"},
           {.name = "name", .letter = 'N', .help = "the name of job; also the arguments: all of them", .is_many = true},
           {.name = "for",
            .fallback = "completed",
            .help = "the phase to wait for, or deleted; another end of the job is a failure",
            .choices = "completed|failed|terminated|aborted|running|deleted"},
           {"timeout", 0, kDuration, "0s", "how long to wait; 0s: without end"}}),
      .run = wait,
      .first_argument = "name",
      .is_extra = true,
      .failure = "wait for job"};
}

}  // namespace cli
