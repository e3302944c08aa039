// vcctl job: run, list, view, suspend, resume, delete (cli.md 2.2 to 2.6).
#include <algorithm>

#include "api/json/yaml.h"
#include "api/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

const Flag kNamespace{"namespace", 'n', Flag::Type::kText, "default", "the namespace of job"};
const Flag kName{"name", 'N', Flag::Type::kText, "", "the name of job"};

base::Result<Json> parse_resources(const std::string& text) {
  Json list = Json::object();
  if (text.empty()) return list;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    const std::string part = text.substr(start, comma - start);
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos || part.find('=', equals + 1) != std::string::npos)
      return usage_error(base::format("invalid argument syntax {}, expected <resource>=<value>", part));
    const auto quantity = api::Quantity::parse(part.substr(equals + 1));
    if (!quantity)
      return usage_error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
    list.set(part.substr(0, equals), quantity->to_string());
    start = comma + 1;
  }
  return list;
}

Json job_from_flags(const Values& values, const Json& requests, const Json& limits) {
  const std::string& name = values.text("name");
  Json container = Json::object({{"image", values.text("image")},
                                 {"name", name},
                                 {"imagePullPolicy", "IfNotPresent"},
                                 {"resources", Json::object({{"limits", limits}, {"requests", requests}})}});
  Json pod = Json::object(
      {{"metadata", Json::object({{"name", name}, {"labels", Json::object({{"job.volcano.sh", name}})}})},
       {"spec", Json::object({{"restartPolicy", "Never"}, {"containers", Json::array({std::move(container)})}})}});
  Json task = Json::object({{"replicas", values.number("replicas")}, {"template", std::move(pod)}});
  return Json::object({{"apiVersion", "batch.volcano.sh/v1alpha1"},
                       {"kind", "Job"},
                       {"metadata", Json::object({{"name", name}, {"namespace", values.text("namespace")}})},
                       {"spec", Json::object({{"minAvailable", values.number("min")},
                                              {"schedulerName", values.text("scheduler")},
                                              {"tasks", Json::array({std::move(task)})}})}});
}

base::Result<Json> job_from_file(World& world, const std::string& path) {
  if (path.find(".yaml") == std::string::npos && path.find(".yml") == std::string::npos)
    return usage_error("only support yaml file");
  const auto text = world.read_file(path);
  if (!text.ok()) return usage_error(base::format("failed to read file, err: {}", text.error().message));
  auto job = api::parse_yaml(*text);
  if (!job.ok()) return usage_error(base::format("failed to unmarshal file, err:  {}", job.error().message));
  if (!job->is_object()) return usage_error("failed to unmarshal file, err:  the file holds no object");
  if (job->operator[]("apiVersion").is_null()) job->set("apiVersion", "batch.volcano.sh/v1alpha1");
  if (job->operator[]("kind").is_null()) job->set("kind", "Job");
  return *job;
}

base::Status run_job(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& file = values.text("filename");
  if (values.text("name").empty() && file.empty()) return usage_error("job name cannot be left blank");
  TRY(const Json requests, parse_resources(values.text("requests")));
  TRY(const Json limits, parse_resources(values.text("limits")));
  Json job = job_from_flags(values, requests, limits);
  if (!file.empty()) {
    TRY(job, job_from_file(world, file));
  }
  TRY(const Json created, server->call({.verb = client::Verb::kCreate,
                                        .resource = resources::kJobs,
                                        .ns = values.text("namespace"),
                                        .name = {},
                                        .subresource = {},
                                        .body = std::move(job)}));
  world.out += base::format("run job {} successfully\n", api::name_of(created));
  return {};
}

std::vector<Cell> job_row(const Json& job, std::size_t name_width, std::size_t namespace_width) {
  const Json& status = job["status"];
  const auto count = [&](std::string_view field) { return std::to_string(status[field].as_int()); };
  std::int64_t replicas = 0;
  for (const Json& task : job["spec"]["tasks"].items()) replicas += task["replicas"].as_int();
  const std::string type(api::label_of(job, "volcano.sh/job-type"));
  std::vector<Cell> row;
  if (namespace_width > 0) row.push_back({std::string(api::namespace_of(job)), namespace_width});
  const std::vector<Cell> rest = {{std::string(api::name_of(job)), name_width},
                                  {job["metadata"]["creationTimestamp"].str().substr(0, 10), 15},
                                  {status["state"]["phase"].str(), 12},
                                  {type.empty() ? "Batch" : type, 12},
                                  {std::to_string(replicas), 12},
                                  {count("minAvailable"), 6},
                                  {count("pending"), 10},
                                  {count("running"), 10},
                                  {count("succeeded"), 12},
                                  {count("failed"), 10},
                                  {count("unknown"), 12},
                                  {count("retryCount"), 10}};
  row.insert(row.end(), rest.begin(), rest.end());
  return row;
}

