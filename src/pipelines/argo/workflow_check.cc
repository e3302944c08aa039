// Names of fields first, by one table; then what they say to each other.
#include "pipelines/argo/workflow_check.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>

#include "base/format.h"
#include "pipelines/argo/expressions.h"
#include "pipelines/argo/name_check.h"
#include "pipelines/argo/number_form.h"
#include "pipelines/argo/pod_gc.h"
#include "pipelines/argo/text_template.h"
#include "pipelines/argo/unsupported_fields.h"
#include "pipelines/argo/workflow_engine.h"

namespace pipelines::argo {

using api::FieldErrors;
using api::Json;

namespace {

constexpr std::size_t kTemplatesMax = 1000, kTasksMax = 1000;

enum class Shape : std::uint8_t {
  kAny,  // a part of a pod, or a plain value: the API server judges it when the pod is made
  kTemplates,
  kTemplate,
  kInputs,
  kOutputs,
  kParameters,
  kParameter,
  kOutputParameters,
  kOutputParameter,
  kValueFrom,
  kArtifacts,
  kArtifact,
  kArchive,
  kRaw,
  kKey,
  kArguments,
  kResource,
  kDag,
  kTasks,
  kTask,
  kStepGroups,
  kSteps,
  kStep,
  kContinueOn,
  kSequence,
  kRetry,
  kBackoff,
  kSuspend,
  kTtl,
  kGc,
  kPodGc,
  kMetadata,
  kScript,
  kSpec,
};

struct FieldOf {
  Shape of;
  std::string_view name;
  Shape shape = Shape::kAny;
};

constexpr FieldOf kFields[] = {
    {Shape::kSpec, "entrypoint"},
    {Shape::kSpec, "templates", Shape::kTemplates},
    {Shape::kSpec, "arguments", Shape::kArguments},
    {Shape::kSpec, "serviceAccountName"},
    {Shape::kSpec, "volumes"},
    {Shape::kSpec, "volumeClaimTemplates"},
    {Shape::kSpec, "volumeClaimGC", Shape::kGc},
    {Shape::kSpec, "podGC", Shape::kPodGc},
    {Shape::kSpec, "parallelism"},
    {Shape::kSpec, "nodeSelector"},
    {Shape::kSpec, "tolerations"},
    {Shape::kSpec, "affinity"},
    {Shape::kSpec, "imagePullSecrets"},
    {Shape::kSpec, "hostNetwork"},
    {Shape::kSpec, "dnsPolicy"},
    {Shape::kSpec, "dnsConfig"},
    {Shape::kSpec, "onExit"},
    {Shape::kSpec, "ttlStrategy", Shape::kTtl},
    {Shape::kSpec, "ttlSecondsAfterFinished"},
    {Shape::kSpec, "activeDeadlineSeconds"},
    {Shape::kSpec, "schedulerName"},
    {Shape::kSpec, "podPriorityClassName"},
    {Shape::kSpec, "podMetadata", Shape::kMetadata},
    {Shape::kSpec, "securityContext"},
    {Shape::kSpec, "hostAliases"},
    {Shape::kSpec, "suspend"},
    {Shape::kSpec, "shutdown"},
    {Shape::kSpec, "retryStrategy", Shape::kRetry},
    {Shape::kSpec, "automountServiceAccountToken"},
    {Shape::kMetadata, "labels"},
    {Shape::kMetadata, "annotations"},
    {Shape::kGc, "strategy"},
    {Shape::kPodGc, "strategy"},
    {Shape::kPodGc, "deleteDelayDuration"},
    {Shape::kTtl, "secondsAfterCompletion"},
    {Shape::kTtl, "secondsAfterSuccess"},
    {Shape::kTtl, "secondsAfterFailure"},
    {Shape::kTemplate, "name"},
    {Shape::kTemplate, "inputs", Shape::kInputs},
    {Shape::kTemplate, "outputs", Shape::kOutputs},
    {Shape::kTemplate, "container"},
    {Shape::kTemplate, "script"},
    {Shape::kTemplate, "resource", Shape::kResource},
    {Shape::kTemplate, "dag", Shape::kDag},
    {Shape::kTemplate, "steps", Shape::kStepGroups},
    {Shape::kTemplate, "suspend", Shape::kSuspend},
    {Shape::kTemplate, "metadata", Shape::kMetadata},
    {Shape::kTemplate, "annotations"},
    {Shape::kTemplate, "timeout"},
    {Shape::kTemplate, "volumes"},
    {Shape::kTemplate, "nodeSelector"},
    {Shape::kTemplate, "affinity"},
    {Shape::kTemplate, "tolerations"},
    {Shape::kTemplate, "activeDeadlineSeconds"},
    {Shape::kTemplate, "parallelism"},
    {Shape::kTemplate, "retryStrategy", Shape::kRetry},
    {Shape::kTemplate, "serviceAccountName"},
    {Shape::kTemplate, "schedulerName"},
    {Shape::kTemplate, "priorityClassName"},
    {Shape::kTemplate, "securityContext"},
    {Shape::kTemplate, "initContainers"},
    {Shape::kTemplate, "sidecars"},
    {Shape::kTemplate, "hostAliases"},
    {Shape::kTemplate, "automountServiceAccountToken"},
    {Shape::kInputs, "parameters", Shape::kParameters},
    {Shape::kInputs, "artifacts", Shape::kArtifacts},
    {Shape::kArguments, "parameters", Shape::kParameters},
    {Shape::kArguments, "artifacts", Shape::kArtifacts},
    {Shape::kOutputs, "parameters", Shape::kOutputParameters},
    {Shape::kOutputs, "artifacts", Shape::kArtifacts},
    {Shape::kParameter, "name"},
    {Shape::kParameter, "value"},
    {Shape::kParameter, "default"},
    {Shape::kParameter, "description"},
    {Shape::kParameter, "enum"},
    {Shape::kOutputParameter, "name"},
    {Shape::kOutputParameter, "value"},
    {Shape::kOutputParameter, "description"},
    {Shape::kOutputParameter, "valueFrom", Shape::kValueFrom},
    {Shape::kValueFrom, "path"},
    {Shape::kValueFrom, "jsonPath"},
    {Shape::kValueFrom, "parameter"},
    {Shape::kValueFrom, "default"},
    {Shape::kArtifact, "name"},
    {Shape::kArtifact, "path"},
    {Shape::kArtifact, "from"},
    {Shape::kArtifact, "optional"},
    {Shape::kArtifact, "raw", Shape::kRaw},
    {Shape::kArtifact, "s3", Shape::kKey},
    {Shape::kArtifact, "archive", Shape::kArchive},
    {Shape::kArchive, "none"},
    {Shape::kArchive, "tar"},
    {Shape::kRaw, "data"},
    {Shape::kKey, "key"},
    {Shape::kResource, "action"},
    {Shape::kResource, "manifest"},
    {Shape::kResource, "successCondition"},
    {Shape::kResource, "failureCondition"},
    {Shape::kResource, "setOwnerReference"},
    {Shape::kDag, "tasks", Shape::kTasks},
    {Shape::kDag, "failFast"},
    {Shape::kDag, "target"},
    {Shape::kTask, "dependencies"},
    {Shape::kTask, "depends"},
    {Shape::kStep, "name"},
    {Shape::kStep, "template"},
    {Shape::kStep, "arguments", Shape::kArguments},
    {Shape::kStep, "when"},
    {Shape::kStep, "withItems"},
    {Shape::kStep, "withParam"},
    {Shape::kStep, "withSequence", Shape::kSequence},
    {Shape::kStep, "continueOn", Shape::kContinueOn},
    {Shape::kContinueOn, "failed"},
    {Shape::kContinueOn, "error"},
    {Shape::kSequence, "start"},
    {Shape::kSequence, "end"},
    {Shape::kSequence, "count"},
    {Shape::kSequence, "format"},
    {Shape::kRetry, "limit"},
    {Shape::kRetry, "retryPolicy"},
    {Shape::kRetry, "backoff", Shape::kBackoff},
    {Shape::kBackoff, "duration"},
    {Shape::kBackoff, "factor"},
    {Shape::kBackoff, "maxDuration"},
    {Shape::kBackoff, "cap"},
    {Shape::kSuspend, "duration"},
};

// Lists, and the shape of their items.
constexpr std::pair<Shape, Shape> kLists[] = {{Shape::kTemplates, Shape::kTemplate},
                                              {Shape::kParameters, Shape::kParameter},
                                              {Shape::kOutputParameters, Shape::kOutputParameter},
                                              {Shape::kArtifacts, Shape::kArtifact},
                                              {Shape::kTasks, Shape::kTask},
                                              {Shape::kStepGroups, Shape::kSteps},
                                              {Shape::kSteps, Shape::kStep}};

const FieldOf* field_of(Shape shape, std::string_view name) {
  for (const FieldOf& one : kFields)
    if (one.of == shape && one.name == name) return &one;
  // A task has the fields of a step, too.
  return shape == Shape::kTask ? field_of(Shape::kStep, name) : nullptr;
}

void check_fields(const Json& value, Shape shape, const std::string& path, FieldErrors& errors) {
  if (shape == Shape::kAny || value.is_null() || errors.is_full()) return;
  for (const auto& [list, item] : kLists) {
    if (list != shape) continue;
    if (!value.is_array()) return errors.invalid(path, value, "must be a list");
    for (std::size_t i = 0; i < value.size(); ++i) check_fields(value[i], item, api::at(path, i), errors);
    return;
  }
  if (!value.is_object()) return errors.invalid(path, value, "must be an object");
  for (const Json::Member& member : value.members()) {
    const FieldOf* field = field_of(shape, member.name());
    if (field == nullptr)
      errors.forbidden(api::in(path, member.name()), why_unsupported(member.name()));
    else
      check_fields(member.value, field->shape, api::in(path, member.name()), errors);
  }
}

class Check {
 public:
  Check(const Json& spec, FieldErrors& errors) : spec_(spec), errors_(errors) {}

