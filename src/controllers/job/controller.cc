// Wakes, indexes and memory of the job controller; the decision itself is step().
#include "controllers/job/controller.h"

#include <map>
#include <optional>
#include <utility>

#include "api/resource.h"
#include "base/format.h"

namespace controllers::job {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kGroup = "batch.volcano.sh/";

std::string in_namespace(const Json& object, std::string_view name) {
  return std::string(api::namespace_of(object)) + "/" + std::string(name);
}

Keys owner_job(const Json& object) {
  const Json& owner = api::controller_of(object);
  if (owner["kind"].as_string() != "Job" || !owner["apiVersion"].as_string().starts_with(kGroup)) return {};
  return {in_namespace(object, owner["name"].as_string())};
}

Keys command_target(const Json& command) {
  const Json& target = command["target"];
  if (target["kind"].as_string() != "Job" || target["apiVersion"].as_string() != "batch.volcano.sh/v1alpha1") return {};
  return {in_namespace(command, target["name"].as_string())};
}

Keys job_of_group(const Json& group) {
  Keys owner = owner_job(group);
  return owner.empty() ? Keys{in_namespace(group, api::name_of(group))} : owner;
}

Keys keys_of(const std::vector<const Json*>& objects) {
  Keys keys;
  for (const Json* object : objects) keys.push_back(api::key_of(*object));
  return keys;
}

Keys claims_of_job(const Json& job) {
  Keys keys;
  for (const Json& volume : job["spec"]["volumes"].items())
    if (const std::string name = volume["volumeClaimName"].str(); !name.empty())
      keys.push_back(in_namespace(job, name));
  return keys;
}

// A group matters when it comes, goes, changes its phase or its spec.
bool group_changed(const Json* before, const Json* after) {
  if (!before || !after) return true;
  return (*before)["status"]["phase"] != (*after)["status"]["phase"] || (*before)["spec"] != (*after)["spec"] ||
         api::is_deleting(*before) != api::is_deleting(*after);
}

bool came(const Json* before, const Json*) { return before == nullptr; }

// A plan that failed may have deleted some of its pods.
void keep_of_failed(const Memory& after, Memory& memory) {
  memory.last_action = after.last_action;
  for (auto& [name, pod] : memory.pods)
    if (const auto found = after.pods.find(name); found != after.pods.end() && found->second.uid == pod.uid)
      pod.out_of_sync = found->second.out_of_sync;
}

class JobController final : public Controller {
 public:
  JobController(Options options, base::Metrics* metrics) : options_(options), metrics_(metrics) {}

  std::string_view name() const override { return "job-controller"; }

  std::vector<Wake> wakes_on() const override {
    const auto own = [](const View&, const Json& job) { return Keys{api::key_of(job)}; };
    const auto owner = [](const View&, const Json& object) { return owner_job(object); };
    std::vector<Wake> wakes = {
        {resources::kJobs, own},
        {resources::kPods, owner},
        {resources::kPodGroups, [](const View&, const Json& group) { return job_of_group(group); }, group_changed},
        {resources::kQueues,
         [](const View& view, const Json& queue) {
           return keys_of(view.by_index(resources::kJobs, "queue", api::name_of(queue)));
         },
         came},
        {resources::kPersistentVolumeClaims,
         [](const View& view, const Json& claim) {
           return keys_of(view.by_index(resources::kJobs, "claim", api::key_of(claim)));
         },
         came},
        {resources::kConfigMaps, owner},
        {resources::kServices, owner}};
    if (options_.reads_commands)
      wakes.push_back(
          {resources::kCommands, [](const View&, const Json& command) { return command_target(command); }, came});
    if (options_.reads_priorities)
      wakes.push_back({resources::kPriorityClasses, [](const View&, const Json&) { return Keys{}; }});
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> indexes = {
        {resources::kPods, "job", owner_job},
        {resources::kJobs, "queue", [](const Json& job) { return Keys{job["spec"]["queue"].str()}; }},
        {resources::kJobs, "claim", claims_of_job}};
    if (options_.reads_commands) indexes.push_back({resources::kCommands, "job", command_target});
    return indexes;
  }

