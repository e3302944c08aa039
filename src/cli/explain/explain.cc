// vcctl explain: why a job, a group, a pod or a queue's groups wait, in words; from what the scheduler wrote, and from
// the scheduler itself where its address is given.
#include <algorithm>
#include <map>

#include "api/meta/resource.h"
#include "api/path_names.h"
#include "api/pods/volume_claims.h"
#include "base/format.h"
#include "cli/explain/condition_jobs.h"
#include "cli/reasons.h"
#include "cli/table.h"
#include "cli/vcctl.h"

namespace cli {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kGroupAnnotation = "scheduling.k8s.io/group-name";

std::string amounts(const Json& list) {
  std::string out;
  for (const Json::Member& member : list.members()) {
    const Json& amount = member.value;  // a quantity is a text or a number
    out += base::format("{}{} {}", out.empty() ? "" : ", ", amount.is_string() ? amount.str() : amount.dump(),
                        member.name());
  }
  return out.empty() ? "nothing" : out;
}

std::string describe_queue(const Json& queue) {
  const Json& spec = queue["spec"];
  std::string text = base::format("queue {}: {}, allocated {}", api::name_of(queue),
                                  queue["status"]["state"].str().empty() ? "Open" : queue["status"]["state"].str(),
                                  amounts(queue["status"]["allocated"]));
  if (!spec["capability"].empty()) text += base::format(", at most {}", amounts(spec["capability"]));
  if (!spec["deserved"].empty()) text += base::format(", deserves {}", amounts(spec["deserved"]));
  return text + "\n";
}

struct ExplainedObjects {
  std::unique_ptr<Api> server;
  Json live;  // what the scheduler says

