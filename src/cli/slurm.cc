// One root without children for each program (cli.md 3). Name and namespace have each other's letters here.
#include "cli/slurm.h"

#include "api/meta/resource.h"
#include "base/format.h"
#include "cli/job.h"
#include "cli/job_list.h"
#include "cli/output.h"
#include "cli/queue_table.h"
#include "cli/submit.h"
#include "cli/table.h"
#include "cli/text/people_table.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

const Flag kName{"name", 'n', Flag::Type::kText, "", "the name of job"};
const Flag kNames{.name = "name", .letter = 'n', .help = "the name of job", .is_many = true};
constexpr std::string_view kLetters =
    "Names are also taken as arguments, and -n may be repeated.\n"
    "-n is --name and -N is --namespace here; in vcctl it is the other way round.";
const Flag kNamespace{"namespace", 'N', Flag::Type::kText, "default", "the namespace of job"};

base::Status show_jobs(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect_beside_state(world, values));
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
    if (is_asked_for(job, values) &&
        (values.text("scheduler").empty() || job["spec"]["schedulerName"].as_string() == values.text("scheduler")) &&
        api::name_of(job).find(values.text("selector")) != std::string_view::npos)
      shown.push_back(job);
  sort_jobs(shown, values);
  if (auto text = as_list(values, shown, resources::kJobs)) {
    world.out += *text;
  } else if (is_for_people(world, values)) {
    world.as_it_is = true;
    world.out += shown.empty() ? "No resources found\n"
                               : job_table_for_people(world, *server, shown, everywhere ? "" : ns, everywhere);
  } else {
    world.out += jobs.empty() ? "No resources found\n" : job_table(world, shown, jobs, everywhere);
  }
  return {};
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
  if (auto text = as_list(values, queues, resources::kQueues)) {
    world.out += *text;
    return {};
  }
  if (queues.empty()) {
    world.out += "No resources found\n";
    return {};
  }
  QueueCounts counts = count_groups_or_ask(*server, queues);
  world.as_it_is = is_for_people(world, values);
  world.out +=
      is_for_people(world, values) ? queue_table_for_people(world, queues, counts) : queue_table(queues, counts, false);
  return {};
}

base::Status cancel(World& world, const Values& values) {
  TRY(const std::unique_ptr<Api> server, connect(world, values));
  if (values.list("name").empty()) return usage_error("job name is mandatory to cancel a particular job");
  return for_each_job(world, values, "cancel", [&](const std::string& name) -> base::Status {
    TRY_VOID(delete_job(*server, values.text("namespace"), name));
    world.out += base::format("cancel job {} successfully\n", name);
    return {};
  });
}

}  // namespace

std::vector<Command> slurm_roots(const std::function<std::string(const std::string&)>& variable) {
  using enum Flag::Type;
  std::vector<Command> roots = {submit_root(variable)};
  roots.push_back(
      {.name = "vjobs",
       .summary = "view job information",
       .flags = with_connection({kNamespace,
                                 kName,
                                 {"scheduler", 'S', kText, "", "list job with specified scheduler name"},
                                 {"all-namespaces", 0, kBool, "", "list jobs in all namespaces"},
                                 {"selector", 0, kText, "", "fuzzy matching jobName"},
                                 {.name = "queue", .letter = 'q', .help = "only jobs of this queue", .is_extra = true},
                                 job_list_flags()[0],
                                 job_list_flags()[1],
                                 job_list_flags()[2],
                                 table_or_output_flag()}),
       .run = show_jobs,
       .first_argument = "name",
       .long_summary = "view information of a job with specified name or jobs from the same namespace",
       .remark = "-n is --name and -N is --namespace here; in vcctl it is the other way round."});
  roots.push_back(
      {.name = "vqueues",
       .summary = "view queue information",
       .flags = with_connection({{"name", 'n', kText, "", "the name of queue"}, table_or_output_flag()}),
       .run = show_queues,
       .first_argument = "name",
       .long_summary = "view information of a queue with specified name or queues from the same namespace"});
  roots.push_back({.name = "vcancel",
                   .summary = "cancel a job",
                   .flags = with_connection({kNamespace, kNames}),
                   .run = cancel,
                   .first_argument = "name",
                   .long_summary = "cancel a running, pending, or aborted job with specified name in default or "
                                   "specified namespace",
                   .remark = kLetters});
  roots.push_back(
      {.name = "vsuspend",
       .summary = "suspend a job",
       .flags = with_connection({kNamespace, kNames}),
       .run = [](World& w, const Values& v) { return order_job(w, v, "suspend", "AbortJob"); },
       .first_argument = "name",
       .long_summary = "suspend a running or pending job with specified name in default or specified namespace",
       .remark = kLetters});
  roots.push_back({.name = "vresume",
                   .summary = "resume a job",
                   .flags = with_connection({kNamespace, kNames}),
                   .run = [](World& w, const Values& v) { return order_job(w, v, "resume", "ResumeJob"); },
                   .first_argument = "name",
                   .long_summary = "resume an aborted job with specified name in default or specified namespace",
                   .remark = kLetters});
  return roots;
}

}  // namespace cli
