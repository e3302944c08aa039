// Wakes, indexes and memory of the job controller; the decision itself is step().
#include "controllers/job/controller.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/framework/execution.h"
#include "controllers/groups/waiting.h"
#include "controllers/job/runs.h"

namespace controllers::job {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kGroup = "batch.volcano.sh/";
const api::ResourceId kLimitRanges{"", "v1", "limitranges"};
const api::ResourceId kRuntimeClasses{"node.k8s.io", "v1", "runtimeclasses"};

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

// A group matters when it comes, goes, changes its phase, its spec or what it waits for.
bool group_changed(const Json* before, const Json* after) {
  if (!before || !after) return true;
  return waiting_sentence(trouble_of_group(*before)) != waiting_sentence(trouble_of_group(*after)) ||
         (*before)["status"]["phase"] != (*after)["status"]["phase"] || (*before)["spec"] != (*after)["spec"] ||
         api::is_deleting(*before) != api::is_deleting(*after);
}

bool job_phase_changed(const Json* before, const Json* after) {
  return !before || !after || (*before)["status"]["state"]["phase"] != (*after)["status"]["state"]["phase"];
}

bool came(const Json* before, const Json*) { return before == nullptr; }

bool waits_for_volume(const Json& pod) { return !volume_sentence(pod).empty(); }

// The fields of a pod that a step reads and that may change: not its node, its addresses or its conditions, though each
// pod of a job gets those, and a step looks at all pods of its job.
bool pod_changed(const Json* before, const Json* after) {
  if (!before || !after) return true;
  const auto differ = [&](std::string_view part, std::initializer_list<std::string_view> fields) {
    return std::ranges::any_of(fields,
                               [&](std::string_view field) { return (*before)[part][field] != (*after)[part][field]; });
  };
  if (waits_for_volume(*before) != waits_for_volume(*after)) return true;
  return differ("status", {"phase", "containerStatuses", "initContainerStatuses"}) ||
         differ("metadata", {"deletionTimestamp", "labels", "annotations", "ownerReferences"});
}

std::size_t active_pods(const Memory& memory) {
  return static_cast<std::size_t>(std::ranges::count_if(
      memory.pods, [](const auto& one) { return one.second.phase != "Succeeded" && one.second.phase != "Failed"; }));
}

// A stop of the machine is not a fault of the pod, which starts again at once.
void record_ends(const Job& job, const std::vector<const Json*>& pods, base::Time now, RestartPauses& pauses) {
  pauses.begin_look(now);
  for (const Json* pod : pods) {
    if (is_to_run_again(job, *pod))
      pauses.forget(api::uid_of(*pod));
    else
      pauses.see(task_of(*pod), *pod);
  }
  pauses.end_look();
}

std::set<std::string> asked_by(const Plan& plan) {
  std::set<std::string> asked;
  for (const Stage& stage : plan.stages())
    for (const Action& action : stage.actions)
      if (std::string what = refused_thing(action.verb, action.kind, action.name, action.fate); !what.empty())
        asked.insert(std::move(what));
  return asked;
}

// Which jobs the server has refused something, and for which of them that may be over.
class Hints {
 public:
  void set_refused(const std::string& key, bool is_refused) {
    refused_.set(key, is_refused);
    if (!is_refused) hastened_.erase(key);
  }
  // The jobs of a namespace; of all namespaces, if it is empty.
  Keys hasten(const std::string& ns) {
    Keys keys = refused_.of(ns);
    hastened_.insert(keys.begin(), keys.end());
    return keys;
  }
  bool take(const std::string& key) { return hastened_.erase(key) > 0; }

 private:
  RefusedKeys refused_;
  std::set<std::string> hastened_;
};

// The answers of a plan that ended change what is known of refusals.
void record_answers(const std::set<std::string>& asked, const Ending& ending, base::Time now, Refusals& refusals) {
  std::set<std::string> refused;
  for (const RefusedAction& one : ending.refused) {
    const std::string what = refused_thing(one.verb, one.kind, one.name, one.fate);
    if (what.empty() || is_old_view(one.error.code) || !refused.insert(what).second) continue;
    refusals.record(what, one.error, ending.made.contains(one.fate), now);
  }
  for (const std::string& what : asked)
    if (!refused.contains(what)) refusals.forget(what);
}

// A plan that failed may have deleted some of its pods.
void keep_of_failed(const Memory& after, Memory& memory) {
  memory.last_action = after.last_action;
  memory.pauses = after.pauses;
  for (auto& [name, pod] : memory.pods)
    if (const auto found = after.pods.find(name); found != after.pods.end() && found->second.uid == pod.uid)
      pod.out_of_sync = found->second.out_of_sync;
}

// The objects that the job names: they are other people's.
void look_up_named(const View& view, const Job& job, Observed& seen) {
  seen.queue = view.find(resources::kQueues, job.queue);
  for (std::string& key : jobs_before(job.object)) {
    const Json* before = view.find(resources::kJobs, key);
    seen.jobs_before.emplace(std::move(key), before);
  }
  for (const Task& task : job.tasks) {
    const std::string_view name = task.pod_template["spec"]["priorityClassName"].as_string();
    const Json* found = name.empty() ? nullptr : view.find(resources::kPriorityClasses, name);
    if (found) seen.priorities.emplace(name, (*found)["value"].as_int());
  }
}

class JobController final : public Controller {
 public:
  JobController(Options options, base::Metrics* metrics) : options_(options), metrics_(metrics) {}