  base::Result<Json> queue_of(const Json& group) {
    const std::string name = group["spec"]["queue"].str();  // whatever its author wrote
    if (!api::can_be_a_name(name)) return base::make_error(base::Code::kNotFound, "no queue has such a name");
    return get(*server, resources::kQueues, "", name);
  }
};

base::Result<ExplainedObjects> look(World& world, const Values& values) {
  ExplainedObjects scene;
  TRY(scene.server, connect(world, values));
  TRY(scene.live, ask_scheduler(world, values));
  return scene;
}

std::string pod_line(const Json& pod) {
  std::string text = base::format("  pod {}: {}", api::name_of(pod), pod["status"]["phase"].str());
  const std::string node = pod["spec"]["nodeName"].str();
  if (!node.empty()) return text + base::format(" on {}\n", node);
  if (!pod["spec"]["schedulingGates"].empty()) return text + ", held by a scheduling gate\n";
  const Json* scheduled = condition_of(pod, "PodScheduled");
  if (scheduled != nullptr && !(*scheduled)["message"].as_string().empty())
    text += base::format(", {}", (*scheduled)["message"].as_string());
  return text + "\n";
}

// Lines about the claims of a waiting pod that have no volume; `asked` keeps those of the pods before.
base::Result<std::string> claim_lines(Api& server, const Json& pod, std::map<std::string, std::string>& asked) {
  std::string lines;
  const std::string ns(api::namespace_of(pod));
  for (const Json& volume : pod["spec"]["volumes"].items()) {
    const std::string name = api::claim_of_volume(pod, volume);
    if (!api::can_be_a_name(name)) continue;
    const auto [known, is_new] = asked.emplace(name, "");
    if (is_new) {
      const auto claim = get(server, resources::kPersistentVolumeClaims, ns, name);
      if (!claim.ok() && claim.error().code != base::Code::kNotFound) return base::Error(claim.error());
      if (!claim.ok()) {
        known->second = base::format("    claim {} is not there\n", name);
      } else if ((*claim)["status"]["phase"].as_string() != "Bound") {
        const std::string class_name = (*claim)["spec"]["storageClassName"].str();
        base::Result<Json> found = base::make_error(base::Code::kNotFound, "no class has such a name");
        if (api::can_be_a_name(class_name)) found = get(server, resources::kStorageClasses, "", class_name);
        const std::string maker = found.ok() ? base::format("the provisioner {} of its class {} has made none",
                                                            (*found)["provisioner"].as_string(), class_name)
                                  : class_name.empty() ? "it names no class that makes one"
                                                       : base::format("its class {} is not there", class_name);
        known->second = base::format("    claim {} has no volume: {}\n", name, maker);
      }
    }
    lines += known->second;
  }
  return lines;
}

base::Status explain_group(World& world, ExplainedObjects& scene, const Json& group) {
  const auto queue = scene.queue_of(group);
  if (!queue.ok() && queue.error().code != base::Code::kNotFound) return base::Error(queue.error());
  const Json& status = group["status"];
  TRY(const auto events, admission_events(*scene.server, std::string(api::namespace_of(group))));
  const std::string reason = reason_of(group, queue.ok() ? &*queue : nullptr, scene.live, events);
  const std::int64_t together = group["spec"]["minMember"].as_int();
  world.out += base::format("group {}: {}, {} {}, {} running, {} succeeded, {} failed\n", api::key_of(group),
                            status["phase"].str().empty() ? "Pending" : status["phase"].str(), together,
                            together == 1 ? "pod starts by itself" : "pods start together", status["running"].as_int(),
                            status["succeeded"].as_int(), status["failed"].as_int());
  if (queue.ok()) world.out += describe_queue(*queue);
  world.out += reason.empty() ? "it has started\n" : base::format("it waits: {}\n", reason);
  TRY(const std::vector<Json> pods, list(*scene.server, resources::kPods, std::string(api::namespace_of(group))));
  constexpr std::size_t kPodsShown = 20;
  std::size_t waiting = 0;
  std::map<std::string, std::string> asked;
  for (const Json& pod : pods) {
    if (api::annotation_of(pod, kGroupAnnotation) != api::name_of(group) ||
        !pod["spec"]["nodeName"].as_string().empty())
      continue;
    if (++waiting > kPodsShown) continue;
    TRY(const std::string claims, claim_lines(*scene.server, pod, asked));
    world.out += pod_line(pod) + claims;
  }
  if (waiting > kPodsShown) world.out += base::format("  and {} more waiting pods\n", waiting - kPodsShown);
  return {};
}

base::Status explain_podgroup(World& world, const Values& values) {
  if (values.text("name").empty()) return usage_error("podgroup name must be specified");
  TRY(ExplainedObjects scene, look(world, values));
  TRY(const Json group, get(*scene.server, resources::kPodGroups, values.text("namespace"), values.text("name")));
  return explain_group(world, scene, group);
}

// A job without a group that nobody will make one for; empty for the others.
std::string why_at_rest(const Json& job) {
  const Json& status = job["status"];
  const std::string_view phase = status["state"]["phase"].as_string();
  if (phase == "Aborted") return "it is suspended: `vcctl job resume` continues it\n";
  if (phase != "Completed" && phase != "Failed" && phase != "Terminated") return {};
  const std::int64_t succeeded = status["succeeded"].as_int();
  return base::format("it has finished: {} {} succeeded, {} failed\n", succeeded, succeeded == 1 ? "pod" : "pods",
                      status["failed"].as_int());
}

base::Status explain_group_of(World& world, ExplainedObjects& scene, const Json& job, std::string_view without) {
  TRY(const std::vector<Json> groups, list(*scene.server, resources::kPodGroups, std::string(api::namespace_of(job))));
  for (const Json& group : groups)
    if (api::controller_of(group)["uid"].as_string() == api::uid_of(job)) return explain_group(world, scene, group);
  world.out += base::format("it has no PodGroup{}\n", without);
  return {};
}

// A job of another kind than Volcano's.
base::Status explain_condition_job(World& world, ExplainedObjects& scene, const ConditionJob& job) {
  world.out += base::format("{} {}: {}\n", job.kind, api::key_of(job.object), state_of(job));
  if (has_ended(job)) {
    world.out += "it has finished\n";
    return {};
  }
  if (state_of(job) == "Suspended") {
    world.out += "it is suspended: `suspend` of its spec, set to false, continues it\n";
    return {};
  }
  TRY(const JobRefusals refusals, refusals_of(*scene.server, job));
  if (!refusals.invalid.empty()) {
    world.out += base::format("it waits until it is changed: {}\n", refusals.invalid);
    return {};
  }
  if (!refusals.refused.empty()) world.out += base::format("it waits, and is tried again: {}\n", refusals.refused);
  return explain_group_of(world, scene, job.object, ": either none was made yet, or its pods are scheduled one by one");
}

base::Status explain_job(World& world, const Values& values) {
  const std::string& ns = values.text("namespace");
  if (values.text("name").empty()) return usage_error("job name must be specified");
  // As kubectl prints and takes names, KIND/NAME.
  const std::string name = values.text("name").substr(values.text("name").rfind('/') + 1);
  TRY(ExplainedObjects scene, look(world, values));
  const auto found = get(*scene.server, resources::kJobs, ns, name);
  if (!found.ok() && found.error().code == base::Code::kNotFound) {
    TRY(const auto other, find_condition_job(*scene.server, ns, name));
    if (other) return explain_condition_job(world, scene, *other);
  }
  TRY(const Json job, found);
  const std::string phase = job["status"]["state"]["phase"].str(), why = job["status"]["state"]["message"].str();
  world.out += base::format("job {}: {}\n", api::key_of(job), phase.empty() ? "Pending" : phase);
  // The group of a job that waits says the same, and more; but refusals of the server are known to its controller only.
  if (job["status"]["state"]["reason"].as_string() == "CreationRefused")
    world.out += base::format("it waits, and is tried again: {}\n", why);
  else if (!why.empty() && !phase.empty() && phase != "Pending" && phase != "Running")
    world.out += base::format("its state says: {}\n", why);
  if (const std::string text = why_at_rest(job); !text.empty()) {
    world.out += text;
    return {};
  }
  return explain_group_of(world, scene, job, " yet: the job controller makes one when it sees the job");
}

// "Job train", or "the pod itself".
std::string owner_of(const Json& pod) {
  const Json owner = api::controller_of(pod);
  if (!owner.is_object()) return "the pod itself";
  return base::format("{} {}", owner["kind"].as_string(), owner["name"].as_string());
}

base::Status explain_pod(World& world, const Values& values) {
  if (values.text("name").empty()) return usage_error("pod name must be specified");
  TRY(ExplainedObjects scene, look(world, values));
  TRY(const Json pod, get(*scene.server, resources::kPods, values.text("namespace"), values.text("name")));
  world.out += pod_line(pod).substr(2);
  if (!pod["spec"]["nodeName"].as_string().empty()) return {};
  const std::string group_name(api::annotation_of(pod, kGroupAnnotation));
  if (group_name.empty()) {
    world.out += base::format("it belongs to no group; its scheduler is {}\n",
                              pod["spec"]["schedulerName"].as_string("default-scheduler"));
    return {};
  }
  // The annotation is whatever the pod's author wrote.
  base::Result<Json> group = base::make_error(base::Code::kNotFound, "no group has such a name");
  if (api::can_be_a_name(group_name))
    group = get(*scene.server, resources::kPodGroups, values.text("namespace"), group_name);
  if (!group.ok() && group.error().code == base::Code::kNotFound) {
    world.out += base::format(
        "its group {} is not there: the controllers have not made it yet, or could not; `kubectl describe` of its "
        "owner ({}) and the log of vc-controller-manager say why\n",
        group_name, owner_of(pod));
    return {};
  }
  if (!group.ok()) return group.take_error();
  return explain_group(world, scene, *group);
}

base::Status explain_queue(World& world, const Values& values) {
  if (values.text("name").empty()) return usage_error("queue name must be specified");
  TRY(ExplainedObjects scene, look(world, values));
  TRY(const Json queue, get(*scene.server, resources::kQueues, "", values.text("name")));
  world.out += describe_queue(queue);
  TRY(const std::vector<Json> groups, list(*scene.server, resources::kPodGroups, ""));
  TRY(const auto events, admission_events(*scene.server, ""));
  std::map<std::string, std::string> waiting;
  for (const Json& group : groups)
    if (group["spec"]["queue"].as_string() == values.text("name") && !has_started(group))
      waiting[api::key_of(group)] = reason_of(group, &queue, scene.live, events);
  if (waiting.empty()) world.out += "no group waits\n";
  for (const auto& [key, reason] : waiting) world.out += base::format("  {}: {}\n", key, reason);
  return {};
}

}  // namespace

