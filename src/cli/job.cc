// vcctl job: run, list, view, suspend, resume, delete (cli.md 2.2 to 2.6); ours are logs and wait.
#include "cli/job.h"

#include "api/json/yaml.h"
#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/job_list.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/text/people_table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

base::Result<Json> create_job(Api& server, const std::string& ns, Json job) {
  return server.call({.verb = client::Verb::kCreate,
                      .resource = resources::kJobs,
                      .ns = ns,
                      .name = {},
                      .subresource = {},
                      .body = std::move(job)});
}

base::Status delete_job(Api& server, const std::string& ns, const std::string& name) {
  TRY_VOID(call_one(
      server,
      {.verb = client::Verb::kDelete, .resource = resources::kJobs, .ns = ns, .name = name, .subresource = {}}));
  return {};
}

base::Status for_each_job(World& world, const Values& values, std::string_view word,
                          const std::function<base::Status(const std::string& name)>& act) {
  const std::vector<std::string> names = values.list("name");
  if (names.empty() || (names.size() == 1 && names.front().empty()))
    return usage_error(base::format("job name is mandatory to {} a particular job", word));
  if (names.size() == 1) return act(names.front());
  base::Status worst;
  for (const std::string& name : names) {
    base::Status done = act(name);
    if (done.ok()) continue;
    if (!worst.ok()) world.out += base::format("Failed to {} job {}\n", word, worst.error().message);
    worst = base::within(done.take_error(), name);
  }
  return worst;
}

namespace {

// Volcano has no way from there; with our controllers the job begins anew.
base::Status check_can_resume(const Json& job, std::string_view action) {
  const std::string_view phase = job["status"]["state"]["phase"].as_string();
  if (action == "ResumeJob" && phase == "Completed")
    return usage_error(base::format("job {} is Completed: submit it again under another name", api::name_of(job)));
  return {};
}

}  // namespace

base::Status order_job(World& world, const Values& values, std::string_view word, std::string_view action) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  return for_each_job(world, values, word, [&](const std::string& name) -> base::Status {
    TRY(Json job, get(*server, resources::kJobs, values.text("namespace"), name));
    TRY_VOID(check_can_resume(job, action));
    job.set("apiVersion", "batch.volcano.sh/v1alpha1");
    job.set("kind", "Job");
    return send_command(*server, job, std::string(api::namespace_of(job)), action);
  });
}

std::vector<Json> events_of_job(World& world, Api& server, const std::string& ns, const std::string& name) {
  std::vector<Json> events;
  if (auto all = list(server, resources::kEvents, ns); all.ok()) {
    for (Json& event : *all)
      if (api::name_of(event).starts_with(name + ".")) events.push_back(std::move(event));
  } else {
    world.err += base::format("Failed to list events: {}\n", all.error().message);
  }
  return events;
}

