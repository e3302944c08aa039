// vcctl job logs: what all containers of a job wrote, each line with its pod.
#include <algorithm>
#include <map>
#include <set>

#include "api/resource.h"
#include "base/format.h"
#include "cli/job.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

struct Container {
  std::string pod;
  std::string name;
  std::string run;  // tells one start of the container from the next
};

// Those of the pod that have begun to run.
std::vector<Container> begun(const Json& pod) {
  std::vector<Container> found;
  for (const char* kind : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][kind].items()) {
      const Json& state = status["state"];
      if (!state.has("running") && !state.has("terminated")) continue;
      found.push_back({std::string(api::name_of(pod)), status["name"].str(),
                       base::format("{} {}", api::uid_of(pod), status["containerID"].as_string())});
    }
  return found;
}

std::string selector_of(const Values& values) {
  std::string selector = "volcano.sh/job-name=" + values.text("name");
  if (!values.text("task").empty()) selector += ",volcano.sh/task-spec=" + values.text("task");
  return selector;
}

// Prints streams as lines, each behind the name of its container.
class Printer {
 public:
  explicit Printer(World& world) : world_(world) {}

  void add(int stream, const Container& from) {
    streams_[stream] = {base::format("[{}/{}] ", from.pod, from.name), {}};
  }
  bool knows(int stream) const { return streams_.contains(stream); }
  bool empty() const { return streams_.empty(); }
  // False if nobody reads any more.
  bool take(int stream, std::string_view text) {
    Stream& to = streams_.at(stream);
    to.rest += text;
    std::size_t start = 0;
    for (std::size_t end; (end = to.rest.find('\n', start)) != std::string::npos; start = end + 1)
      world_.out += to.head + to.rest.substr(start, end + 1 - start);
    to.rest.erase(0, start);
    constexpr std::size_t kLineMax = std::size_t{1} << 20;  // a longer one is cut
    if (to.rest.size() > kLineMax) finish_line(to);
    return world_.show(world_);
  }
  // What ended in the middle of a line is a line, too.
  void end(int stream, const base::Status& why) {
    Stream& of = streams_.at(stream);
    if (!of.rest.empty()) finish_line(of);
    if (!why.ok()) world_.err += of.head + why.error().message + "\n";
    streams_.erase(stream);
    world_.show(world_);
  }

 private:
  struct Stream {
    std::string head;
    std::string rest;  // a line without its end
  };
  void finish_line(Stream& of) {
    world_.out += of.head + of.rest + "\n";
    of.rest.clear();
  }

  World& world_;
  std::map<int, Stream> streams_;
};

client::LogRequest request_for(const Values& values, const Container& container) {
  client::LogRequest request{
      .ns = values.text("namespace"), .pod = container.pod, .container = container.name, .follow = values.on("follow")};
  if (values.number("tail") >= 0) request.tail_lines = values.number("tail");
  return request;
}

bool is_wanted(const Values& values, const Container& container) {
  return values.text("container").empty() || values.text("container") == container.name;
}

// One log after the other.
base::Status print_logs(World& world, Api& server, const Values& values) {
  TRY(std::vector<Json> pods, list(server, resources::kPods, values.text("namespace"), selector_of(values)));
  std::ranges::sort(pods, {}, [](const Json& pod) { return api::name_of(pod); });
  Printer printer(world);
  bool any = false;
  for (const Json& pod : pods)
    for (const Container& container : begun(pod)) {
      if (!is_wanted(values, container)) continue;
      any = true;
      const int stream = server.read_log(request_for(values, container));
      printer.add(stream, container);
      while (!printer.empty()) {
        const Happening news = server.next(base::hours(1));
        if (news.kind == Happening::Kind::kText && !printer.take(stream, news.text)) return {};
        if (news.kind == Happening::Kind::kEnd) printer.end(stream, news.end);
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
        if (news.kind == Happening::Kind::kText && !printer_.take(news.stream, news.text)) return {};
        if (news.kind == Happening::Kind::kEnd) printer_.end(news.stream, news.end);
        continue;
      }
      if (news.kind == Happening::Kind::kEnd && !news.end.ok()) return news.end.take_error();
      if (news.stream == pods_ && news.kind == Happening::Kind::kObject) take_pod(news.object);
      if (news.stream == job_) take_job(news);
    }
  }

 private:
  void take_pod(const Json& pod) {
    for (const Container& container : begun(pod)) {
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
  Printer printer_;
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
          .is_extra = true};
}

}  // namespace cli
