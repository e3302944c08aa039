// One look at a run: its document first, then its tasks, then its own status.
#include "controllers/pipelines/run.h"

#include <algorithm>

#include "api/pipelines/v2beta1/pipeline.h"
#include "api/pipelines/v2beta1/pipeline_run.h"
#include "base/format.h"
#include "controllers/framework/execution.h"
#include "controllers/framework/pauses.h"
#include "controllers/pipelines/executor_input.h"
#include "controllers/pipelines/inputs.h"
#include "controllers/pipelines/run_look.h"
#include "controllers/pipelines/run_settings.h"
#include "controllers/pipelines/run_status.h"
#include "controllers/pipelines/step_pod.h"
#include "controllers/pipelines/task_objects.h"
#include "controllers/pipelines/walk.h"
#include "controllers/workloads/pods.h"

namespace controllers::pipelines {

using api::Json;
namespace resources = api::resources;

namespace {

constexpr std::string_view kDefaultExperiment = "default";
constexpr const char* kWorkspaceFate = "workspace";  // other fates are paths of tasks, below "root"
constexpr std::size_t kNameMax = 63;                 // a run's name is a label of its tasks and pods

base::Time time_in(const Json& text) {
  const auto time = base::parse_rfc3339(text.as_string());
  return time ? *time : base::Time{};
}

RunFacts facts_of(const Json& run, const ::pipelines::Pipeline& pipeline, const RunObjects& objects) {
  const auto has_account = [&objects](std::string_view name) {
    return objects.named(resources::kServiceAccounts, name) != nullptr;
  };
  RunFacts facts{.ns = std::string(api::namespace_of(run)),
                 .name = std::string(api::name_of(run)),
                 .uid = std::string(api::uid_of(run)),
                 .display_name = run["spec"]["displayName"].str(),
                 .pipeline = pipeline.name,
                 .root = run["spec"]["runtimeConfig"]["pipelineRoot"].str(),
                 .account = account_of(run, has_account),
                 .created = time_in(run["metadata"]["creationTimestamp"]),
                 .scheduled = time_in(run["spec"]["scheduledAt"])};
  if (facts.display_name.empty()) facts.display_name = facts.name;
  if (facts.root.empty()) facts.root = pipeline.default_root;
  if (facts.root.empty()) facts.root = kDefaultRoot;
  while (facts.root.ends_with('/')) facts.root.pop_back();
  return facts;
}

bool any_uses_store(const ::pipelines::Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.components,
                             [](const auto& one) { return !one.second.graph && uses_store(one.second); });
}

// The actions of another plan, and when it wants to look again.
void append(Plan& plan, const Plan& other) {
  for (const Stage& stage : other.stages())
    for (const Action& action : stage.actions) plan.create(action.resource, {}) = action;
  if (other.look_again()) plan.requeue_after(*other.look_again());
}

// One look at a run, and what it decides.
struct RunStep {
  const RunObjects& objects;
  const Json& run;
  const Turn& turn;
  const Options& options;
  Memory& memory;
  Plan plan = {};
  bool is_late = false;                 // it has taken longer than it may
  std::vector<std::string> asked = {};  // pods that the plan asks the server for
  bool asks_for_stores = false;         // the plan does, and for nothing else
};

void write_run_status(RunStep& step, Json status) {
  workloads::write_status(step.plan, resources::kPipelineRuns, step.run, std::move(status), step.turn);
}

void fail(RunStep& step, const std::string& error) {
  write_run_status(step, run_status(step.run["status"], "FAILED", error, step.turn.now));
}

void copy_version(RunStep& step, const std::string& name) {
  if (name.empty()) {
    fail(step, "spec: pipelineSpec or pipelineVersionName is required");
    return;
  }
  const Json* version = step.objects.named(resources::kPipelineVersions, name);
  if (version == nullptr) {
    fail(step, base::format("spec.pipelineVersionName: there is no PipelineVersion {}", name));
    return;
  }
  Json copied = Json::object({{"pipelineSpec", (*version)["spec"]["pipelineSpec"]}});
  if (!(*version)["spec"]["platformSpec"].is_null()) copied.set("platformSpec", (*version)["spec"]["platformSpec"]);
  if (step.run["spec"]["pipelineName"].as_string().empty())
    copied.set("pipelineName", (*version)["spec"]["pipelineName"]);
  step.plan.patch(resources::kPipelineRuns, step.run, client::PatchType::kMerge,
                  Json::object({{"spec", std::move(copied)}}));
}

// False: the plan says why, or fetches it.
bool read_document(RunStep& step) {
  if (api::name_of(step.run).size() > kNameMax) {
    fail(step, base::format("metadata.name: a run's name has {} letters at most", kNameMax));
    return false;
  }
  const Json& spec = step.run["spec"];
  if (spec["pipelineSpec"].is_null()) {
    copy_version(step, spec["pipelineVersionName"].str());
    return false;
  }
  const bool known = step.memory.spec.same_as(spec["pipelineSpec"]) || step.memory.spec == spec["pipelineSpec"];
  if (!known || !(step.memory.platform == spec["platformSpec"])) {
    step.memory.spec = spec["pipelineSpec"];
    step.memory.platform = spec["platformSpec"];
    step.memory.pipeline = nullptr;
    step.memory.gang_steps.clear();
    auto read = ::pipelines::read_pipeline(step.memory.spec, step.memory.platform);
    if (read.ok())
      step.memory.pipeline = std::make_shared<const ::pipelines::Pipeline>(*std::move(read));
    else
      step.memory.problem = base::format("pipelineSpec: {}", read.error().message);
  }
  if (step.memory.pipeline == nullptr) fail(step, step.memory.problem);
  return step.memory.pipeline != nullptr;
}

// False: the plan asks for them, says why they cannot be read, or writes the root of the namespace into the run, so
// that it stays the same to the run's end.
bool find_stores(RunStep& step) {
  if (!step.memory.stores && !any_uses_store(*step.memory.pipeline)) step.memory.stores.emplace();
  if (!step.memory.stores && step.memory.stores_problem.empty()) {
    step.asks_for_stores = true;
    step.plan.fetch(resources::kConfigMaps, "ConfigMap", api::namespace_of(step.run), ::pipelines::kStoresConfig);
    step.plan.requeue_after({});
    return false;
  }
  if (!step.memory.stores) {
    fail(step, base::format("ConfigMap {}: {}", ::pipelines::kStoresConfig, step.memory.stores_problem));
    return false;
  }
  const std::string& root = step.memory.stores->default_root();
  if (root.empty() || !step.run["spec"]["runtimeConfig"]["pipelineRoot"].as_string().empty() ||
      !step.memory.pipeline->default_root.empty())
    return true;
  Json config = Json::object({{"runtimeConfig", Json::object({{"pipelineRoot", root}})}});
  step.plan.patch(resources::kPipelineRuns, step.run, client::PatchType::kMerge,
                  Json::object({{"spec", std::move(config)}}));
  return false;
}

// Whether the run has taken longer than it may; if it still has time, it is looked at when that is over.
bool runs_late(RunStep& step) {
  const base::Duration deadline = deadline_of(settings_of(step.run));
  const base::Time started = time_in(step.run["status"]["startedAt"]);
  if (deadline == base::Duration{} || !started.is_set()) return false;
  const base::Duration left = pause_left(started + deadline, step.turn.now, deadline);
  if (left > base::Duration{}) step.plan.requeue_after(left);
  return left == base::Duration{};
}

// A request of a controller that was killed may arrive when the run has ended: the task that it made ends, too.
bool end_stragglers(RunStep& step) {
  const RunFacts facts{.ns = std::string(api::namespace_of(step.run)),
                       .name = std::string(api::name_of(step.run)),
                       .uid = std::string(api::uid_of(step.run))};
  bool any = false;
  for (const Json* task : step.objects.of_run(resources::kPipelineTasks)) {
    const Json& status = (*task)["status"];
    if (api::controller_of(*task)["uid"].as_string() != facts.uid || is_final(status["state"].as_string())) continue;
    any = true;
    const std::string name = pod_name_of(facts, (*task)["spec"]["path"].as_string(), status["attempt"].as_int());
    const Json* pod = step.objects.named(resources::kPods, name);
    if (pod != nullptr && !api::is_deleting(*pod)) step.plan.remove(resources::kPods, *pod);
    remove_group(step.plan, *task);
    Json object = *task;
    object.set("status", changed_status(status, {.state = "CANCELED"}, step.turn.now));
    step.plan.set_status(resources::kPipelineTasks, std::move(object)).stops_nothing = true;
  }
  return any;
}

// The pods and the workspace of a run that has ended go after the time that its document gives them.
void clear(RunStep& step, const std::string& state) {
  const base::Duration stay = stay_of(settings_of(step.run), state);
  if (stay < base::Duration{}) return;
  const base::Duration left = pause_left(time_in(step.run["status"]["finishedAt"]) + stay, step.turn.now, stay);
  if (left > base::Duration{}) {
    step.plan.requeue_after(left);
    return;
  }
  for (const api::ResourceId* resource :
       {&resources::kPods, &resources::kPodGroups, &resources::kPersistentVolumeClaims})
    for (const Json* one : step.objects.of_run(*resource)) {
      const Json& owner = api::controller_of(*one);
      const Json* task = step.objects.named(resources::kPipelineTasks, owner["name"].as_string());
      const bool of_task = task != nullptr && api::uid_of(*task) == owner["uid"].as_string() &&
                           api::controller_of(*task)["uid"].as_string() == api::uid_of(step.run);
      if ((of_task || owner["uid"].as_string() == api::uid_of(step.run)) && !api::is_deleting(*one))
        step.plan.remove(*resource, *one);
    }
}

// The experiment says when its newest run was made.
void record_in_experiment(RunStep& step) {
  if (step.memory.is_recorded) return;
  const std::string_view named = step.run["spec"]["experimentName"].as_string();
  const Json* experiment =
      step.objects.named(resources::kPipelineExperiments, named.empty() ? kDefaultExperiment : named);
  if (experiment == nullptr) return;
  step.memory.is_recorded = true;
  const base::Time made = time_in(step.run["metadata"]["creationTimestamp"]);
  const base::Time before = time_in((*experiment)["status"]["lastRunCreatedAt"]);
  if (!made.is_set() || (before.is_set() && before >= made)) return;
  Json status = Json::object({{"lastRunCreatedAt", base::format_rfc3339(made)}});
  Action& recorded = step.plan.patch(resources::kPipelineExperiments, *experiment, client::PatchType::kMerge,
                                     Json::object({{"status", std::move(status)}}));
  recorded.subresource = "status";
  recorded.missing_is_fine = recorded.stops_nothing = true;
}

void make_surroundings(RunStep& step, const RunFacts& facts) {
  if (step.memory.has_surroundings) return;
  step.memory.has_surroundings = true;
  const std::string ns(api::namespace_of(step.run));
  step.plan.create(resources::kConfigMaps, launcher_object(ns)).existing_is_fine = true;
  if (has_workspace(settings_of(step.run))) {
    Action& made =
        step.plan.create(resources::kPersistentVolumeClaims, workspace_object(facts, step.run, settings_of(step.run)));
    made.existing_is_fine = true;
    made.account = base::format("{}:{}", ns, facts.account);
    made.fate = kWorkspaceFate;
  }
  step.plan.begin_stage();
}

void conclude(RunStep& step, RunLook& look, const Standing& root) {
  for (const Plan* part : {&look.programs, &look.making, &look.statuses}) {
    append(step.plan, *part);
    step.plan.begin_stage();
  }
  for (const std::string& pod : look.asked) step.plan.fetch(resources::kPods, "Pod", look.facts.ns, pod);
  if (!look.asked.empty()) step.plan.requeue_after({});
  step.plan.begin_stage();
  std::string state = look.ends ? "CANCELING" : "RUNNING";
  const bool has_ended = root.is_settled || (root.is_over && look.tasks.empty());
  if (has_ended) state = look.ends && !root.has_succeeded() ? "CANCELED" : root.state;
  std::string error = root.error;
  if (step.is_late && has_ended && !root.has_succeeded()) {
    state = "FAILED";
    error = base::format("the run took longer than {} s", deadline_of(settings_of(step.run)).seconds());
  }
  Json status = run_status(step.run["status"], state, error, step.turn.now);
  status.set("tasks", task_counts(look));
  write_run_status(step, std::move(status));
}

// Tasks that failed begin anew; those that succeeded stay.
void try_again(RunStep& step, RunLook& look, std::int64_t retries) {
  for (const auto& [path, task] : look.tasks) {
    const std::string_view state = (*task)["status"]["state"].as_string();
    if (state != "FAILED" && state != "CANCELED") continue;
    const std::string_view type = (*task)["spec"]["type"].as_string();
    if (type == "CONTAINER")
      write_task(look, *task, {.state = "PENDING", .attempt = (*task)["status"]["attempt"].as_int() + 1});
    else if (type == "IMPORTER")
      look.making.remove(resources::kPipelineTasks, *task);
    else
      write_task(look, *task, {.state = "RUNNING"});
  }
  append(step.plan, look.making);
  append(step.plan, look.statuses);
  step.plan.begin_stage();
  Json status = run_status(step.run["status"], "RUNNING", {}, step.turn.now);
  status.set("observedRetries", retries);
  write_run_status(step, std::move(status));
}

// The problem of a run's root of artifacts or of its workspace; empty: none.
std::string problem_of(const RunStep& step, const RunLook& look) {
  if (any_uses_store(look.pipeline)) {
    base::Status fits = check_uri(look.facts.root);
    if (fits.ok()) fits = look.stores.check_root(look.facts.root);
    if (!fits.ok()) return fits.error().message;
  }
  const auto refused = step.memory.refused.find(kWorkspaceFate);
  return refused == step.memory.refused.end() ? "" : base::format("the workspace is refused: {}", refused->second);
}

void decide(RunStep& step) {
  const Json& run = step.run;
  const std::string state = run["status"]["state"].str();
  const std::int64_t retries = run["spec"]["retries"].as_int();
  const bool tries_again = is_final(state) && state != "SUCCEEDED" && !run["spec"]["terminate"].as_bool() &&
                           retries > run["status"]["observedRetries"].as_int();
  if (is_final(state) && !tries_again) {
    if (!end_stragglers(step)) clear(step, state);
    return;
  }
  if (!read_document(step) || !find_stores(step)) return;
  const RunFacts facts = facts_of(run, *step.memory.pipeline, step.objects);
  const bool is_ended = run["spec"]["terminate"].as_bool();
  step.is_late = !is_ended && runs_late(step);
  RunLook look{.objects = step.objects,
               .turn = step.turn,
               .options = step.options,
               .run = run,
               .facts = facts,
               .pipeline = *step.memory.pipeline,
               .stores = *step.memory.stores,
               .memory = step.memory,
               .ends = is_ended || step.is_late};
  for (const Json* task : step.objects.of_run(resources::kPipelineTasks))
    if (api::controller_of(*task)["uid"].as_string() == facts.uid)
      look.tasks.emplace((*task)["spec"]["path"].str(), task);
  if (tries_again) return try_again(step, look, retries);
  const auto parameters = root_inputs(look.pipeline.root, run["spec"]["runtimeConfig"]["parameters"]);
  if (!parameters.ok()) return fail(step, parameters.error().message);
  if (const std::string problem = problem_of(step, look); !problem.empty()) return fail(step, problem);
  make_surroundings(step, facts);
  record_in_experiment(step);
  const Standing root = walk(look, *parameters);
  conclude(step, look, root);
  step.asked = std::move(look.asked);
}

RunObjects objects_of(const View& view, const Json& run) {
  const std::string ns(api::namespace_of(run)), key = api::key_of(run);
  return {.named = [&view, ns](const api::ResourceId& resource,
                               std::string_view name) { return view.find(resource, base::format("{}/{}", ns, name)); },
          .of_run = [&view, key](const api::ResourceId& resource) { return view.by_index(resource, kByRun, key); },
          .tasks_of_key =
              [&view, ns](const std::string& digest) {
                return view.by_index(resources::kPipelineTasks, kByCacheKey, base::format("{}/{}", ns, digest));
              }};
}

class RunController final : public Controller {
 public:
  explicit RunController(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return "pipeline-run-controller"; }
  std::string_view component() const override { return name(); }