  int failures_max() const override { return options_.requeues_max; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Sight sight = observe(view, key);
    if (!sight.job) {
      memories_.erase(key);
      forget_counts(key);
      uids_.erase(key);
      Plan plan;
      // A command for a job that is gone has nobody to act on it.
      for (const Json* command : sight.observed.commands) plan.remove(resources::kCommands, *command);
      return plan;
    }
    const Job job = read_job(*sight.job);
    Memory& memory = memories_[key];
    if (job.uid != uids_[key]) {  // a new job of an old name
      memory = {};
      uids_[key] = job.uid;
    }
    count(job, sight.observed, memory);
    notice(job, sight.observed, turn.now, memory);
    Decision decision = job::step(job, sight.observed, memory, turn, options_);
    after_[key] = std::move(decision.memory);
    return std::move(decision.plan);
  }

  void finished(const std::string& key, bool succeeded) override {
    const auto after = after_.find(key);
    if (after == after_.end()) return;
    const auto memory = memories_.find(key);
    if (memory == memories_.end())
      uids_.erase(key);
    else if (succeeded)
      memory->second = std::move(after->second);
    else
      keep_of_failed(after->second, memory->second);
    after_.erase(after);
  }

 private:
  // Counts what is new since the last look. What happened before this process began was counted by another.
  void count(const Job& job, const Observed& seen, const Memory& memory) {
    const Phase before = std::exchange(phases_[job.key()], job.phase);
    if (!memory.looked_before || metrics_ == nullptr) return;
    base::Metrics& metrics = *metrics_;
    if (before != job.phase && job.phase == Phase::kCompleted)
      metrics.counter(kCompleted, {job.key(), job.queue}).add();
    if (before != job.phase && job.phase == Phase::kFailed) metrics.counter(kFailed, {job.key(), job.queue}).add();
    for (const Json* pod : seen.pods) {
      if (memory.pods.count(std::string(api::name_of(*pod)))) continue;
      if (const auto made = base::parse_rfc3339((*pod)["metadata"]["creationTimestamp"].as_string()))
        metrics.histogram(kLatency).observe((*made - job.created).seconds() * 1000);
    }
  }

  void forget_counts(const std::string& key) {
    if (phases_.erase(key) == 0 || metrics_ == nullptr) return;
    metrics_->remove(kCompleted, {key});
    metrics_->remove(kFailed, {key});
  }

  static constexpr std::string_view kCompleted = "volcano_job_completed_phase_count";
  static constexpr std::string_view kFailed = "volcano_job_failed_phase_count";
  static constexpr std::string_view kLatency = "volcano_controller_job_to_pod_creation_latency_milliseconds";

  Options options_;
  base::Metrics* metrics_;
  std::map<std::string, Phase> phases_;  // as last seen
  std::map<std::string, Memory> memories_;
  std::map<std::string, std::string> uids_;
  std::map<std::string, Memory> after_;  // of plans under way
};

}  // namespace

Sight observe(const View& view, const std::string& key) {
  Sight sight;
  sight.job = view.find(resources::kJobs, key);
  sight.observed.view = &view;
  sight.observed.commands = view.by_index(resources::kCommands, "job", key);
  if (!sight.job) return sight;
  const std::string uid(api::uid_of(*sight.job));
  for (const Json* pod : view.by_index(resources::kPods, "job", key))
    if (api::controller_of(*pod)["uid"].as_string() == uid && says_whose_it_is(*pod))
      sight.observed.pods.push_back(pod);
  // Groups made by releases before 1.5 have the job's own name.
  const Json* group = view.find(resources::kPodGroups, key + "-" + uid);
  if (!group) group = view.find(resources::kPodGroups, key);
  if (group && !api::is_deleting(*group)) sight.observed.group = group;
  return sight;
}

std::unique_ptr<Controller> make_job_controller(Options options, base::Metrics* metrics) {
  return std::make_unique<JobController>(options, metrics);
}

}  // namespace controllers::job
