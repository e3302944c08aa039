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

class RunStep {
 public:
  RunStep(const RunObjects& objects, const Json& run, const Turn& turn, const Options& options, Memory& memory)
      : objects_(objects), run_(run), turn_(turn), options_(options), memory_(memory) {
    plan_.set_subject(run);
  }

  Plan take() {
    const std::string state = run_["status"]["state"].str();
    const std::int64_t retries = run_["spec"]["retries"].as_int();
    const bool tries_again = is_final(state) && state != "SUCCEEDED" && !run_["spec"]["terminate"].as_bool() &&
                             retries > run_["status"]["observedRetries"].as_int();
    if (is_final(state) && !tries_again) return end_stragglers() ? std::move(plan_) : clear(state);
    if (!read_document()) return std::move(plan_);
    if (!find_stores()) return std::move(plan_);
    const RunFacts facts = facts_of(run_, *memory_.pipeline, objects_);
    RunLook look{.objects = objects_,
                 .turn = turn_,
                 .options = options_,
                 .run = run_,
                 .facts = facts,
                 .pipeline = *memory_.pipeline,
                 .stores = *memory_.stores,
                 .memory = memory_,
                 .ends = run_["spec"]["terminate"].as_bool() || is_late()};
    for (const Json* task : objects_.of_run(resources::kPipelineTasks))
      if (api::controller_of(*task)["uid"].as_string() == facts.uid)
        look.tasks.emplace((*task)["spec"]["path"].str(), task);
    if (tries_again) return try_again(look, retries);
    const auto parameters = root_inputs(memory_.pipeline->root, run_["spec"]["runtimeConfig"]["parameters"]);
    if (!parameters.ok()) return failed(parameters.error().message);
    if (any_uses_store(*memory_.pipeline)) {
      base::Status fits = check_uri(facts.root);
      if (fits.ok()) fits = look.stores.check_root(facts.root);
      if (!fits.ok()) return failed(fits.error().message);
    }
    if (const auto refused = memory_.refused.find(kWorkspaceFate); refused != memory_.refused.end())
      return failed(base::format("the workspace is refused: {}", refused->second));
    make_surroundings(facts);
    note_in_experiment();
    const Standing root = walk(look, *parameters);
    add(look, root);
    asked = std::move(look.asked);
    return std::move(plan_);
  }

  std::vector<std::string> asked;
  bool asks_for_stores = false;

 private:
  void fail(const std::string& error) { say(run_status(run_["status"], "FAILED", error, turn_.now)); }
  Plan failed(const std::string& error) {
    fail(error);
    return std::move(plan_);
  }

  void say(Json status) { workloads::write_status(plan_, resources::kPipelineRuns, run_, std::move(status), turn_); }

  // False: the plan says why, or fetches it.
  bool read_document() {
    if (api::name_of(run_).size() > kNameMax) {
      fail(base::format("metadata.name: a run's name has {} letters at most", kNameMax));
      return false;
    }
    const Json& spec = run_["spec"];
    if (spec["pipelineSpec"].is_null()) {
      copy_version(spec["pipelineVersionName"].str());
      return false;
    }
    const bool known = memory_.spec.same_as(spec["pipelineSpec"]) || memory_.spec == spec["pipelineSpec"];
    if (!known || !(memory_.platform == spec["platformSpec"])) {
      memory_.spec = spec["pipelineSpec"];
      memory_.platform = spec["platformSpec"];
      memory_.pipeline = nullptr;
      memory_.gang_steps.clear();
      auto read = ::pipelines::read_pipeline(memory_.spec, memory_.platform);
      if (read.ok())
        memory_.pipeline = std::make_shared<const ::pipelines::Pipeline>(*std::move(read));
      else
        memory_.problem = base::format("pipelineSpec: {}", read.error().message);
    }
    if (memory_.pipeline == nullptr) fail(memory_.problem);
    return memory_.pipeline != nullptr;
  }