base::Status list_jobs(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const bool everywhere = values.on("all-namespaces");
  TRY(std::vector<Json> jobs, list(*server, resources::kJobs, everywhere ? "" : values.text("namespace")));
  const auto unwanted = [&](const Json& job) {
    const std::string& queue = values.text("queue");
    const std::string& scheduler = values.text("scheduler");
    return (!queue.empty() && job["spec"]["queue"].as_string() != queue) ||
           (!scheduler.empty() && job["spec"]["schedulerName"].as_string() != scheduler) ||
           api::name_of(job).find(values.text("selector")) == std::string_view::npos;
  };
  std::erase_if(jobs, unwanted);
  if (jobs.empty()) {
    world.out += "No resources found\n";
    return {};
  }
  std::size_t name_width = 4;
  std::size_t namespace_width = 9;
  for (const Json& job : jobs) {
    name_width = std::max(name_width, api::name_of(job).size());
    namespace_width = std::max(namespace_width, api::namespace_of(job).size());
  }
  name_width += 3;
  namespace_width = everywhere ? namespace_width + 3 : 0;
  std::vector<Cell> header;
  if (everywhere) header.push_back({"Namespace", namespace_width});
  for (Cell& cell : std::vector<Cell>{{"Name", name_width},
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
    header.push_back(cell);
  world.out += table_line(header);
  for (const Json& job : jobs) world.out += table_line(job_row(job, name_width, namespace_width));
  return {};
}

base::Status view_job(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& name = values.text("name");
  if (name.empty()) return usage_error("job name (specified by --name or -N) is mandatory to view a particular job");
  TRY(const Json job, get(*server, resources::kJobs, values.text("namespace"), name));
  std::vector<Json> events;
  if (auto all = list(*server, resources::kEvents, values.text("namespace")); all.ok()) {
    for (Json& event : *all)
      if (api::name_of(event).starts_with(name + ".")) events.push_back(std::move(event));
  } else {
    world.err += base::format("Failed to list events: {}\n", all.error().message);
  }
  world.out += job_view(job, events, world);
  return {};
}

// suspend, resume.
base::Status order(World& world, const Values& values, std::string_view word, std::string_view action) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (values.text("name").empty())
    return usage_error(base::format("job name is mandatory to {} a particular job", word));
  TRY(Json job, get(*server, resources::kJobs, values.text("namespace"), values.text("name")));
  job.set("apiVersion", "batch.volcano.sh/v1alpha1");
  job.set("kind", "Job");
  return send_command(*server, job, std::string(api::namespace_of(job)), action);
}

base::Status delete_job(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& name = values.text("name");
  if (name.empty()) return usage_error("job name is mandatory to delete a particular job");
  TRY_VOID(server->call({.verb = client::Verb::kDelete,
                         .resource = resources::kJobs,
                         .ns = values.text("namespace"),
                         .name = name,
                         .subresource = {}}));
  world.out += base::format("delete job {} successfully\n", name);
  return {};
}

}  // namespace

Command job_commands() {
  using enum Flag::Type;
  Command job{.name = "job", .summary = "vcctl command line operation job"};
  job.children = {
      {.name = "run",
       .summary = "run job by parameters from the command line",
       .flags = with_connection({{"image", 'i', kText, "busybox", "the container image of job"},
                                 kNamespace,
                                 kName,
                                 {"min", 'm', kInt, "1", "the minimal available tasks of job"},
                                 {"replicas", 'r', kInt, "1", "the total tasks of job"},
                                 {"requests", 'R', kText, "cpu=1000m,memory=100Mi", "the resource request of the task"},
                                 {"limits", 'L', kText, "cpu=1000m,memory=100Mi", "the resource limit of the task"},
                                 {"scheduler", 'S', kText, "volcano", "the scheduler for this job"},
                                 {"filename", 'f', kText, "", "the yaml file of job"}}),
       .run = run_job},
      {.name = "list",
       .summary = "list job information",
       .flags = with_connection({{"all-namespaces", 0, kBool, "", "list jobs in all namespaces"},
                                 kNamespace,
                                 {"queue", 'q', kText, "", "list job with specified queue name"},
                                 {"scheduler", 'S', kText, "", "list job with specified scheduler name"},
                                 {"selector", 0, kText, "", "fuzzy matching jobName"}}),
       .run = list_jobs},
      {.name = "view",
       .summary = "show job information",
       .flags = with_connection({kNamespace, kName}),
       .run = view_job},
      {.name = "suspend",
       .summary = "abort a job",
       .flags = with_connection({kNamespace, kName}),
       .run = [](World& w, const Values& v) { return order(w, v, "suspend", "AbortJob"); }},
      {.name = "resume",
       .summary = "resume a job",
       .flags = with_connection({kNamespace, kName}),
       .run = [](World& w, const Values& v) { return order(w, v, "resume", "ResumeJob"); }},
      {.name = "delete", .summary = "delete a job", .flags = with_connection({kNamespace, kName}), .run = delete_job}};
  return job;
}

}  // namespace cli
