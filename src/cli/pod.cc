// vcctl pod: list (cli.md 2.9), with the words of `kubectl get pods`.
#include <algorithm>
#include <optional>

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kJobName = "volcano.sh/job-name";
constexpr std::string_view kQueueName = "volcano.sh/queue-name";

// How a container ended, where it says no more than a number.
std::string exit_words(const Json& terminated) {
  if (const std::int64_t signal = terminated["signal"].as_int(); signal != 0) return base::format("Signal:{}", signal);
  return base::format("ExitCode:{}", terminated["exitCode"].as_int());
}

bool has_condition(const Json& pod, std::string_view type) {
  for (const Json& condition : pod["status"]["conditions"].items())
    if (condition["type"].as_string() == type && condition["status"].as_string() == "True") return true;
  return false;
}

bool starts_again(const Json& pod, std::string_view init_container) {
  for (const Json& container : pod["spec"]["initContainers"].items())
    if (container["name"].as_string() == init_container) return container["restartPolicy"].as_string() == "Always";
  return false;
}

struct Restarts {
  std::int64_t count = 0;
  std::optional<base::Time> last;

  void add(const Json& status) {
    count += status["restartCount"].as_int();
    const auto ended = base::parse_rfc3339(status["lastState"]["terminated"]["finishedAt"].as_string());
    if (ended && (!last || *last < *ended)) last = ended;
  }
};

struct Row {
  std::string words;
  std::int64_t ready = 0;
  Restarts restarts;
};

// The state of an init container that holds the pod up; nothing if it is over, or runs beside the others.
std::optional<std::string> held_up_by(const Json& pod, const Json& status, std::size_t index) {
  const Json& terminated = status["state"]["terminated"];
  const Json& waiting = status["state"]["waiting"];
  if (terminated.is_object() && terminated["exitCode"].as_int() == 0) return std::nullopt;
  if (starts_again(pod, status["name"].as_string()) && status["started"].as_bool()) return std::nullopt;
  if (terminated.is_object())
    return "Init:" + (terminated["reason"].as_string().empty() ? exit_words(terminated) : terminated["reason"].str());
  if (!waiting["reason"].as_string().empty() && waiting["reason"].as_string() != "PodInitializing")
    return "Init:" + waiting["reason"].str();
  return base::format("Init:{}/{}", index, pod["spec"]["initContainers"].size());
}

// Fills `row` from the init containers; true if one of them holds the pod up.
bool read_init_containers(const Json& pod, Row& row, Restarts& beside) {
  std::size_t index = 0;
  for (const Json& status : pod["status"]["initContainerStatuses"].items()) {
    row.restarts.add(status);
    const bool again = starts_again(pod, status["name"].as_string());
    if (again) beside.add(status);
    if (auto words = held_up_by(pod, status, index++)) {
      row.words = *std::move(words);
      return true;
    }
    if (again && status["started"].as_bool() && status["ready"].as_bool()) ++row.ready;
  }
  return false;
}

void read_containers(const Json& pod, Row& row) {
  const auto statuses = pod["status"]["containerStatuses"].items();
  bool one_runs = false;
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const Json& status = statuses[i];
    row.restarts.add(status);
    const Json& terminated = status["state"]["terminated"];
    if (const std::string waiting = status["state"]["waiting"]["reason"].str(); !waiting.empty()) {
      row.words = waiting;
    } else if (terminated.is_object()) {
      row.words = terminated["reason"].as_string().empty() ? exit_words(terminated) : terminated["reason"].str();
    } else if (status["ready"].as_bool() && status["state"].has("running")) {
      one_runs = true;
      ++row.ready;
    }
  }
  if (row.words == "Completed" && one_runs) row.words = has_condition(pod, "Ready") ? "Running" : "NotReady";
}

Row read_pod(const Json& pod) {
  const Json& status = pod["status"];
  Row row{.words = status["phase"].str()};
  if (!status["reason"].as_string().empty()) row.words = status["reason"].str();
  for (const Json& condition : status["conditions"].items())
    if (condition["type"].as_string() == "PodScheduled" && condition["reason"].as_string() == "SchedulingGated")
      row.words = "SchedulingGated";
  Restarts beside;
  if (!read_init_containers(pod, row, beside) || has_condition(pod, "Initialized")) {
    row.restarts = beside;
    read_containers(pod, row);
  }
  if (api::is_deleting(pod)) row.words = status["reason"].as_string() == "NodeLost" ? "Unknown" : "Terminating";
  return row;
}

