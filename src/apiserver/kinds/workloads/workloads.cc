// Defaults and rules of workloads.
#include "apiserver/kinds/workloads/workloads.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

#include "api/cron.h"
#include "api/json/problems.h"
#include "api/pods/pod_spec.h"
#include "api/pods/volume_sources.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "api/schema/selector_rules.h"
#include "api/schema/unwritten.h"
#include "api/selector.h"
#include "apiserver/kinds/ratcheting.h"
#include "apiserver/kinds/workloads/job_rules.h"
#include "apiserver/kinds/workloads/made_names.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

using Causes = std::vector<Cause>;

void invalid_value(Causes& causes, std::string field, const Json& value, std::string_view why) {
  causes.push_back(
      {"FieldValueInvalid", base::format("Invalid value: {}: {}", api::shown(value), why), std::move(field)});
}
void required(Causes& causes, std::string field, std::string_view why = {}) {
  causes.push_back(
      {"FieldValueRequired", base::format("Required value{}{}", why.empty() ? "" : ": ", why), std::move(field)});
}
void unsupported(Causes& causes, std::string field, const Json& value, std::string_view supported) {
  causes.push_back({"FieldValueNotSupported",
                    base::format("Unsupported value: {}: supported values: {}", api::shown(value), supported),
                    std::move(field)});
}
void forbidden(Causes& causes, std::string field, std::string_view why) {
  causes.push_back({"FieldValueForbidden", base::format("Forbidden: {}", why), std::move(field)});
}
void at_least_zero(Causes& causes, const Json& in, const std::string& path,
                   std::initializer_list<std::string_view> fields) {
  for (const std::string_view field : fields)
    if (in[field].as_int() < 0)
      invalid_value(causes, base::format("{}.{}", path, field), in[field], "must be greater than or equal to 0");
}

bool takes_members(const Json& value) { return value.is_object() || value.is_null(); }
void set_if_absent(Json& object, std::string_view key, Json value) {
  if (takes_members(object) && object[key].is_null()) object.set(key, std::move(value));
}

void default_template(Json& spec) {
  if (takes_members(spec))
    for (const char* field : {"minReadySeconds", "paused"})  // zero is the same as none, and JSON leaves it out
      if (const Json& value = spec[field];
          (value.is_int() && value.as_int() == 0) || (value.is_bool() && !value.as_bool()))
        spec.erase(field);
  if (const Json& generation = spec["template"]["metadata"]["generation"];
      generation.is_int() && generation.as_int() == 0)
    spec.edit("template").edit("metadata").erase("generation");
  if (spec["template"].is_object() && takes_members(spec["template"]["spec"]))
    default_pod_spec(spec.edit("template").edit("spec"));
}

void default_job_spec(Json& spec) {
  if (spec["completions"].is_null() && spec["parallelism"].is_null()) spec.set("completions", 1);
  set_if_absent(spec, "parallelism", 1);
  set_if_absent(spec, "backoffLimit", spec["backoffLimitPerIndex"].is_null() ? 6 : INT32_MAX);
  set_if_absent(spec, "completionMode", "NonIndexed");
  set_if_absent(spec, "suspend", false);
  set_if_absent(spec, "manualSelector", false);
  set_if_absent(spec, "podReplacementPolicy", spec["podFailurePolicy"].is_null() ? "TerminatingOrFailed" : "Failed");
  if (!spec["podFailurePolicy"]["rules"].is_array()) return;
  for (std::size_t i = 0; i < spec["podFailurePolicy"]["rules"].size(); ++i)
    for (std::size_t k = 0; k < spec["podFailurePolicy"]["rules"][i]["onPodConditions"].items().size(); ++k)
      set_if_absent(spec.edit_path({"podFailurePolicy", "rules"}).edit(i).edit("onPodConditions").edit(k), "status",
                    "True");
}

