// Wakes and memory of the training controllers; the decision itself is step().
#include "controllers/training/controller.h"

#include <map>

#include "api/meta/resource.h"
#include "base/format.h"
#include "controllers/training/changes.h"
#include "controllers/training/framework.h"
#include "controllers/training/mpi_objects.h"
#include "controllers/training/pods.h"
#include "controllers/training/step.h"

namespace controllers::training {

using api::Json;

namespace {

Keys owner_key(const Framework& framework, std::string_view api_version, const Json& object) {
  const Json& owner = api::controller_of(object);
  // The Job of a launcher is told from others when the turn comes.
  constexpr std::string_view kSuffix = "-launcher";
  if (framework.launcher_is_a_job && owner["kind"].as_string() == "Job" &&
      owner["name"].as_string().ends_with(kSuffix)) {
    std::string name = owner["name"].str();
    name.resize(name.size() - kSuffix.size());
    return {base::format("{}/{}", api::namespace_of(object), name)};
  }
  if (owner["kind"].as_string() != framework.kind || owner["apiVersion"].as_string() != api_version) return {};
  return {base::format("{}/{}", api::namespace_of(object), owner["name"].as_string())};
}

// A reference from another namespace leads to nobody, whoever wrote it.
std::string owned_key(std::string_view ns, std::string_view uid) { return base::format("{}/{}", ns, uid); }

constexpr const char* kByClass = "priority class";

// The jobs that name a PriorityClass.
Keys jobs_of_class(const Framework& framework, const View& view, const Json& priority_class) {
  Keys keys;
  for (const Json* job : view.by_index(framework.resource, kByClass, api::name_of(priority_class)))
    keys.push_back(api::key_of(*job));
  return keys;
}

bool counts_jobs(std::string_view metric) { return metric.starts_with("training_operator_jobs_"); }

class TrainingController final : public Controller {
 public:
  TrainingController(const Framework& framework, Options options)
      : framework_(framework),
        options_(std::move(options)),
        api_version_(framework.resource.api_version()),
        index_("owner " + api_version_ + " " + std::string(framework.kind)) {}

  std::string_view name() const override { return framework_.controller; }
  std::string_view component() const override { return framework_.controller; }

  std::vector<Write> writes() const override {
    std::vector<Write> rows = {{framework_.resource, "delete"},
                               {framework_.resource, "update", "status"},
                               {api::resources::kPods, "create delete"},
                               {api::resources::kServices, "create delete"}};
    if (options_.gang) rows.push_back({group_resource(options_), "create patch delete"});
    if (options_.autoscalers) rows.push_back({kAutoscalers, "create patch delete"});
    if (!framework_.objects) return rows;
    rows.push_back({api::resources::kConfigMaps, "create patch"});
    if (framework_.launcher_is_a_job) {
      rows.push_back({api::resources::kSecrets, "create"});
      if (options_.launcher_jobs) rows.push_back({kBatchJobs, "create patch"});
      return rows;
    }
    rows.push_back({api::resources::kServiceAccounts, "create"});
    rows.push_back({kRoles, "create patch"});
    rows.push_back({kRoleBindings, "create"});
    return rows;
  }
  std::vector<Wake> wakes_on() const override {
    const auto owner = [&framework = framework_, version = api_version_](const View&, const Json& object) {
      return owner_key(framework, version, object);
    };
    std::vector<Wake> wakes = {
        {.resource = framework_.resource,
         .keys = [](const View&, const Json& job) { return Keys{api::key_of(job)}; },
         .matters = [](const Json* before,
                       const Json* after) { return !before || !after || is_news_to_itself(*before, *after); },
         .may_be_absent = true},
        wake_on_pods(),
        {api::resources::kServices, owner}};
    if (options_.gang) {
      // A group that is in the way belongs to somebody else: whoever waits for its name is told when it goes.
      wakes.push_back({.resource = group_resource(options_),
                       .keys =
                           [&framework = framework_](const View& view, const Json& group) {
                             std::string key = api::key_of(group);
                             return view.find(framework.resource, key) ? Keys{std::move(key)} : Keys{};
                           },
                       .may_be_absent = true});
    }
    wakes.push_back({.resource = api::resources::kPriorityClasses,
                     .keys = [&framework = framework_](const View& view,
                                                       const Json& one) { return jobs_of_class(framework, view, one); },
                     .may_be_absent = true});
    if (options_.autoscalers && framework_.resource.plural != "mpijobs")
      wakes.push_back({.resource = kAutoscalers, .keys = owner, .may_be_absent = true});
    add_wakes_of_mpi(wakes, owner);
    return wakes;
  }

  Wake wake_on_pods() const {
    const auto job_of = [&framework = framework_, version = api_version_](const View& view,
                                                                          const Json& pod) -> const Json* {
      const Keys keys = owner_key(framework, version, pod);
      return keys.empty() ? nullptr : view.find(framework.resource, keys.front());
    };
    return {.resource = api::resources::kPods,
            .keys =
                [&framework = framework_, version = api_version_, job_of](const View& view, const Json& pod) {
                  const Json* job = job_of(view, pod);
                  return job && is_settled(*job, pod) ? Keys{} : owner_key(framework, version, pod);
                },
            .matters =
                [&framework = framework_](const Json* before, const Json* after) {
                  return !before || !after || is_news_to_its_job(framework, *before, *after);
                },
            .only_counts =
                [&framework = framework_, job_of](const View& view, const Json& before, const Json& after) {
                  const Json* job = job_of(view, after);
                  return job && changes_only_counts(framework, *job, before, after);
                }};
  }

