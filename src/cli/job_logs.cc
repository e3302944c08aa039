// Bytes of several streams as whole lines.
#include "cli/job_logs.h"

#include <utility>

#include "api/meta/resource.h"
#include "base/format.h"

namespace cli {

using api::Json;

std::vector<StartedContainer> started_containers(const Json& pod) {
  std::vector<StartedContainer> found;
  for (const char* kind : {"initContainerStatuses", "containerStatuses"})
    for (const Json& status : pod["status"][kind].items()) {
      const Json& state = status["state"];
      if (!state.has("running") && !state.has("terminated")) continue;
      found.push_back({std::string(api::name_of(pod)), status["name"].str(),
                       base::format("{} {}", api::uid_of(pod), status["containerID"].as_string())});
    }
  return found;
}

void LogPrinter::add(int stream, const StartedContainer& from) {
  streams_[stream] = {has_heads_ ? base::format("[{}/{}] ", from.pod, from.name) : std::string(), {}};
}

bool LogPrinter::take(const Happening& news) {
  if (news.kind == Happening::Kind::kText) return take_text(news.stream, news.text);
  if (news.kind == Happening::Kind::kEnd) end(news.stream, news.end);
  return true;
}

// A log has control characters that are meant; other words of this program's output are not shown so.
void LogPrinter::print(const std::string& text) {
  if (!world_.as_it_is) world_.show(world_);
  const bool before = std::exchange(world_.as_it_is, true);
  world_.out += text;
  world_.show(world_);
  world_.as_it_is = before;
}

bool LogPrinter::take_text(int stream, std::string_view text) {
  Stream& to = streams_.at(stream);
  to.rest += text;
  std::size_t start = 0;
  std::string lines;
  for (std::size_t end; (end = to.rest.find('\n', start)) != std::string::npos; start = end + 1)
    lines += to.head + to.rest.substr(start, end + 1 - start);
  to.rest.erase(0, start);
  if (!lines.empty()) print(lines);
  constexpr std::size_t kLineMax = std::size_t{1} << 20;  // a longer one is cut
  if (to.rest.size() > kLineMax) finish_line(to);
  return world_.show(world_);
}

void LogPrinter::end(int stream, const base::Status& why) {
  Stream& of = streams_.at(stream);
  if (!of.rest.empty()) finish_line(of);
  if (!why.ok()) world_.err += of.head + why.error().message + "\n";
  streams_.erase(stream);
  world_.show(world_);
}

void LogPrinter::finish_line(Stream& of) {
  print(of.head + of.rest + "\n");
  of.rest.clear();
}

}  // namespace cli