void default_stateful_set(Json& spec) {
  set_if_absent(spec, "podManagementPolicy", "OrderedReady");
  set_if_absent(spec, "updateStrategy", Json::object());
  set_if_absent(spec.edit("updateStrategy"), "type", "RollingUpdate");
  if (spec["updateStrategy"]["type"].as_string() == "RollingUpdate") {
    set_if_absent(spec.edit("updateStrategy"), "rollingUpdate", Json::object());
    if (spec["updateStrategy"].is_object())
      set_if_absent(spec.edit_path({"updateStrategy", "rollingUpdate"}), "partition", 0);
  }
  set_if_absent(spec, "persistentVolumeClaimRetentionPolicy", Json::object());
  for (const char* when : {"whenDeleted", "whenScaled"})
    set_if_absent(spec.edit("persistentVolumeClaimRetentionPolicy"), when, "Retain");
  for (std::size_t i = 0; i < spec["volumeClaimTemplates"].items().size(); ++i) {
    Json& claim = spec.edit("volumeClaimTemplates").edit(i);
    if (!claim.is_object()) continue;
    set_if_absent(claim, "apiVersion", "v1");
    set_if_absent(claim, "kind", "PersistentVolumeClaim");
    if (takes_members(claim["spec"])) set_if_absent(claim.edit("spec"), "volumeMode", "Filesystem");
    if (takes_members(claim["status"])) set_if_absent(claim.edit("status"), "phase", "Pending");
  }
}

void default_strategy(Json& spec, std::string_view field, Json rolling) {
  set_if_absent(spec, field, Json::object());
  Json& strategy = spec.edit(field);
  set_if_absent(strategy, "type", "RollingUpdate");
  if (!strategy.is_object() || strategy["type"].as_string() != "RollingUpdate") return;
  set_if_absent(strategy, "rollingUpdate", Json::object());
  for (const Json::Member& member : rolling.members())
    set_if_absent(strategy.edit("rollingUpdate"), member.name(), member.value);
}

void default_replication_controller(Json& object) {
  Json& spec = object.edit("spec");
  const Json labels = spec["template"]["metadata"]["labels"];
  if (!labels.is_object()) return;
  if (spec["selector"].empty() && takes_members(spec["selector"])) spec.set("selector", labels);
  if (takes_members(object["metadata"]) && takes_members(object["metadata"]["labels"]) &&
      object["metadata"]["labels"].empty())
    object.edit("metadata").set("labels", labels);
}

// The labels that a Job gives its pods, under today's and yesterday's names.
void label_job(Json& object) {
  Json& spec = object.edit("spec");
  if (spec["manualSelector"].as_bool() || !spec["template"].is_object()) return;
  Json& metadata = spec.edit_path({"template", "metadata"});
  if (!takes_members(metadata) || !takes_members(metadata["labels"])) return;
  const std::string uid(api::uid_of(object));
  Json& labels = metadata.edit("labels");
  for (const char* prefix : {"", "batch.kubernetes.io/"}) {
    labels.set(std::string(prefix) + "controller-uid", uid);
    labels.set(std::string(prefix) + "job-name", api::name_of(object));
  }
  if (takes_members(spec["selector"]) && takes_members(spec["selector"]["matchLabels"]))
    spec.edit_path({"selector", "matchLabels"}).set("batch.kubernetes.io/controller-uid", uid);
}

void check_template(const Json& pod_template, std::string_view path, bool host_sysctls, Causes& causes) {
  if (pod_template.is_null()) return;  // the schema names it
  const std::string at(path);
  api::FieldErrors metadata;
  api::check_labels(pod_template["metadata"]["labels"], at + ".labels", metadata);
  api::check_annotations(pod_template["metadata"]["annotations"], at + ".annotations", metadata);
  std::ranges::move(metadata.take(), std::back_inserter(causes));
  std::ranges::move(api::check_pod_spec(pod_template["spec"], at + ".spec",
                                        {.of = api::PodSpecOf::kTemplate, .host_sysctls = host_sysctls}),
                    std::back_inserter(causes));
}

// The template of a StatefulSet, with volumes in the places of its claims, as its pods have them.
Json with_claims(const Json& spec) {
  Json pod_template = spec["template"];
  const Json& given = pod_template["spec"]["volumes"];
  if (!pod_template["spec"].is_object() || (!given.is_null() && !given.is_array())) return pod_template;
  std::set<std::string, std::less<>> names;
  for (const Json& volume : given.items()) names.emplace(volume["name"].as_string());
  for (const Json& claim : spec["volumeClaimTemplates"].items()) {
    const Json& name = claim["metadata"]["name"];
    if (!names.emplace(name.as_string()).second) continue;
    const Json source = Json::object({{"claimName", name}});
    pod_template.edit_path({"spec", "volumes"})
        .push_back(Json::object({{"name", name}, {"persistentVolumeClaim", source}}));
  }
  return pod_template;
}