  std::vector<Write> writes() const override {
    return {{resources::kPipelineRuns, "patch"},
            {resources::kPipelineRuns, "update", "status"},
            {resources::kPipelineTasks, "create delete"},
            {resources::kPipelineTasks, "update", "status"},
            {resources::kPipelineTasks, "patch", "status"},
            {resources::kPipelineExperiments, "patch", "status"},
            {resources::kPods, "create delete"},
            {resources::kPersistentVolumeClaims, "create delete"},
            {resources::kConfigMaps, "create"},
            {resources::kPodGroups, "create patch delete"}};
  }
  std::vector<Wake> wakes_on() const override {
    const auto nobody = [](const View&, const Json&) { return Keys{}; };
    const auto never = [](const Json*, const Json*) { return false; };
    const auto of_label = [](const View&, const Json& object) { return run_key(object); };
    return {{.resource = resources::kPipelineRuns,
             .keys = [](const View&, const Json& one) { return Keys{api::key_of(one)}; },
             .may_be_absent = true},
            {.resource = resources::kPipelineTasks, .keys = of_label, .may_be_absent = true},
            {.resource = resources::kPipelineVersions, .keys = nobody, .matters = never, .may_be_absent = true},
            {.resource = resources::kPipelineExperiments, .keys = nobody, .matters = never, .may_be_absent = true},
            {.resource = resources::kServiceAccounts, .keys = nobody, .matters = never},
            {.resource = resources::kPods, .keys = of_label},
            {.resource = resources::kPodGroups, .keys = nobody, .matters = never, .may_be_absent = true},
            {.resource = resources::kPersistentVolumeClaims, .keys = of_label}};
  }