  void add_wakes_of_mpi(std::vector<Wake>& wakes, const std::function<Keys(const View&, const Json&)>& owner) const {
    if (!framework_.objects) return;
    wakes.push_back({api::resources::kConfigMaps, owner});
    if (framework_.launcher_is_a_job) {
      wakes.push_back({api::resources::kSecrets, owner});
      if (options_.launcher_jobs) wakes.push_back({kBatchJobs, owner});
      return;
    }
    wakes.push_back({api::resources::kServiceAccounts, owner});
    wakes.push_back({.resource = kRoles, .keys = owner, .may_be_absent = true});
    wakes.push_back({.resource = kRoleBindings, .keys = owner, .may_be_absent = true});
  }

  std::vector<IndexBy> indexes() const override {
    const auto owner = [&framework = framework_](const Json& object) {
      if (!may_be_owned(framework, object)) return Keys{};
      return Keys{owned_key(api::namespace_of(object), api::controller_of(object)["uid"].as_string())};
    };
    const auto classes = [&framework = framework_](const Json& job) {
      Keys names;
      for (NamedClass& one : priority_classes_of(framework, job)) names.push_back(std::move(one.name));
      return names;
    };
    return {{api::resources::kPods, index_, owner},
            {api::resources::kServices, index_, owner},
            {framework_.resource, kByClass, classes}};
  }

  Plan step(const View& view, const std::string& key, const Turn& turn) override {
    pending_.erase(key);
    const Json* job = view.find(framework_.resource, key);
    if (!job) {
      memories_.erase(key);
      return {};
    }
    Memory memory;
    if (const auto known = memories_.find(key); known != memories_.end() && known->second.uid == api::uid_of(*job))
      memory = std::move(known->second);
    const Observed seen = observe(view, reading_of(framework_, *job, memory));
    const FindTaken find_taken = [&view, &seen](const api::ResourceId& resource, std::string_view name) {
      return view.find(resource, seen.reading->job.key(name));
    };
    Decision decision = training::step(seen, find_taken, std::move(memory), turn, options_);
    memories_[key] = std::move(decision.memory);
    pending_[key] = std::move(decision.counted);
    return std::move(decision.plan);
  }

  void finished(const std::string& key, Ending ending) override {
    const auto found = pending_.find(key);
    if (found == pending_.end()) return;
    const auto counted = std::move(found->second);
    pending_.erase(found);
    if (!options_.metrics) return;
    for (const Failure& failure : ending.failures)
      if (failure.kind == "Pod" || failure.kind == "Service")
        add(failure.kind == "Pod" ? "failed_pods_total" : "failed_service_creation_total", key, 1);
    if (!ending.succeeded) return;
    for (const auto& [metric, amount] : counted) add(metric, key, amount);
  }

 private:
  Observed observe(const View& view, std::shared_ptr<const Reading> reading) const {
    Observed seen{.reading = std::move(reading)};
    const TrainingJob& job = seen.reading->job;
    const std::string owned = owned_key(job.ns, job.uid);
    seen.pods = view.by_index(api::resources::kPods, index_, owned);
    seen.services = view.by_index(api::resources::kServices, index_, owned);
    find_launcher_job(view, seen);
    const std::string key = job.key(job.name);
    if (options_.gang) seen.group = view.find(group_resource(options_), key);
    if (options_.autoscalers) seen.autoscaler = view.find(kAutoscalers, key);
    for (const NamedClass& one : seen.reading->classes) {
      const Json* found = view.find(api::resources::kPriorityClasses, one.name);
      seen.classes[one.name] = found ? std::optional((*found)["value"].as_int()) : std::nullopt;
    }
    seen.sees_classes = !seen.classes.empty() && !view.all(api::resources::kPriorityClasses).empty();
    return seen;
  }

  void find_launcher_job(const View& view, Observed& seen) const {
    if (!framework_.launcher_is_a_job || !options_.launcher_jobs) return;
    const TrainingJob& job = seen.reading->job;
    const Json* found = view.find(kBatchJobs, job.key(job.name + "-launcher"));
    if (!found || !job.owns(*found)) return;
    seen.launcher_job = found;
    seen.launcher_pods =
        view.by_index(api::resources::kPods, index_, owned_key(api::namespace_of(*found), api::uid_of(*found)));
  }

  void add(std::string_view metric, const std::string& key, int amount) const {
    std::vector<std::string> labels;
    if (counts_jobs(metric)) labels = {key.substr(0, key.find('/')), std::string(framework_.label)};
    options_.metrics->counter(metric, labels).add(amount);
  }

  const Framework& framework_;  // lives as long as the program
  Options options_;
  std::string api_version_;
  std::string index_;  // by namespace and uid of a controller of this kind
  std::map<std::string, Memory> memories_;
  std::map<std::string, std::vector<std::pair<std::string_view, int>>> pending_;  // of plans under way
};

}  // namespace

std::vector<std::string> controller_names() {
  std::vector<std::string> names;
  for (const Framework& one : frameworks())
    if (!one.launcher_is_a_job) names.emplace_back(one.controller);
  return names;
}

std::unique_ptr<Controller> make_training_controller(std::string_view name, Options options) {
  for (const Framework& one : frameworks())
    if (one.controller == name && (one.kind != "MPIJob" || one.resource.version == options.mpi_version))
      return std::make_unique<TrainingController>(one, std::move(options));
  return nullptr;
}

}  // namespace controllers::training