std::vector<std::string> cells_of(const Json& pod, base::Time now, bool everywhere) {
  const Row row = read_pod(pod);
  std::int64_t total = static_cast<std::int64_t>(pod["spec"]["containers"].size());
  for (const Json& container : pod["spec"]["initContainers"].items())
    total += container["restartPolicy"].as_string() == "Always" ? 1 : 0;
  std::string restarts = std::to_string(row.restarts.count);
  if (row.restarts.count != 0 && row.restarts.last)
    restarts += base::format(" ({} ago)", base::format_human_duration(now - *row.restarts.last));
  const auto made = base::parse_rfc3339(pod["metadata"]["creationTimestamp"].as_string());
  std::vector<std::string> cells;
  if (everywhere) cells.emplace_back(api::namespace_of(pod));
  for (std::string& cell :
       std::vector<std::string>{std::string(api::name_of(pod)), base::format("{}/{}", row.ready, total), row.words,
                                restarts, made ? base::format_human_duration(now - *made) : "<unknown>"})
    cells.push_back(std::move(cell));
  return cells;
}

// Keeps the pods that are asked for.
base::Status choose(const Values& values, std::vector<Json>& pods) {
  const std::string& job = values.text("job");
  const std::string& queue = values.text("queue");
  std::erase_if(pods, [&](const Json& pod) {
    if (!job.empty()) return api::label_of(pod, kJobName) != job;
    if (!queue.empty())
      return api::label_of(pod, kQueueName) != queue &&
             api::annotation_of(pod, "scheduling.volcano.sh/queue-name") != queue;
    return !pod["metadata"]["labels"].has(kJobName);
  });
  if (job.empty() || queue.empty()) return {};
  for (const Json& pod : pods)
    if (pod["metadata"]["labels"].has(kQueueName) && api::label_of(pod, kQueueName) != queue)
      return usage_error(base::format("the input vcjob {} does not match the queue {}", job, queue));
  return {};
}

base::Status list_pods(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const bool everywhere = values.on("all-namespaces");
  TRY(std::vector<Json> pods, list(*server, resources::kPods, everywhere ? "" : values.text("namespace")));
  TRY_VOID(choose(values, pods));
  if (auto text = as_list(values, pods, resources::kPods)) {
    world.out += *text;
    return {};
  }
  if (pods.empty()) {
    world.out += "No resources found\n";
    return {};
  }
  std::stable_sort(pods.begin(), pods.end(), [](const Json& a, const Json& b) {
    return std::pair(api::namespace_of(a), api::name_of(a)) < std::pair(api::namespace_of(b), api::name_of(b));
  });
  std::vector<std::vector<std::string>> rows = {{"Name", "Ready", "Status", "Restart", "Age"}};
  if (everywhere) rows[0].insert(rows[0].begin(), "Namespace");
  for (const Json& pod : pods) rows.push_back(cells_of(pod, world.now(), everywhere));
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < rows[0].size(); ++column) {
    std::size_t width = rows[0][column].size() + 2;
    for (std::size_t row = 1; row < rows.size(); ++row) width = std::max(width, rows[row][column].size() + 8);
    widths.push_back(width);
  }
  for (const std::vector<std::string>& row : rows) {
    std::vector<Cell> line;
    for (std::size_t column = 0; column < row.size(); ++column) line.push_back({row[column], widths[column]});
    world.out += table_line(line);
  }
  return {};
}

}  // namespace

Command pod_commands() {
  using enum Flag::Type;
  Command pod{.name = "pod", .summary = "vcctl command line operation pod"};
  pod.children = {{.name = "list",
                   .summary = "list pod information created by vcjob",
                   .flags = with_connection({{"all-namespaces", 0, kBool, "", "list pods in all namespaces"},
                                             {"job", 'j', kText, "", "list pod with specified job name"},
                                             {"namespace", 'n', kText, "default", "the namespace of pod"},
                                             {"queue", 'q', kText, "", "list pod with specified queue name"},
                                             output_flag()}),
                   .run = list_pods}};
  return pod;
}

}  // namespace cli