  void run() {
    if (spec_["templates"].size() > kTemplatesMax)
      return errors_.too_many("spec.templates", spec_["templates"].size(), kTemplatesMax);
    for (std::size_t i = 0; i < spec_["templates"].size(); ++i) {
      const Json& one = spec_["templates"][i];
      const std::string path = api::at("spec.templates", i);
      if (one["name"].as_string().empty()) errors_.required(api::in(path, "name"));
      if (!names_.insert(one["name"].str()).second) errors_.duplicate(api::in(path, "name"), one["name"]);
    }
    check_template_name(spec_["entrypoint"], "spec.entrypoint", true);
    check_template_name(spec_["onExit"], "spec.onExit", false);
    if (!spec_["shutdown"].is_null()) {
      static constexpr std::string_view kWords[] = {"Stop", "Terminate"};
      errors_.one_of("spec.shutdown", spec_["shutdown"].as_string(), kWords);
    }
    if (spec_["podGC"].is_object()) check_pod_gc(spec_["podGC"], "spec.podGC", errors_);
    for (std::size_t i = 0; i < spec_["templates"].size(); ++i)
      check_template(spec_["templates"][i], api::at("spec.templates", i));
  }

 private:
  void check_template_name(const Json& name, const std::string& path, bool is_required) {
    if (name.as_string().empty()) {
      if (is_required) errors_.required(path);
    } else if (!names_.contains(name.str())) {
      errors_.not_found(path, name, "no template has this name");
    }
  }

