// One root without children for each program (cli.md 3). Name and namespace have each other's letters here.
#include "cli/slurm.h"

#include "api/resource.h"
#include "base/format.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/shell_words.h"
#include "cli/table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

const Flag kName{"name", 'n', Flag::Type::kText, "", "the name of job"};
const Flag kNamespace{"namespace", 'N', Flag::Type::kText, "default", "the namespace of job"};

base::Status submit(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& ns = values.text("namespace");
  if (values.text("name").empty()) return usage_error("job name cannot be left blank");
  NewJob from{.name = values.text("name"),
              .ns = ns,
              .image = values.text("image"),
              .scheduler = values.text("scheduler"),
              .min_available = values.number("min"),
              .replicas = values.number("replicas"),
              .requests = values.text("requests"),
              .limits = values.text("limits")};
  TRY(from.command, split_words(values.text("command")));
  TRY(Json job, make_job(from));
  TRY(const Json created, create_job(*server, ns, std::move(job)));
  const std::string name(api::name_of(created));
  world.out += base::format("run job {} successfully\n", name);
  if (values.on("wait")) {
    TRY(world.exit_status, follow_job(world, *server, ns, name));
  }
  return {};
}

base::Status show_jobs(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& ns = values.text("namespace");
  if (const std::string& name = values.text("name"); !name.empty()) {
    TRY(const Json job, get(*server, resources::kJobs, ns, name));
    if (auto text = as_object(values, job, resources::kJobs))
      world.out += *text;
    else
      world.out += job_view(job, events_of_job(world, *server, ns, name), {.world = world, .with_conditions = false});
    return {};
  }
  const bool everywhere = values.on("all-namespaces");
  TRY(const std::vector<Json> jobs, list(*server, resources::kJobs, everywhere ? "" : ns));
  std::vector<Json> shown;
  for (const Json& job : jobs)
    if ((values.text("scheduler").empty() || job["spec"]["schedulerName"].as_string() == values.text("scheduler")) &&
        api::name_of(job).find(values.text("selector")) != std::string_view::npos)
      shown.push_back(job);
  if (auto text = as_list(values, shown, resources::kJobs))
    world.out += *text;
  else
    world.out += jobs.empty() ? "No resources found\n" : job_table(world, shown, jobs, everywhere);
  return {};
}

std::string queue_table(const std::vector<Json>& queues) {
  std::string text = table_line(
      {{"Name", 25}, {"Weight", 8}, {"State", 8}, {"Inqueue", 8}, {"Pending", 8}, {"Running", 8}, {"Unknown", 8}});
  for (const Json& queue : queues) {
    const Json& status = queue["status"];
    const auto count = [&](std::string_view field) { return std::to_string(status[field].as_int()); };
    text += table_line({{std::string(api::name_of(queue)), 25},
                        {std::to_string(queue["spec"]["weight"].as_int()), 8},
                        {status["state"].str(), 8},
                        {count("inqueue"), 8},
                        {count("pending"), 8},
                        {count("running"), 8},
                        {count("unknown"), 8}});
  }
  return text;
}

base::Status show_queues(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  std::vector<Json> queues;
  if (const std::string& name = values.text("name"); !name.empty()) {
    TRY(const Json queue, get(*server, resources::kQueues, "", name));
    if (auto text = as_object(values, queue, resources::kQueues)) {
      world.out += *text;
      return {};
    }
    queues.push_back(queue);
  } else {
    TRY(queues, list(*server, resources::kQueues, ""));
  }
  if (auto text = as_list(values, queues, resources::kQueues))
    world.out += *text;
  else
    world.out += queues.empty() ? "No resources found\n" : queue_table(queues);
  return {};
}

base::Status cancel(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  const std::string& name = values.text("name");
  if (name.empty()) return usage_error("job name is mandatory to cancel a particular job");
  TRY_VOID(delete_job(*server, values.text("namespace"), name));
  world.out += base::format("cancel job {} successfully\n", name);
  return {};
}

Command submit_root(const std::function<std::string(const std::string&)>& variable) {
  using enum Flag::Type;
  const auto or_else = [&](const char* name, const char* fallback) {
    std::string value = variable(name);
    return value.empty() ? std::string(fallback) : value;
  };
  return {.name = "vsub",
          .summary = "submit a job",
          .flags = with_connection(
              {{"image", 'i', kText, or_else("VOLCANO_DEFAULT_IMAGE", "busybox"), "the container image of job"},
               {"namespace", 'N', kText, or_else("VOLCANO_DEFAULT_JOB_NAMESPACE", "default"), "the namespace of job"},
               kName,
               {"min", 'm', kInt, "1", "the minimal available tasks of job"},
               {"replicas", 'r', kInt, "1", "the total tasks of job"},
               {"requests", 'R', kText, "cpu=1000m,memory=100Mi", "the resource request of the task"},
               {"limits", 'L', kText, "cpu=1000m,memory=100Mi", "the resource limit of the task"},
               {"scheduler", 'S', kText, or_else("VOLCANO_SCHEDULER_NAME", "volcano"), "the scheduler for this job"},
               {"command", 'c', kText, "", "the command of the job"},
               {.name = "wait",
                .letter = 'w',
                .type = kBool,
                .help = "show how the job goes, and end with its exit code",
                .is_extra = true}}),
          .run = submit,
          .long_summary =
              "submit a job with specified name and arguments. yaml/json file is not accepted, you may "
              "refer to kubectl."};
}

}  // namespace

std::vector<Command> slurm_roots(const std::function<std::string(const std::string&)>& variable) {
  using enum Flag::Type;
  std::vector<Command> roots = {submit_root(variable)};
  roots.push_back({.name = "vjobs",
                   .summary = "view job information",
                   .flags = with_connection({kNamespace,
                                             kName,
                                             {"scheduler", 'S', kText, "", "list job with specified scheduler name"},
                                             {"all-namespaces", 0, kBool, "", "list jobs in all namespaces"},
                                             {"selector", 0, kText, "", "fuzzy matching jobName"},
                                             output_flag()}),
                   .run = show_jobs,
                   .long_summary = "view information of a job with specified name or jobs from the same namespace"});
  roots.push_back(
      {.name = "vqueues",
       .summary = "view queue information",
       .flags = with_connection({{"name", 'n', kText, "", "the name of queue"}, output_flag()}),
       .run = show_queues,
       .long_summary = "view information of a queue with specified name or queues from the same namespace"});
  roots.push_back({.name = "vcancel",
                   .summary = "cancel a job",
                   .flags = with_connection({kNamespace, kName}),
                   .run = cancel,
                   .long_summary = "cancel a running, pending, or aborted job with specified name in default or "
                                   "specified namespace"});
  roots.push_back(
      {.name = "vsuspend",
       .summary = "suspend a job",
       .flags = with_connection({kNamespace, kName}),
       .run = [](World& w, const Values& v) { return order_job(w, v, "suspend", "AbortJob"); },
       .long_summary = "suspend a running or pending job with specified name in default or specified namespace"});
  roots.push_back({.name = "vresume",
                   .summary = "resume a job",
                   .flags = with_connection({kNamespace, kName}),
                   .run = [](World& w, const Values& v) { return order_job(w, v, "resume", "ResumeJob"); },
                   .long_summary = "resume an aborted job with specified name in default or specified namespace"});
  return roots;
}

}  // namespace cli