Command explain_commands() {
  using enum Flag::Type;
  const Flag ns{"namespace", 'n', kText, "default", "the namespace of the object"};
  const Flag name{"name", 'N', kText, "", "the name of the object; also the first argument"};
  const Flag scheduler = scheduler_flag();
  Command explain{.name = "explain", .summary = "why a job, podgroup, pod or queue waits", .is_extra = true};
  explain.children = {{.name = "job",
                       .summary = "why a job waits, of whatever kind",
                       .flags = with_connection({ns, name, scheduler}),
                       .run = explain_job,
                       .first_argument = "name",
                       .failure = "explain job"},
                      {.name = "podgroup",
                       .summary = "why a group waits",
                       .flags = with_connection({ns, name, scheduler}),
                       .run = explain_podgroup,
                       .first_argument = "name",
                       .failure = "explain podgroup"},
                      {.name = "pod",
                       .summary = "why a pod waits",
                       .flags = with_connection({ns, name, scheduler}),
                       .run = explain_pod,
                       .first_argument = "name",
                       .failure = "explain pod"},
                      {.name = "queue",
                       .summary = "which groups of a queue wait, and why",
                       .flags = with_connection({name, scheduler}),
                       .run = explain_queue,
                       .first_argument = "name",
                       .failure = "explain queue"}};
  return explain;
}

}  // namespace cli