  std::string_view name() const override { return "job-controller"; }

  std::vector<Write> writes() const override {
    return {{resources::kJobs, "update"},
            {resources::kJobs, "update", "status"},
            {resources::kCommands, "delete"},
            {resources::kPods, "create patch delete"},
            {resources::kPodGroups, "create patch delete"},
            {resources::kPersistentVolumeClaims, "create"},
            {resources::kServices, "create delete"},
            {resources::kConfigMaps, "create update delete"},
            {resources::kSecrets, "create update delete"},
            {resources::kNetworkPolicies, "create delete"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto own = [](const View&, const Json& job) { return Keys{api::key_of(job)}; };
    const auto owner = [](const View&, const Json& object) { return owner_job(object); };
    std::vector<Wake> wakes = {
        {resources::kJobs, own},
        {resources::kJobs,
         [](const View& view, const Json& job) {
           return keys_of(view.by_index(resources::kJobs, "after", api::key_of(job)));
         },
         job_phase_changed},
        {resources::kPods, owner, pod_changed},
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
    // COMPAT(refusals-that-time-cures): what refused a pod may let it pass from now on. An account that may not see
    // these leaves it to the pauses.
    const auto refused = [hints = hints_](const View&, const Json& one) {
      return hints->hasten(std::string(api::namespace_of(one)));
    };
    if (options_.reads_priorities)
      wakes.push_back({.resource = resources::kPriorityClasses, .keys = refused, .matters = came});
    wakes.push_back({resources::kResourceQuotas, refused, quota_may_have_room, true});
    wakes.push_back({resources::kServiceAccounts, refused, came, true});
    for (const api::ResourceId& one : {kLimitRanges, kRuntimeClasses})
      wakes.push_back({.resource = one, .keys = refused, .may_be_absent = true});
    return wakes;
  }

  std::vector<IndexBy> indexes() const override {
    std::vector<IndexBy> indexes = {
        {resources::kPods, "job", owner_job},
        {resources::kJobs, "queue", [](const Json& job) { return Keys{job["spec"]["queue"].str()}; }},
        {resources::kJobs, "after", jobs_before},
        {resources::kJobs, "claim", claims_of_job}};
    if (options_.reads_commands) indexes.push_back({resources::kCommands, "job", command_target});
    return indexes;
  }

  int failures_max() const override { return options_.requeues_max; }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    const Sight sight = observe(view, key);
    Pending& pending = pending_[key];
    pending = {};
    if (!sight.job) {
      Plan plan;
      // A command for a job that is gone has nobody to act on it.
      for (const Json* command : sight.observed.commands) plan.remove(resources::kCommands, *command);
      return plan;
    }
    const Job job = read_job(*sight.job);
    Known known;
    if (const auto found = known_.find(key); found != known_.end() && found->second.uid == job.uid)
      known = found->second;
    else
      known.uid = job.uid;  // of a new job, perhaps of an old name
    pending.news = news_of(job, sight.observed, known);
    known.phase = job.phase;
    const std::size_t active_before = active_pods(known.memory);
    notice(job, sight.observed, turn.now, known.memory);
    if (hints_->take(key) || active_pods(known.memory) < active_before) known.memory.refusals.hasten();
    Observed seen = sight.observed;
    look_up_named(view, job, seen);
    seen.refusals = &known.memory.refusals;
    record_ends(job, seen.pods, turn.now, known.memory.pauses);
    seen.pauses = &known.memory.pauses;
    const FindTaken find_taken = [&view, &job](const api::ResourceId& resource, std::string_view taken) {
      return view.find(resource, base::format("{}/{}", job.ns, taken));
    };
    Decision decision = job::step(job, seen, find_taken, known.memory, turn, options_);
    pending.now = turn.now;
    pending.asked = asked_by(decision.plan);
    pending.noticed = std::move(known);
    pending.after = std::move(decision.memory);
    return std::move(decision.plan);
  }

  // Notices stay noted; what was decided counts once it was done.
  void finished(const std::string& key, Ending ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    Pending pending = std::move(found->second);
    pending_.erase(found);
    if (!pending.noticed) {
      if (known_.erase(key) > 0) forget_counts(key);
      hints_->set_refused(key, false);
      return;
    }
    count(key, pending.news);
    Known& known = known_[key] = *std::move(pending.noticed);
    if (ending.succeeded)
      known.memory = std::move(pending.after);
    else
      keep_of_failed(pending.after, known.memory);
    record_answers(pending.asked, ending, pending.now, known.memory.refusals);
    hints_->set_refused(key, !known.memory.refusals.empty());
  }

 private:
  // All that is remembered of a job.
  struct Known {
    std::string uid;
    Phase phase = Phase::kNone;  // as last seen
    Memory memory;
  };

  // For the metrics.
  struct News {
    std::string queue;
    bool completed = false;
    bool failed = false;
    std::vector<double> latencies_ms;  // from the job's creation to that of each new pod
  };

  // A plan under way: what becomes of the memory when it has ended.
  struct Pending {
    std::optional<Known> noticed;  // unset: the job is gone
    Memory after;
    News news;
    std::set<std::string> asked = {};  // what it asks for that may be refused
    base::Time now = {};
  };

  // The news since the last look. The process before counted what happened before this one began.
  News news_of(const Job& job, const Observed& seen, const Known& known) const {
    News news{.queue = job.queue};
    if (!known.memory.looked_before || metrics_ == nullptr) return news;
    news.completed = known.phase != job.phase && job.phase == Phase::kCompleted;
    news.failed = known.phase != job.phase && job.phase == Phase::kFailed;
    for (const Json* pod : seen.pods) {
      if (known.memory.pods.count(std::string(api::name_of(*pod)))) continue;
      if (const auto made = base::parse_rfc3339((*pod)["metadata"]["creationTimestamp"].as_string()))
        news.latencies_ms.push_back((*made - job.created).seconds() * 1000);
    }
    return news;
  }

  void count(const std::string& key, const News& news) {
    if (metrics_ == nullptr) return;
    if (news.completed) metrics_->counter(kCompleted, {key, news.queue}).add();
    if (news.failed) metrics_->counter(kFailed, {key, news.queue}).add();
    for (const double latency : news.latencies_ms) metrics_->histogram(kLatency).observe(latency);
  }

  void forget_counts(const std::string& key) {
    if (metrics_ == nullptr) return;
    metrics_->remove(kCompleted, {key});
    metrics_->remove(kFailed, {key});
  }

  static constexpr std::string_view kCompleted = "volcano_job_completed_phase_count";
  static constexpr std::string_view kFailed = "volcano_job_failed_phase_count";
  static constexpr std::string_view kLatency = "volcano_controller_job_to_pod_creation_latency_milliseconds";

  Options options_;
  base::Metrics* metrics_;
  std::map<std::string, Known> known_;      // changed by finished() only
  std::map<std::string, Pending> pending_;  // of plans under way
  const std::shared_ptr<Hints> hints_ = std::make_shared<Hints>();
};

}  // namespace

Sight observe(const View& view, const std::string& key) {
  Sight sight;
  sight.job = view.find(resources::kJobs, key);
  sight.observed.commands = view.by_index(resources::kCommands, "job", key);
  // One that is going was taken; a finalizer may keep it.
  std::erase_if(sight.observed.commands, [](const Json* command) { return api::is_deleting(*command); });
  if (!sight.job) return sight;
  const std::string uid(api::uid_of(*sight.job));
  for (const Json* pod : view.by_index(resources::kPods, "job", key))
    if (api::controller_of(*pod)["uid"].as_string() == uid && names_its_owner(*pod)) sight.observed.pods.push_back(pod);
  // Groups made by releases before 1.5 have the job's own name.
  const Json* group = view.find(resources::kPodGroups, key + "-" + uid);
  if (!group) {
    group = view.find(resources::kPodGroups, key);
    // The name is anybody's choice: the group of another object is not the job's to change or delete.
    if (group && api::controller_of(*group)["uid"].as_string() != uid) group = nullptr;
  }
  if (group && !api::is_deleting(*group)) sight.observed.group = group;
  return sight;
}

std::unique_ptr<Controller> make_job_controller(Options options, base::Metrics* metrics) {
  return std::make_unique<JobController>(options, metrics);
}

}  // namespace controllers::job