void check_selector(const api::KindInfo& kind, const Json& spec, Causes& causes) {
  std::string lower = kind.kind;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  const Json& selector = spec["selector"];
  const Json& labels = spec["template"]["metadata"]["labels"];
  if (selector.is_null()) {  // the schema names it, but for a kind that takes it from the template
    if (kind.kind == "ReplicationController") required(causes, "spec.selector");
    return;
  }
  if (kind.kind != "ReplicationController") {
    api::FieldErrors errors;
    api::check_label_selector(selector, "spec.selector", errors);
    if (!errors.empty()) return void(std::ranges::move(errors.take(), std::back_inserter(causes)));
  }
  Json form = selector;
  if (kind.kind == "ReplicationController") form = Json::object({{"matchLabels", selector}});
  const auto parsed = api::label_selector_from(form);
  if (!parsed.ok()) return invalid_value(causes, "spec.selector", selector, parsed.error().message);
  if (parsed->requirements.empty())
    return kind.kind == "ReplicationController"
               ? required(causes, "spec.selector")
               : invalid_value(causes, "spec.selector", selector,
                               base::format("empty selector is invalid for {}", lower));
  if (!parsed->matches(labels))
    invalid_value(causes, "spec.template.metadata.labels", labels.is_null() ? Json::object() : labels,
                  "`selector` does not match template `labels`");
}

// An IntOrString: a count, or a percentage. Says whether it is zero.
bool check_share(const Json& value, const std::string& path, bool at_most_all, Causes& causes) {
  if (value.is_int()) {
    if (value.as_int() < 0) invalid_value(causes, path, value, "must be greater than or equal to 0");
    return value.as_int() == 0;
  }
  std::string_view text = value.as_string();
  bool good = text.size() > 1 && text.size() < 8 && text.ends_with('%');
  std::int64_t percent = 0;
  for (const char c : text.substr(0, text.empty() ? 0 : text.size() - 1)) {
    good = good && c >= '0' && c <= '9';
    percent = percent * 10 + (c - '0');
  }
  if (!good) {
    invalid_value(causes, path, value,
                  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
                  "regex used for validation is '[0-9]+%')");
    return false;
  }
  if (at_most_all && percent > 100) invalid_value(causes, path, value, "must not be greater than 100%");
  return percent == 0;
}

void check_deployment(const Json& spec, Causes& causes) {
  const Json& strategy = spec["strategy"];
  const std::string_view type = strategy["type"].as_string();
  if (type == "Recreate") {
    if (!strategy["rollingUpdate"].is_null())
      forbidden(causes, "spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'");
  } else if (type == "RollingUpdate") {
    const std::string path = "spec.strategy.rollingUpdate.";
    const Json& rolling = strategy["rollingUpdate"];
    const bool none_away = check_share(rolling["maxUnavailable"], path + "maxUnavailable", true, causes);
    const bool none_more = check_share(rolling["maxSurge"], path + "maxSurge", false, causes);
    if (none_away && none_more)
      invalid_value(causes, path + "maxUnavailable", rolling["maxUnavailable"], "may not be 0 when `maxSurge` is 0");
  } else {
    unsupported(causes, "spec.strategy.type", strategy["type"], R"("Recreate", "RollingUpdate")");
  }
  at_least_zero(causes, spec, "spec",
                {"replicas", "minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"});
  const Json& deadline = spec["progressDeadlineSeconds"];
  if (!deadline.is_null() && deadline.as_int() <= spec["minReadySeconds"].as_int())
    invalid_value(causes, "spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds");
}

void check_daemon_set(const Json& spec, Causes& causes) {
  const Json& strategy = spec["updateStrategy"];
  const std::string_view type = strategy["type"].as_string();
  if (type == "OnDelete") return;
  if (type != "RollingUpdate")
    return unsupported(causes, "spec.updateStrategy.type", strategy["type"], R"("OnDelete", "RollingUpdate")");
  const std::string path = "spec.updateStrategy.rollingUpdate.";
  const Json& rolling = strategy["rollingUpdate"];
  const bool none_away = check_share(rolling["maxUnavailable"], path + "maxUnavailable", true, causes);
  const bool none_more = check_share(rolling["maxSurge"], path + "maxSurge", true, causes);
  if (none_away && none_more)
    required(causes, path + "maxUnavailable", "cannot be 0 when `maxSurge` is 0");
  else if (!none_away && !none_more)
    invalid_value(causes, path + "maxSurge", rolling["maxSurge"], "may not be set when `maxUnavailable` is non-zero");
}