  void copy_version(const std::string& name) {
    if (name.empty()) {
      fail("spec: pipelineSpec or pipelineVersionName is required");
      return;
    }
    const Json* version = objects_.named(resources::kPipelineVersions, name);
    if (version == nullptr) {
      fail(base::format("spec.pipelineVersionName: there is no PipelineVersion {}", name));
      return;
    }
    Json copied = Json::object({{"pipelineSpec", (*version)["spec"]["pipelineSpec"]}});
    if (!(*version)["spec"]["platformSpec"].is_null()) copied.set("platformSpec", (*version)["spec"]["platformSpec"]);
    if (run_["spec"]["pipelineName"].as_string().empty())
      copied.set("pipelineName", (*version)["spec"]["pipelineName"]);
    plan_.patch(resources::kPipelineRuns, run_, client::PatchType::kMerge, Json::object({{"spec", std::move(copied)}}));
  }

  // False: the plan asks for them, says why they cannot be read, or writes the root of the namespace into the run, so
  // that it stays the same to the run's end.
  bool find_stores() {
    if (!memory_.stores && !any_uses_store(*memory_.pipeline)) memory_.stores.emplace();
    if (!memory_.stores && memory_.stores_problem.empty()) {
      asks_for_stores = true;
      plan_.fetch(resources::kConfigMaps, "ConfigMap", api::namespace_of(run_), ::pipelines::kStoresConfig);
      plan_.requeue_after({});
      return false;
    }
    if (!memory_.stores) {
      fail(base::format("ConfigMap {}: {}", ::pipelines::kStoresConfig, memory_.stores_problem));
      return false;
    }
    const std::string& root = memory_.stores->default_root();
    if (root.empty() || !run_["spec"]["runtimeConfig"]["pipelineRoot"].as_string().empty() ||
        !memory_.pipeline->default_root.empty())
      return true;
    Json config = Json::object({{"runtimeConfig", Json::object({{"pipelineRoot", root}})}});
    plan_.patch(resources::kPipelineRuns, run_, client::PatchType::kMerge, Json::object({{"spec", std::move(config)}}));
    return false;
  }

  // Whether the run has taken longer than it may; if it still has time, it is looked at when that is over.
  bool is_late() {
    const base::Duration deadline = deadline_of(settings_of(run_));
    const base::Time started = time_in(run_["status"]["startedAt"]);
    if (deadline == base::Duration{} || !started.is_set()) return false;
    const base::Duration left = pause_left(started + deadline, turn_.now, deadline);
    if (left > base::Duration{}) plan_.requeue_after(left);
    late_ = left == base::Duration{};
    return late_;
  }

  // A request of a controller that was killed may arrive when the run has ended: the task that it made ends, too.
  bool end_stragglers() {
    const RunFacts facts{.ns = std::string(api::namespace_of(run_)),
                         .name = std::string(api::name_of(run_)),
                         .uid = std::string(api::uid_of(run_))};
    bool any = false;
    for (const Json* task : objects_.of_run(resources::kPipelineTasks)) {
      const Json& status = (*task)["status"];
      if (api::controller_of(*task)["uid"].as_string() != facts.uid || is_final(status["state"].as_string())) continue;
      any = true;
      const std::string name = pod_name_of(facts, (*task)["spec"]["path"].as_string(), status["attempt"].as_int());
      const Json* pod = objects_.named(resources::kPods, name);
      if (pod != nullptr && !api::is_deleting(*pod)) plan_.remove(resources::kPods, *pod);
      remove_group(plan_, *task);
      Json object = *task;
      object.set("status", changed_status(status, {.state = "CANCELED"}, turn_.now));
      plan_.set_status(resources::kPipelineTasks, std::move(object)).stops_nothing = true;
    }
    return any;
  }

