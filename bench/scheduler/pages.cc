// The process that makes pages, and what is said to it.
#include "pages.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "api/json/json.h"
#include "api/protobuf/protobuf.h"
#include "base/format.h"
#include "base/time.h"
#include "objects.h"

namespace bench {
namespace {

using api::Json;
using Kind = Pages::Kind;

struct Ask {
  Kind kind;
  std::int32_t first, count;
  bool events;
};

bool read_all(int from, void* to, std::size_t size) {
  for (auto* at = static_cast<char*>(to); size > 0;) {
    const ssize_t got = read(from, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int to, const void* from, std::size_t size) {
  for (const auto* at = static_cast<const char*>(from); size > 0;) {
    const ssize_t put = write(to, at, size);
    if (put <= 0) return false;
    at += put;
    size -= static_cast<std::size_t>(put);
  }
  return true;
}

int count_of(const ClusterSize& size, Kind kind) {
  switch (kind) {
    case Kind::kNodes: return size.nodes;
    case Kind::kGroups: return size.groups + 1;
    case Kind::kPods: return size.pods + 1;
    case Kind::kQueues: return 2;
  }
  return 0;
}

// The group of a pod, and which of its pods it is.
std::pair<int, int> place_of(const ClusterSize& size, int pod) {
  const auto first_of = [&](int group) { return static_cast<int>(std::int64_t{size.pods} * group / size.groups); };
  int group = static_cast<int>(std::int64_t{pod} * size.groups / size.pods);
  while (first_of(group + 1) <= pod) ++group;
  while (first_of(group) > pod) --group;
  return {group, pod - first_of(group)};
}

Json pod_at(const ClusterSize& size, int number) {
  const bool waits = number == size.pods;
  const auto [group_number, index] = waits ? std::pair(0, 0) : place_of(size, number);
  const std::string group = waits ? "late" : base::format("r{:05}", group_number);
  Json pod = *api::parse_json(pod_line({.name = base::format("{}-w-{}", group, index),
                                        .group = group,
                                        .requests = R"("cpu":"1","memory":"1Gi")",
                                        .node = waits ? "" : base::format("n{:05}", number % size.nodes)}));
  if (waits) return pod;
  // No two pods started at the same time.
  const base::Time started = base::Time{} + base::seconds(1'790'000'000 + number * 7);
  Json& status = pod.edit("status");
  status.set("startTime", base::format_rfc3339(started));
  Json& conditions = status.edit("conditions");
  for (std::size_t i = 0; i < conditions.size(); ++i)
    conditions.edit(i).set("lastTransitionTime", base::format_rfc3339(started + base::seconds(static_cast<int>(i))));
  return pod;
}

// As a scheduler leaves it.
Json running_group(const std::string& name, int pods) {
  Json group = *api::parse_json(group_line(name, pods, "default", "", "Running"));
  Json scheduled = Json::object({{"lastTransitionTime", "2026-11-20T08:15:30Z"},
                                 {"reason", "tasks in gang are ready to be scheduled"},
                                 {"status", "True"},
                                 {"transitionID", group["metadata"]["uid"]},
                                 {"type", "Scheduled"}});
  Json& status = group.edit("status");
  status.set("conditions", Json::array({std::move(scheduled)}));
  status.set("running", std::int64_t{pods});
  return group;
}

Json item_at(const ClusterSize& size, Kind kind, int number) {
  switch (kind) {
    case Kind::kNodes:
      return *api::parse_json(node_line(base::format("n{:05}", number), R"("cpu":"64","memory":"256Gi")", ""));
    case Kind::kQueues: return *api::parse_json(queue_line(number == 0 ? "default" : "root", 1));
    case Kind::kPods: return pod_at(size, number);
    case Kind::kGroups: break;
  }
  if (number == size.groups) return *api::parse_json(group_line("late", 1, "default", "", "Inqueue"));
  const int pods = static_cast<int>(std::int64_t{size.pods} * (number + 1) / size.groups -
                                    std::int64_t{size.pods} * number / size.groups);
  return running_group(base::format("r{:05}", number), pods);
}

bool has_form(const Json& object) {
  return api::has_protobuf(object["apiVersion"].as_string(), object["kind"].as_string());
}

std::string events_of(const ClusterSize& size, const Ask& ask, bool protobuf) {
  const int end = std::min(ask.first + ask.count, count_of(size, ask.kind));
  std::string out;
  for (int i = ask.first; i < end; ++i) {
    Json item = item_at(size, ask.kind, i);
    if (protobuf && has_form(item)) {
      out += api::event_to_protobuf("ADDED", item);
    } else {
      out += Json::object({{"type", "ADDED"}, {"object", std::move(item)}}).dump() + "\n";
    }
  }
  return out;
}

std::string page_of(const ClusterSize& size, const Ask& ask, bool protobuf) {
  const int end = std::min(ask.first + ask.count, count_of(size, ask.kind));
  std::vector<Json> items;
  for (int i = ask.first; i < end; ++i) items.push_back(item_at(size, ask.kind, i));
  Json metadata = Json::object({{"resourceVersion", "1000000"}});
  if (end < count_of(size, ask.kind)) metadata.set("continue", std::to_string(end));
  const Json first = items.empty() ? Json() : items.front();
  Json list = Json::object(
      {{"apiVersion", first["apiVersion"]}, {"kind", first["kind"].str() + "List"}, {"metadata", std::move(metadata)}});
  if (protobuf && has_form(first))
    return api::list_to_protobuf(list, items.size(), [&](std::size_t i) { return items[i]; });
  list.set("items", Json::array(std::move(items)));
  return list.dump();
}

}  // namespace

Pages::Pages(ClusterSize size, bool protobuf) : protobuf_(protobuf) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return;
  constexpr int kBuffer = 4 << 20;  // as large as TCP's grow
  setsockopt(ends[1], SOL_SOCKET, SO_SNDBUF, &kBuffer, sizeof kBuffer);
  child_ = fork();
  if (child_ != 0) {
    close(ends[1]);
    socket_ = ends[0];
    return;
  }
  close(ends[0]);
  for (Ask ask{}; read_all(ends[1], &ask, sizeof ask);) {
    const std::string page = ask.events ? events_of(size, ask, protobuf) : page_of(size, ask, protobuf);
    const std::uint64_t bytes = page.size();
    if (!write_all(ends[1], &bytes, sizeof bytes) || !write_all(ends[1], page.data(), page.size())) break;
  }
  _exit(0);
}

Pages::~Pages() {
  if (socket_ >= 0) close(socket_);
  if (child_ > 0) waitpid(child_, nullptr, 0);
}

std::string_view Pages::ask(Kind kind, int first, int count, bool events) {
  const Ask ask{kind, first, count, events};
  std::uint64_t bytes = 0;
  if (!write_all(socket_, &ask, sizeof ask) || !read_all(socket_, &bytes, sizeof bytes)) return {};
  if (bytes > buffer_.size()) buffer_.resize(bytes);
  return read_all(socket_, buffer_.data(), bytes) ? std::string_view(buffer_).substr(0, bytes) : std::string_view();
}

}  // namespace bench