  void check_template(const Json& spec, const std::string& path) {
    int kinds = 0;
    for (const std::string_view kind : {"container", "script", "resource", "dag", "steps", "suspend"})
      kinds += spec.has(kind) ? 1 : 0;
    if (kinds != 1)
      errors_.invalid(path, spec["name"], "must have one of container, script, resource, dag, steps, suspend");
    check_texts(spec, path);
    check_timeout(spec, api::in(path, "timeout"));
    for (const std::string_view list : {"container", "script"})
      if (spec.has(list) && spec[list]["image"].as_string().empty())
        errors_.required(api::in(api::in(path, list), "image"));
    if (spec.has("resource")) {
      static constexpr std::string_view kActions[] = {"get", "create", "apply", "delete", "replace", "patch"};
      errors_.one_of(api::in(path, "resource.action"), spec["resource"]["action"].as_string(), kActions);
      if (spec["resource"]["manifest"].as_string().empty()) errors_.required(api::in(path, "resource.manifest"));
    }
    if (spec["dag"].is_object()) check_dag(spec["dag"]["tasks"], api::in(path, "dag.tasks"));
    if (spec["steps"].is_array()) check_steps(spec["steps"], api::in(path, "steps"));
  }

  void check_timeout(const Json& spec, const std::string& path) {
    if (!spec.has("timeout")) return;
    const std::string text = text_of(spec["timeout"]);
    if (!spec.has("container") && !spec.has("script"))
      errors_.forbidden(path, "a container or a script may have it");
    else if (text.find("{{") == std::string::npos && base::parse_go_duration(text).value_or(base::Duration{}).ns <= 0)
      errors_.invalid(path, spec["timeout"], "is not a length of time, such as 90s or 1h30m");
  }