  // The pods and the workspace of a run that has ended go after the time that its document gives them.
  Plan clear(const std::string& state) {
    const base::Duration stay = stay_of(settings_of(run_), state);
    if (stay < base::Duration{}) return std::move(plan_);
    const base::Duration left = pause_left(time_in(run_["status"]["finishedAt"]) + stay, turn_.now, stay);
    if (left > base::Duration{}) {
      plan_.requeue_after(left);
      return std::move(plan_);
    }
    for (const api::ResourceId* resource :
         {&resources::kPods, &resources::kPodGroups, &resources::kPersistentVolumeClaims})
      for (const Json* one : objects_.of_run(*resource)) {
        const Json& owner = api::controller_of(*one);
        const Json* task = objects_.named(resources::kPipelineTasks, owner["name"].as_string());
        const bool of_task = task != nullptr && api::uid_of(*task) == owner["uid"].as_string() &&
                             api::controller_of(*task)["uid"].as_string() == api::uid_of(run_);
        if ((of_task || owner["uid"].as_string() == api::uid_of(run_)) && !api::is_deleting(*one))
          plan_.remove(*resource, *one);
      }
    return std::move(plan_);
  }

  // The experiment says when its newest run was made.
  void note_in_experiment() {
    if (memory_.is_noted) return;
    const std::string_view named = run_["spec"]["experimentName"].as_string();
    const Json* experiment =
        objects_.named(resources::kPipelineExperiments, named.empty() ? kDefaultExperiment : named);
    if (experiment == nullptr) return;
    memory_.is_noted = true;
    const base::Time made = time_in(run_["metadata"]["creationTimestamp"]);
    const base::Time before = time_in((*experiment)["status"]["lastRunCreatedAt"]);
    if (!made.is_set() || (before.is_set() && before >= made)) return;
    Json status = Json::object({{"lastRunCreatedAt", base::format_rfc3339(made)}});
    Action& noted = plan_.patch(resources::kPipelineExperiments, *experiment, client::PatchType::kMerge,
                                Json::object({{"status", std::move(status)}}));
    noted.subresource = "status";
    noted.missing_is_fine = noted.stops_nothing = true;
  }

  void make_surroundings(const RunFacts& facts) {
    if (memory_.has_surroundings) return;
    memory_.has_surroundings = true;
    const std::string ns(api::namespace_of(run_));
    plan_.create(resources::kConfigMaps, launcher_object(ns)).existing_is_fine = true;
    if (has_workspace(settings_of(run_))) {
      Action& made = plan_.create(resources::kPersistentVolumeClaims, workspace_object(facts, run_, settings_of(run_)));
      made.existing_is_fine = true;
      made.account = base::format("{}:{}", ns, facts.account);
      made.fate = kWorkspaceFate;
    }
    plan_.begin_stage();
  }

  void add(RunLook& look, const Standing& root) {
    for (const Plan* part : {&look.programs, &look.making, &look.statuses}) {
      append(plan_, *part);
      plan_.begin_stage();
    }
    for (const std::string& pod : look.asked) plan_.fetch(resources::kPods, "Pod", look.facts.ns, pod);
    if (!look.asked.empty()) plan_.requeue_after({});
    plan_.begin_stage();
    std::string state = look.ends ? "CANCELING" : "RUNNING";
    const bool has_ended = root.is_settled || (root.is_over && look.tasks.empty());
    if (has_ended) state = look.ends && !root.has_succeeded() ? "CANCELED" : root.state;
    std::string error = root.error;
    if (late_ && has_ended && !root.has_succeeded()) {
      state = "FAILED";
      error = base::format("the run took longer than {} s", deadline_of(settings_of(run_)).seconds());
    }
    Json status = run_status(run_["status"], state, error, turn_.now);
    status.set("tasks", task_counts(look));
    say(std::move(status));
  }

  // Tasks that failed begin anew; those that succeeded stay.
  Plan try_again(RunLook& look, std::int64_t retries) {
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
    append(plan_, look.making);
    append(plan_, look.statuses);
    plan_.begin_stage();
    Json status = run_status(run_["status"], "RUNNING", {}, turn_.now);
    status.set("observedRetries", retries);
    say(std::move(status));
    return std::move(plan_);
  }

  const RunObjects& objects_;
  const Json& run_;
  const Turn& turn_;
  const Options& options_;
  Memory& memory_;
  Plan plan_;
  bool late_ = false;
};

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
    RunStep look(objects, *run, turn, options_, memory);
    Plan plan = look.take();
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
