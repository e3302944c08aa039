// Counting and columns.
#include "cli/queue_table.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/table.h"
#include "cli/text/people_table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

QueueCounts count_groups_or_ask(Api& server, const std::vector<Json>& queues) {
  QueueCounts counts;
  if (const auto groups = list(server, resources::kPodGroups, ""); groups.ok()) {
    for (const Json& group : *groups) {
      const std::string_view phase = group["status"]["phase"].as_string();
      ++counts[group["spec"]["queue"].str()][std::string(phase.empty() ? "Pending" : phase)];
    }
    return counts;
  }
  for (const Json& queue : queues)
    for (const char* field : {"inqueue", "pending", "running", "unknown", "completed"}) {
      std::string phase = field;
      phase[0] = static_cast<char>(phase[0] - 'a' + 'A');
      counts[std::string(api::name_of(queue))][phase] = queue["status"][field].as_int();
    }
  return counts;
}

std::string queue_table(const std::vector<Json>& queues, QueueCounts& counts, bool is_full) {
  const auto line = [is_full](std::string name, std::string weight, std::string state, std::string parent,
                              std::vector<std::string> numbers) {
    std::vector<Cell> cells = {{std::move(name), 25}, {std::move(weight), 8}, {std::move(state), 8}};
    if (is_full) cells.push_back({std::move(parent), 8});
    if (!is_full) numbers.pop_back();
    for (std::string& number : numbers) cells.push_back({std::move(number), 8});
    return table_line(cells);
  };
  std::string text =
      line("Name", "Weight", "State", "Parent", {"Inqueue", "Pending", "Running", "Unknown", "Completed"});
  for (const Json& queue : queues) {
    const std::string name(api::name_of(queue));
    std::vector<std::string> numbers;
    for (const char* phase : {"Inqueue", "Pending", "Running", "Unknown", "Completed"})
      numbers.push_back(std::to_string(counts[name][phase]));
    text += line(name, std::to_string(queue["spec"]["weight"].as_int()), queue["status"]["state"].str(),
                 queue["spec"]["parent"].str(), std::move(numbers));
  }
  return text;
}

std::string queue_table_for_people(const World& world, const std::vector<Json>& queues, QueueCounts& counts) {
  std::vector<const Json*> sorted;
  for (const Json& queue : queues) sorted.push_back(&queue);
  std::ranges::sort(sorted,
                    [](const Json* a, const Json* b) { return natural_less(api::name_of(*a), api::name_of(*b)); });
  std::vector<std::vector<std::string>> rows = {
      {"NAME", "STATE", "WEIGHT", "RUNNING", "INQUEUE", "PENDING", "COMPLETED", "PARENT"}};
  for (const Json* queue : sorted) {
    const std::string name(api::name_of(*queue));
    const auto count = [&](const char* phase) { return std::to_string(counts[name][phase]); };
    const std::string parent = (*queue)["spec"]["parent"].str();
    rows.push_back({name, std::string((*queue)["status"]["state"].as_string("Open")),
                    std::to_string((*queue)["spec"]["weight"].as_int()), count("Running"), count("Inqueue"),
                    count("Pending"), count("Completed"), parent.empty() ? "-" : parent});
  }
  return people_table(world.terminal, rows);
}

}  // namespace cli
