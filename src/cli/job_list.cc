// Filters, order and columns of jobs.
#include "cli/job_list.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "api/meta/resource.h"
#include "base/format.h"
#include "base/letters.h"
#include "base/split.h"
#include "cli/table.h"
#include "cli/text/people_table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

bool is_phase(const std::string& word) {
  static constexpr std::array<std::string_view, 10> kPhases = {"pending",    "running",    "completed", "failed",
                                                               "terminated", "aborted",    "aborting",  "restarting",
                                                               "completing", "terminating"};
  return std::ranges::find(kPhases, base::lower(word)) != kPhases.end();
}

std::string state_of(const Json& job) { return std::string(job["status"]["state"]["phase"].as_string("Pending")); }

std::string_view user_of(const Json& job) { return api::annotation_of(job, "volcano.sh/user"); }

// The nodes of each job's pods, by "namespace/job". An account that may not list pods sees no nodes.
std::map<std::string, std::set<std::string>> nodes_of_jobs(Api& server, const std::string& ns) {
  std::map<std::string, std::set<std::string>> nodes;
  const auto pods = list(server, resources::kPods, ns, "volcano.sh/job-name");
  if (!pods.ok()) return nodes;
  for (const Json& pod : *pods) {
    const std::string_view node = pod["spec"]["nodeName"].as_string();
    if (node.empty() || pod["status"]["phase"].as_string() != "Running") continue;
    nodes[base::format("{}/{}", api::namespace_of(pod), api::label_of(pod, "volcano.sh/job-name"))].emplace(node);
  }
  return nodes;
}

std::string nodes_text(const std::set<std::string>& nodes) {
  std::vector<std::string> names(nodes.begin(), nodes.end());
  std::ranges::sort(names, natural_less);
  return base::join(names, ",");
}

}  // namespace

std::vector<Flag> job_list_flags() {
  const auto extra = [](std::string_view name, char letter, std::string help, std::string_view choices = {}) {
    return Flag{.name = name, .letter = letter, .help = std::move(help), .choices = choices, .is_extra = true};
  };
  return {extra("user", 'u', "only jobs that this account submitted with vsub"),
          extra("state", 0, "only jobs in this state; -s takes a state, too, and else is --master"),
          extra("sort", 0, "the order of jobs (default name)", "name|age|state|queue|user")};
}

bool names_state(const Values& values) { return is_phase(values.text("master")); }

base::Result<std::unique_ptr<Api>> connect_beside_state(World& world, const Values& values) {
  return names_state(values) ? world.connect(values.text("kubeconfig"), "") : connect(world, values);
}

bool is_asked_for(const Json& job, const Values& values) {
  const std::string& queue = values.text("queue");
  const std::string& user = values.text("user");
  const std::string state = base::lower(names_state(values) ? values.text("master") : values.text("state"));
  return (queue.empty() || job["spec"]["queue"].as_string() == queue) && (user.empty() || user_of(job) == user) &&
         (state.empty() || base::lower(state_of(job)) == state);
}

void sort_jobs(std::vector<Json>& jobs, const Values& values) {
  std::ranges::stable_sort(jobs, [](const Json& a, const Json& b) {
    if (api::namespace_of(a) != api::namespace_of(b)) return natural_less(api::namespace_of(a), api::namespace_of(b));
    return natural_less(api::name_of(a), api::name_of(b));
  });
  const std::string& by = values.text("sort");
  const auto key = [&by](const Json& job) -> std::string {
    if (by == "age") return job["metadata"]["creationTimestamp"].str();
    if (by == "state") return state_of(job);
    if (by == "queue") return job["spec"]["queue"].str();
    if (by == "user") return std::string(user_of(job));
    return {};
  };
  std::ranges::stable_sort(jobs, {}, key);
}

std::string ready_of(const Json& job) {
  std::int64_t replicas = 0;
  for (const Json& task : job["spec"]["tasks"].items()) replicas += task["replicas"].as_int();
  return base::format("{}/{}", job["status"]["running"].as_int() + job["status"]["succeeded"].as_int(), replicas);
}

std::string job_table_for_people(const World& world, Api& server, const std::vector<Json>& jobs, const std::string& ns,
                                 bool with_namespace) {
  const auto nodes = nodes_of_jobs(server, ns);
  std::vector<std::vector<std::string>> rows = {{"NAME", "QUEUE", "STATE", "READY", "AGE", "NODE OR REASON"}};
  for (const Json& job : jobs) {
    const std::string state = state_of(job);
    const auto found = nodes.find(api::key_of(job));
    std::string last = found == nodes.end() ? "" : nodes_text(found->second);
    // A running job has a place, and a complete one has no trouble.
    if (state != "Running" && state != "Completed") last = plain_reason(job["status"]["state"]["message"].as_string());
    rows.push_back({std::string(api::name_of(job)), job["spec"]["queue"].str(), state, ready_of(job),
                    age_of(world, job), last.empty() ? "-" : last});
  }
  if (with_namespace) {
    rows[0].insert(rows[0].begin(), "NAMESPACE");
    for (std::size_t i = 0; i < jobs.size(); ++i)
      rows[i + 1].insert(rows[i + 1].begin(), std::string(api::namespace_of(jobs[i])));
  }
  return people_table(world.terminal, rows);
}

}  // namespace cli
