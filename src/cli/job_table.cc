// Jobs, one a line, in columns that scripts cut (cli.md 2.3).
#include <algorithm>

#include "api/meta/resource.h"
#include "cli/job.h"
#include "cli/table.h"

namespace cli {

using api::Json;

namespace {

struct Widths {
  std::size_t ns = 0;  // 0: no such column
  std::size_t name = 0;
};

std::string header(const Widths& widths) {
  std::vector<Cell> cells;
  if (widths.ns > 0) cells.push_back({"Namespace", widths.ns});
  for (Cell& cell : std::vector<Cell>{{"Name", widths.name},
                                      {"Creation", 15},
                                      {"Phase", 12},
                                      {"JobType", 12},
                                      {"Replicas", 12},
                                      {"Min", 6},
                                      {"Pending", 10},
                                      {"Running", 10},
                                      {"Succeeded", 12},
                                      {"Failed", 10},
                                      {"Unknown", 12},
                                      {"RetryCount", 10}})
    cells.push_back(std::move(cell));
  return table_line(cells);
}

// Its day, where whoever reads this is.
std::string creation_day(const World& world, const Json& job) {
  const auto created = base::parse_rfc3339(job["metadata"]["creationTimestamp"].as_string());
  return created ? world.local_time(*created).substr(0, 10) : "0001-01-01";
}

std::string line_of(const World& world, const Json& job, const Widths& widths) {
  const Json& status = job["status"];
  const auto count = [&](std::string_view field) { return std::to_string(status[field].as_int()); };
  std::int64_t replicas = 0;
  for (const Json& task : job["spec"]["tasks"].items()) replicas += task["replicas"].as_int();
  const std::string type(api::label_of(job, "volcano.sh/job-type"));
  std::vector<Cell> cells;
  if (widths.ns > 0) cells.push_back({std::string(api::namespace_of(job)), widths.ns});
  for (Cell& cell : std::vector<Cell>{{std::string(api::name_of(job)), widths.name},
                                      {creation_day(world, job), 15},
                                      {status["state"]["phase"].str(), 12},
                                      {type.empty() ? "Batch" : type, 12},
                                      {std::to_string(replicas), 12},
                                      {count("minAvailable"), 6},
                                      {count("pending"), 10},
                                      {count("running"), 10},
                                      {count("succeeded"), 12},
                                      {count("failed"), 10},
                                      {count("unknown"), 12},
                                      {count("retryCount"), 10}})
    cells.push_back(std::move(cell));
  return table_line(cells);
}

}  // namespace

std::string job_table(const World& world, const std::vector<Json>& shown, const std::vector<Json>& measured,
                      bool with_namespace) {
  Widths widths{.ns = std::string_view("Namespace").size(), .name = std::string_view("Name").size()};
  for (const Json& job : measured) {
    widths.name = std::max(widths.name, api::name_of(job).size());
    widths.ns = std::max(widths.ns, api::namespace_of(job).size());
  }
  widths.name += 3;
  widths.ns = with_namespace ? widths.ns + 3 : 0;
  std::string text = header(widths);
  for (const Json& job : shown) text += line_of(world, job, widths);
  return text;
}

}  // namespace cli