void check_job_spec(const Json& spec, const std::string& path, bool host_sysctls, Causes& causes) {
  at_least_zero(causes, spec, path,
                {"parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished",
                 "backoffLimitPerIndex", "maxFailedIndexes"});
  const std::string_view mode = spec["completionMode"].as_string("NonIndexed");
  if (mode != "NonIndexed" && mode != "Indexed")
    unsupported(causes, path + ".completionMode", spec["completionMode"], R"("Indexed", "NonIndexed")");
  if (mode == "Indexed" && spec["completions"].is_null())
    required(causes, path + ".completions", "when completion mode is Indexed");
  if (mode == "Indexed" && spec["parallelism"].as_int() > 100'000)
    invalid_value(causes, path + ".parallelism", spec["parallelism"],
                  "must be less than or equal to 100000 when completion mode is Indexed");
  const Json& policy = spec["template"]["spec"]["restartPolicy"];
  if (policy.as_string() == "Always")
    required(causes, path + ".template.spec.restartPolicy", R"(valid values: "OnFailure", "Never")");
  if (spec["podFailurePolicy"].is_object()) {
    api::FieldErrors errors;
    check_failure_policy(spec, path, errors);
    std::ranges::move(errors.take(), std::back_inserter(causes));
  }
  check_template(spec["template"], path + ".template", host_sysctls, causes);
  if (const std::string_view policy = spec["podReplacementPolicy"].as_string();
      !policy.empty() && policy != "Failed" && policy != "TerminatingOrFailed")
    unsupported(causes, path + ".podReplacementPolicy", spec["podReplacementPolicy"],
                R"("Failed", "TerminatingOrFailed")");
  if (const Json& manager = spec["managedBy"];
      manager.is_string() && manager.as_string().find('/') == std::string::npos)
    invalid_value(causes, path + ".managedBy", manager, R"(must be a domain-prefixed path (such as "acme.io/foo"))");
  // COMPAT(batch-job-fields): taken by a stock server; here what nobody would act on is refused in words.
  for (const char* field : {"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"})
    if (!spec[field].is_null())
      forbidden(causes, base::format("{}.{}", path, field), "is not supported by this server");
}

void check_cron_job(const Json& object, bool host_sysctls, Causes& causes) {
  const Json& spec = object["spec"];
  const Json& schedule = spec["schedule"];
  if (schedule.as_string().empty())
    required(causes, "spec.schedule");
  else if (const auto parsed = api::CronSchedule::parse(schedule.as_string(), base::TimeZone()); !parsed.ok())
    invalid_value(causes, "spec.schedule", schedule, parsed.error().message);
  else if (api::names_time_zone(schedule.as_string()))
    invalid_value(causes, "spec.schedule", schedule,
                  "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
  if (const Json& zone = spec["timeZone"]; zone.is_string() && !base::TimeZone::load(zone.str()).ok())
    invalid_value(causes, "spec.timeZone", zone, "unknown time zone " + zone.str());
  const std::string_view policy = spec["concurrencyPolicy"].as_string();
  if (policy != "Allow" && policy != "Forbid" && policy != "Replace")
    unsupported(causes, "spec.concurrencyPolicy", spec["concurrencyPolicy"], R"("Allow", "Forbid", "Replace")");
  at_least_zero(causes, spec, "spec",
                {"startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit"});
  if (api::name_of(object).size() > 52)
    invalid_value(causes, "metadata.name", object["metadata"]["name"], "must be no more than 52 characters");
  check_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", host_sysctls, causes);
}

void check_stateful_set(const Json& spec, Causes& causes) {
  api::FieldErrors errors;
  if (const std::string name = spec["serviceName"].str(); !name.empty())
    errors.invalid("spec.serviceName", name, api::check_dns_label(name));
  for (std::size_t i = 0; i < spec["volumeClaimTemplates"].size(); ++i)
    api::check_claim_spec(spec["volumeClaimTemplates"][i]["spec"],
                          api::in(api::at("spec.volumeClaimTemplates", i), "spec"), errors);
  std::ranges::move(errors.take(), std::back_inserter(causes));
  const std::string_view order = spec["podManagementPolicy"].as_string();
  if (order != "OrderedReady" && order != "Parallel")
    unsupported(causes, "spec.podManagementPolicy", spec["podManagementPolicy"], R"("OrderedReady", "Parallel")");
  const std::string_view type = spec["updateStrategy"]["type"].as_string();
  if (type != "RollingUpdate" && type != "OnDelete")
    unsupported(causes, "spec.updateStrategy.type", spec["updateStrategy"]["type"], R"("OnDelete", "RollingUpdate")");
  at_least_zero(causes, spec["updateStrategy"]["rollingUpdate"], "spec.updateStrategy.rollingUpdate", {"partition"});
  at_least_zero(causes, spec["ordinals"], "spec.ordinals", {"start"});
  for (const char* when : {"whenDeleted", "whenScaled"}) {
    const Json& value = spec["persistentVolumeClaimRetentionPolicy"][when];
    if (value.as_string() != "Retain" && value.as_string() != "Delete")
      unsupported(causes, base::format("spec.persistentVolumeClaimRetentionPolicy.{}", when), value,
                  R"("Delete", "Retain")");
  }
}

// While a Job is suspended and has no pods, where they may go and what they ask for can still be said.
bool is_at_rest(const Json& job) {
  const Json& status = job["status"];
  if (!job["spec"]["suspend"].as_bool() || status["active"].as_int() != 0) return false;
  return status["startTime"].is_null() || std::ranges::any_of(status["conditions"].items(), [](const Json& one) {
           return one["type"].as_string() == "Suspended" && one["status"].as_string() == "True";
         });
}

Json fixed_template(const Json& spec, bool at_rest) {
  Json fixed = spec["template"];
  if (!at_rest || !fixed.is_object()) return fixed;
  for (const char* list : {"containers", "initContainers"})
    for (std::size_t i = 0; i < fixed["spec"][list].size(); ++i)
      fixed.edit("spec").edit(list).edit(i).erase("resources");
  for (const char* key : {"nodeSelector", "affinity", "tolerations", "schedulingGates"})
    if (fixed["spec"].is_object()) fixed.edit("spec").erase(key);
  for (const char* key : {"labels", "annotations"})
    if (fixed["metadata"].is_object()) fixed.edit("metadata").erase(key);
  return fixed;
}

void check_job_update(const Json& old_object, const Json& object, Causes& causes) {
  const Json& before = old_object["spec"];
  const Json& after = object["spec"];
  constexpr std::string_view kFixed = "field is immutable";
  const api::Schema& schema = api::core_schema("batch.v1.JobSpec");
  for (const char* key : {"selector", "completionMode", "podFailurePolicy", "managedBy"})
    if (!api::same_member_as_written(schema, key, before, after))
      invalid_value(causes, base::format("spec.{}", key), after[key], kFixed);
  if (!(before["completions"] == after["completions"]) &&
      (after["completionMode"].as_string() != "Indexed" || !(after["completions"] == after["parallelism"])))
    invalid_value(causes, "spec.completions", after["completions"], kFixed);
  const bool at_rest = is_at_rest(old_object);
  if (!api::same_as_written(api::core_schema("core.v1.PodTemplateSpec"), fixed_template(before, at_rest),
                            fixed_template(after, at_rest)))
    invalid_value(causes, "spec.template", after["template"], kFixed);
}

}  // namespace

bool is_workload(const api::KindInfo& kind) {
  if (kind.custom) return false;
  return kind.resource.group == "apps" || kind.resource.group == "batch" || kind.kind == "ReplicationController";
}

void default_workload(const api::KindInfo& kind, Json& object) {
  if (kind.kind == "ControllerRevision" || !takes_members(object["spec"])) return;
  Json& spec = object.edit("spec");
  if (kind.kind == "Job") {
    default_job_spec(spec);
  } else if (kind.kind == "CronJob") {
    set_if_absent(spec, "concurrencyPolicy", "Allow");
    set_if_absent(spec, "suspend", false);
    set_if_absent(spec, "successfulJobsHistoryLimit", 3);
    set_if_absent(spec, "failedJobsHistoryLimit", 1);
    if (spec["jobTemplate"]["spec"].is_object()) default_template(spec.edit_path({"jobTemplate", "spec"}));
    return;
  } else if (kind.kind == "DaemonSet") {
    default_strategy(spec, "updateStrategy", Json::object({{"maxUnavailable", 1}, {"maxSurge", 0}}));
    set_if_absent(spec, "revisionHistoryLimit", 10);
  } else {
    set_if_absent(spec, "replicas", 1);
  }
  if (kind.kind == "Deployment") {
    default_strategy(spec, "strategy", Json::object({{"maxUnavailable", "25%"}, {"maxSurge", "25%"}}));
    set_if_absent(spec, "revisionHistoryLimit", 10);
    set_if_absent(spec, "progressDeadlineSeconds", 600);
  } else if (kind.kind == "StatefulSet") {
    default_stateful_set(spec);
    set_if_absent(spec, "revisionHistoryLimit", 10);
  } else if (kind.kind == "ReplicationController") {
    default_replication_controller(object);
  }
  default_template(object.edit("spec"));
}

void prepare_workload(const api::KindInfo& kind, Json& object) {
  if (kind.kind == "ControllerRevision") return;
  Json status = Json::object();
  if (kind.kind == "ReplicaSet" || kind.kind == "ReplicationController" || kind.kind == "StatefulSet")
    status.set("replicas", 0);
  if (kind.kind == "StatefulSet") status.set("availableReplicas", 0);
  if (kind.kind == "DaemonSet")
    for (const char* key : {"currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"})
      status.set(key, 0);
  object.set("status", std::move(status));
  if (kind.kind == "Job") label_job(object);
}

namespace {

// The rules of a new object and of a changed one. `before`: what is stored; null: nothing yet.
void check_either(const api::KindInfo& kind, const Json& before, const Json& object, Causes& causes) {
  const Json& spec = object["spec"];
  const Json& old_job = kind.kind == "CronJob" ? before["spec"]["jobTemplate"] : before;
  const bool host_sysctls = api::has_host_sysctls(old_job["spec"]["template"]["spec"]);
  if (kind.kind == "ControllerRevision") return at_least_zero(causes, object, "", {"revision"});
  if (kind.kind == "CronJob") return check_cron_job(object, host_sysctls, causes);
  check_selector(kind, spec, causes);
  check_made_names(kind, object, causes);
  if (kind.kind == "Job") {
    api::FieldErrors errors;
    if (before.is_null() && spec["completionMode"].as_string() == "Indexed") check_last_hostname(object, errors);
    std::ranges::move(errors.take(), std::back_inserter(causes));
    return check_job_spec(spec, "spec", host_sysctls, causes);
  }
  const bool is_set = kind.kind == "StatefulSet";
  check_template(is_set ? with_claims(spec) : spec["template"], "spec.template", host_sysctls, causes);
  if (const Json& policy = spec["template"]["spec"]["restartPolicy"];
      policy.as_string() == "Never" || policy.as_string() == "OnFailure")
    unsupported(causes, "spec.template.spec.restartPolicy", policy, R"("Always")");
  if (!spec["template"]["spec"]["activeDeadlineSeconds"].is_null())
    forbidden(causes, "spec.template.spec.activeDeadlineSeconds",
              base::format("activeDeadlineSeconds in {} is not Supported", kind.kind));
  if (kind.kind == "Deployment") return check_deployment(spec, causes);
  if (is_set) check_stateful_set(spec, causes);
  if (kind.kind == "DaemonSet") check_daemon_set(spec, causes);
  at_least_zero(causes, spec, "spec", {"replicas", "minReadySeconds", "revisionHistoryLimit"});
}

}  // namespace

void check_workload(const api::KindInfo& kind, const Json& object, Causes& causes) {
  check_either(kind, Json(), object, causes);
}

void check_workload_update(const api::KindInfo& kind, const Json& old_object, const Json& object, Causes& causes) {
  check_ratcheting([&](const Json& one, Causes& all) { check_either(kind, old_object, one, all); }, old_object, object,
                   causes);
  if (!object["spec"].is_object() && kind.kind != "ControllerRevision") return;  // validation names it
  const Json& before = old_object["spec"];
  const Json& after = object["spec"];
  if (kind.kind == "ControllerRevision") {
    if (!(old_object["data"] == object["data"])) invalid_value(causes, "data", object["data"], "field is immutable");
  } else if (kind.kind == "Job") {
    check_job_update(old_object, object, causes);
  } else if (kind.kind == "StatefulSet") {
    Json fixed[2] = {before, after};
    for (Json& spec : fixed)
      for (const char* key : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                              "persistentVolumeClaimRetentionPolicy", "minReadySeconds"})
        spec.erase(key);
    if (!api::same_as_written(api::core_schema("apps.v1.StatefulSetSpec"), fixed[0], fixed[1]))
      forbidden(causes, "spec",
                "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                "'minReadySeconds' are forbidden");
  } else if (kind.kind != "CronJob" && kind.kind != "ReplicationController" &&
             !api::same_as_written(api::core_schema("meta.v1.LabelSelector"), before["selector"], after["selector"])) {
    invalid_value(causes, "spec.selector", after["selector"], "field is immutable");
  }
}

}  // namespace apiserver