  // Tags are closed, and expressions are not used.
  void check_texts(const Json& value, const std::string& path) {
    if (errors_.is_full()) return;
    if (value.is_string()) {
      const auto names = names_in(value.as_string());
      if (!names.ok()) errors_.invalid(path, value, names.error().message);  // COMPAT(workflow-results)
    }
    for (std::size_t i = 0; i < value.items().size(); ++i) check_texts(value[i], api::at(path, i));
    for (const Json::Member& member : value.members()) check_texts(member.value, api::in(path, member.name()));
  }

  void check_use(const Json& use, const std::string& path, std::set<std::string>& names) {
    if (use["name"].as_string().empty()) errors_.required(api::in(path, "name"));
    if (!names.insert(use["name"].str()).second) errors_.duplicate(api::in(path, "name"), use["name"]);
    check_template_name(use["template"], api::in(path, "template"), true);
    int loops = 0;
    for (const std::string_view loop : {"withItems", "withParam", "withSequence"}) loops += use.has(loop) ? 1 : 0;
    if (loops > 1) errors_.invalid(path, use["name"], "has more than one of withItems, withParam, withSequence");
    const std::string form = use["withSequence"]["format"].str();
    if (form.find("{{") == std::string::npos && !is_number_form(form))
      errors_.invalid(api::in(path, "withSequence.format"), form, base::format("is not one {}", kNumberForms));
    if (use["withItems"].size() > kItemsMax)
      errors_.too_many(api::in(path, "withItems"), use["withItems"].size(), kItemsMax);
  }

  void check_steps(const Json& groups, const std::string& path) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = 0; j < groups[i].size(); ++j) check_use(groups[i][j], api::at(api::at(path, i), j), names);
    if (names.size() > kTasksMax) errors_.too_many(path, names.size(), kTasksMax);
  }

  void check_dag(const Json& tasks, const std::string& path) {
    if (tasks.size() > kTasksMax) return errors_.too_many(path, tasks.size(), kTasksMax);
    std::set<std::string> names;
    for (std::size_t i = 0; i < tasks.size(); ++i) check_use(tasks[i], api::at(path, i), names);
    std::map<std::string, std::set<std::string>> parents;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const Json& task = tasks[i];
      const std::string own = api::at(path, i);
      std::set<std::string>& before = parents[task["name"].str()];
      if (task.has("depends") && task.has("dependencies"))
        errors_.invalid(api::in(own, "depends"), task["depends"], "cannot be given beside dependencies");
      for (const Json& one : task["dependencies"].items()) before.insert(one.str());
      if (!task["depends"].as_string().empty()) {
        const auto results = results_in(task["depends"].as_string());
        if (!results.ok()) errors_.invalid(api::in(own, "depends"), task["depends"], results.error().message);
        if (results.ok())
          for (const TaskResult& one : *results) before.insert(one.task);
      }
      for (const std::string& one : before)
        if (!names.contains(one))
          errors_.not_found(api::in(own, task.has("depends") ? "depends" : "dependencies"), one,
                            "no task has this name");
    }
    if (const std::string name = task_in_circle(parents); !name.empty())
      errors_.invalid(path, name, "waits for itself, along tasks that wait for each other");
  }

  static std::string task_in_circle(const std::map<std::string, std::set<std::string>>& parents) {
    std::map<std::string, std::size_t> left;
    std::map<std::string, std::vector<std::string>> children;
    std::vector<std::string> ready;
    for (const auto& [name, before] : parents) {
      left[name] = before.size();
      for (const std::string& one : before) children[one].push_back(name);
      if (before.empty()) ready.push_back(name);
    }
    for (std::size_t i = 0; i < ready.size(); ++i)
      for (const std::string& child : children[ready[i]])
        if (--left[child] == 0) ready.push_back(child);
    for (const auto& [name, count] : left)
      if (count > 0 && std::ranges::all_of(parents.at(name), [&](const auto& one) { return parents.contains(one); }))
        return name;
    return {};
  }

  const Json& spec_;
  FieldErrors& errors_;
  std::set<std::string> names_;
};

}  // namespace

void check_workflow(const Json& spec, FieldErrors& errors) {
  check_fields(spec, Shape::kSpec, "spec", errors);
  if (errors.empty()) Check(spec, errors).run();
  if (errors.empty()) check_names(spec, errors);
}

}  // namespace pipelines::argo