  std::vector<IndexBy> indexes() const override {
    return {{resources::kPods, kByRun, run_key},
            {resources::kPodGroups, kByRun, run_key},
            {resources::kPersistentVolumeClaims, kByRun, run_key},
            {resources::kPipelineTasks, kByRun, run_key},
            {resources::kPipelineTasks, kByCacheKey, [](const Json& task) {
               const std::string_view key = api::label_of(task, kCacheLabel);
               return key.empty() ? Keys{} : Keys{base::format("{}/{}", api::namespace_of(task), key)};
             }}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    pending_.erase(key);
    const Json* run = view.find(resources::kPipelineRuns, key);
    if (run == nullptr || api::is_deleting(*run)) {
      memories_.erase(key);
      return {};
    }
    Memory& memory = memories_[key];
    if (memory.uid != api::uid_of(*run)) memory = {.uid = std::string(api::uid_of(*run))};
    const RunObjects objects = objects_of(view, *run);
    RunStep look{.objects = objects, .run = *run, .turn = turn, .options = options_, .memory = memory};
    look.plan.set_subject(*run);
    decide(look);
    Plan plan = std::move(look.plan);
    if (is_final((*run)["status"]["state"].as_string()) && writes_nothing(plan) && !look.asks_for_stores)
      memories_.erase(key);
    else
      pending_[key] = {.stores = look.asks_for_stores, .pods = std::move(look.asked)};
    return plan;
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    const auto [asks_for_stores, asked] = std::move(found->second);
    pending_.erase(found);
    const auto memory = memories_.find(key);
    if (memory == memories_.end()) return;
    if (asks_for_stores && ending.succeeded && !ending.fetched.empty()) {
      auto read = ::pipelines::Stores::read(ending.fetched.front());
      if (read.ok())
        memory->second.stores = *std::move(read);
      else
        memory->second.stores_problem = read.error().message;
    }
    // A question that was not answered, because something failed before it, finds nothing either.
    for (std::size_t i = 0; ending.succeeded && i < asked.size() && i < ending.fetched.size(); ++i)
      if (ending.fetched[i].is_null()) memory->second.gone.insert(asked[i]);
    for (const RefusedAction& one : ending.refused) {
      if (one.fate.empty() || one.verb == Action::Verb::kPatch || one.verb == Action::Verb::kStatus) continue;
      if (is_old_view(one.error.code) || is_outage(one.error) || one.error.code == base::Code::kAlreadyExists) continue;
      memory->second.refused[one.fate] = one.error.message;
    }
    if (!ending.succeeded)
      memory->second.has_surroundings = memory->second.has_stage = memory->second.has_claim = false;
  }

 private:
  static Keys run_key(const Json& object) {
    const std::string_view run = api::label_of(object, kRunLabel);
    return run.empty() ? Keys{} : Keys{base::format("{}/{}", api::namespace_of(object), run)};
  }

  Options options_;
  std::map<std::string, Memory> memories_;
  // The question that a plan under way asks the server.
  struct Question {
    bool stores = false;  // the ConfigMap, and nothing else
    std::vector<std::string> pods = {};
  };
  std::map<std::string, Question> pending_;
};

}  // namespace

std::unique_ptr<Controller> make_run_controller(Options options) {
  return std::make_unique<RunController>(std::move(options));
}

}  // namespace controllers::pipelines