namespace {

const Flag kNamespace{"namespace", 'n', Flag::Type::kText, "default", "the namespace of job"};
const Flag kName{"name", 'N', Flag::Type::kText, "", "the name of job"};
const Flag kNames{.name = "name", .letter = 'N', .help = "the name of job", .is_many = true};  // also the arguments

base::Result<Json> job_from_file(World& world, const std::string& path) {
  if (path.find(".yaml") == std::string::npos && path.find(".yml") == std::string::npos)
    return usage_error("only support yaml file");
  const auto text = world.read_file(path);
  if (!text.ok()) return usage_error(base::format("failed to read file, err: {}", text.error().message));
  const auto documents = api::parse_yaml_documents(*text);
  if (!documents.ok())
    return usage_error(base::format("failed to unmarshal file, err:  {}", documents.error().message));
  // COMPAT(documents)
  if (documents->size() > 1)
    return usage_error(base::format("{} holds {} documents, of which one job can be run", path, documents->size()));
  Json job = documents->empty() ? Json() : documents->front().value;
  if (!job.is_object()) return usage_error("failed to unmarshal file, err:  the file holds no object");
  if (job["apiVersion"].is_null()) job.set("apiVersion", "batch.volcano.sh/v1alpha1");
  if (job["kind"].is_null()) job.set("kind", "Job");
  return job;
}

base::Status run_job(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& file = values.text("filename");
  if (values.text("name").empty() && file.empty()) return usage_error("job name cannot be left blank");
  TRY(Json job, make_job({.name = values.text("name"),
                          .ns = values.text("namespace"),
                          .image = values.text("image"),
                          .scheduler = values.text("scheduler"),
                          .min_available = values.number("min"),
                          .replicas = values.number("replicas"),
                          .requests = values.text("requests"),
                          .limits = values.text("limits")}));
  if (!file.empty()) {
    TRY(job, job_from_file(world, file));
  }
  TRY(const Json created, create_job(*server, values.text("namespace"), std::move(job)));
  world.out += base::format("run job {} successfully\n", api::name_of(created));
  return {};
}

base::Status list_jobs(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect_beside_state(world, values));
  const bool everywhere = values.on("all-namespaces");
  TRY(std::vector<Json> jobs, list(*server, resources::kJobs, everywhere ? "" : values.text("namespace")));
  std::erase_if(jobs, [&](const Json& job) {
    const std::string& scheduler = values.text("scheduler");
    return !is_asked_for(job, values) ||
           (!scheduler.empty() && job["spec"]["schedulerName"].as_string() != scheduler) ||
           api::name_of(job).find(values.text("selector")) == std::string_view::npos;
  });
  sort_jobs(jobs, values);
  if (auto text = as_list(values, jobs, resources::kJobs)) {
    world.out += *text;
  } else if (is_for_people(world, values) && !jobs.empty()) {
    world.as_it_is = true;
    world.out += job_table_for_people(world, *server, jobs, everywhere ? "" : values.text("namespace"), everywhere);
  } else {
    world.out += jobs.empty() ? "No resources found\n" : job_table(world, jobs, jobs, everywhere);
  }
  return {};
}

base::Status view_job(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& name = values.text("name");
  if (name.empty()) return usage_error("job name (specified by --name or -N) is mandatory to view a particular job");
  TRY(const Json job, get(*server, resources::kJobs, values.text("namespace"), name));
  if (auto text = as_object(values, job, resources::kJobs)) {
    world.out += *text;
    return {};
  }
  const std::vector<Json> events = events_of_job(world, *server, values.text("namespace"), name);
  world.out += job_view(job, events, {.world = world});
  return {};
}

base::Status remove_job(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  return for_each_job(world, values, "delete", [&](const std::string& name) -> base::Status {
    TRY_VOID(delete_job(*server, values.text("namespace"), name));
    world.out += base::format("delete job {} successfully\n", name);
    return {};
  });
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
                                 {"selector", 0, kText, "", "fuzzy matching jobName"},
                                 job_list_flags()[0],
                                 job_list_flags()[1],
                                 job_list_flags()[2],
                                 table_or_output_flag()}),
       .run = list_jobs},
      {.name = "view",
       .summary = "show job information",
       .flags = with_connection({kNamespace, kName, output_flag()}),
       .run = view_job,
       .first_argument = "name"},
      {.name = "suspend",
       .summary = "abort a job",
       .flags = with_connection({kNamespace, kNames}),
       .run = [](World& w, const Values& v) { return order_job(w, v, "suspend", "AbortJob"); },
       .first_argument = "name"},
      {.name = "resume",
       .summary = "resume a job",
       .flags = with_connection({kNamespace, kNames}),
       .run = [](World& w, const Values& v) { return order_job(w, v, "resume", "ResumeJob"); },
       .first_argument = "name"},
      {.name = "restart",
       .summary = "run a job again from its begin, also one that failed",
       .flags = with_connection({kNamespace, kNames}),
       .run = [](World& w, const Values& v) { return order_job(w, v, "restart", "RestartJob"); },
       .first_argument = "name",
       .is_extra = true,
       .failure = "restart job"},
      {.name = "delete",
       .summary = "delete a job",
       .flags = with_connection({kNamespace, kNames}),
       .run = remove_job,
       .first_argument = "name"},
      logs_command(),
      wait_command()};
  return job;
}

}  // namespace cli
