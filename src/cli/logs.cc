// vcctl job logs: what all containers of a job wrote, each line with its pod.
#include <algorithm>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/job.h"
#include "cli/job_logs.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

std::string selector_of(const Values& values) {
  std::string selector = "volcano.sh/job-name=" + values.text("name");
  if (!values.text("task").empty()) selector += ",volcano.sh/task-spec=" + values.text("task");
  return selector;
}

client::LogRequest request_for(const Values& values, const StartedContainer& container) {
  client::LogRequest request{
      .ns = values.text("namespace"), .pod = container.pod, .container = container.name, .follow = values.on("follow")};
  if (values.number("tail") >= 0) request.tail_lines = values.number("tail");
  return request;
}

bool is_wanted(const Values& values, const StartedContainer& container) {
  return values.text("container").empty() || values.text("container") == container.name;
}

// One log after the other.
base::Status print_logs(World& world, Api& server, const Values& values) {
  TRY(std::vector<Json> pods, list(server, resources::kPods, values.text("namespace"), selector_of(values)));
  std::ranges::sort(pods, {}, [](const Json& pod) { return api::name_of(pod); });
  LogPrinter printer(world);
  bool any = false;
  for (const Json& pod : pods)
    for (const StartedContainer& container : started_containers(pod)) {
      if (!is_wanted(values, container)) continue;
      any = true;
      const int stream = server.read_log(request_for(values, container));
      printer.add(stream, container);
      while (!printer.empty()) {
        const Happening news = server.next(base::hours(1));
        if (news.stream == stream && !printer.take(news)) return {};
      }
    }
  if (!any) world.err += base::format("no container of job {} has started\n", values.text("name"));
  return {};
}

// All logs as they grow, until the job has ended and every log with it.
class Follow {
 public:
  Follow(World& world, Api& server, const Values& values) : server_(server), values_(values), printer_(world) {
    pods_ = server.follow(
        {.resource = resources::kPods, .ns = values.text("namespace"), .label_selector = selector_of(values)});
    job_ = server.follow({.resource = resources::kJobs,
                          .ns = values.text("namespace"),
                          .field_selector = "metadata.name=" + values.text("name")});
  }

  base::Status run() {
    for (;;) {
      if (job_is_over_ && printer_.empty()) {
        // The news of the last pods may still be on their way.
        if (std::exchange(looked_again_, true)) return {};
        TRY(const std::vector<Json> pods,
            list(server_, resources::kPods, values_.text("namespace"), selector_of(values_)));
        for (const Json& pod : pods) take_pod(pod);
        continue;
      }
      Happening news = server_.next(base::hours(1));
      if (printer_.knows(news.stream)) {
        if (!printer_.take(news)) return {};
        continue;
      }
      if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return news.end.take_error();
      if (news.stream == pods_ && news.kind == Happening::Kind::kObject) take_pod(news.object);
      if (news.stream == job_) take_job(news);
    }
  }

 private:
  void take_pod(const Json& pod) {
    for (const StartedContainer& container : started_containers(pod)) {
      if (!is_wanted(values_, container) || !begun_.insert(container.run + container.name).second) continue;
      printer_.add(server_.read_log(request_for(values_, container)), container);
    }
  }
  void take_job(const Happening& news) {
    if (news.kind == Happening::Kind::kObject) {
      const std::string_view phase = news.object["status"]["state"]["phase"].as_string();
      job_is_over_ = phase == "Completed" || phase == "Failed" || phase == "Terminated" || phase == "Aborted";
      job_is_there_ = true;
    }
    if (news.kind == Happening::Kind::kGone || (news.kind == Happening::Kind::kCurrent && !job_is_there_))
      job_is_over_ = true;
  }

  Api& server_;
  const Values& values_;
  LogPrinter printer_;
  int pods_ = 0;
  int job_ = 0;
  bool job_is_there_ = false;
  bool job_is_over_ = false;
  bool looked_again_ = false;
  std::set<std::string> begun_;
};

base::Status logs(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (values.text("name").empty()) return usage_error("job name is mandatory to read the logs of a particular job");
  TRY_VOID(get(*server, resources::kJobs, values.text("namespace"), values.text("name")));
  world.as_it_is = true;
  if (values.on("follow")) return Follow(world, *server, values).run();
  return print_logs(world, *server, values);
}

}  // namespace

Command logs_command() {
  using enum Flag::Type;
  return {.name = "logs",
          .summary = "print what the pods of a job wrote",
          .flags = with_connection({{"namespace", 'n', kText, "default", "the namespace of job"},
                                    {"name", 'N', kText, "", "the name of job; also the first argument"},
                                    {"task", 't', kText, "", "only pods of this task"},
                                    {"container", 'c', kText, "", "only containers of this name"},
                                    {"follow", 'f', kBool, "", "go on until the job has ended"},
                                    {"tail", 0, kInt, "-1", "only so many of the last lines of each log; -1: all"}}),
          .run = logs,
          .first_argument = "name",
          .is_extra = true,
          .failure = "show the logs of job"};
}

}  // namespace cli
