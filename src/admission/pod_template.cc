// Whether the API server would accept pods of a template (webhooks.md 5.3).
#include "admission/pod_template.h"

#include <array>

#include "admission/names.h"
#include "admission/rules.h"
#include "base/format.h"

namespace admission {

namespace {

constexpr std::array<std::string_view, 3> kRestartPolicies = {"Always", "Never", "OnFailure"};
constexpr std::array<std::string_view, 4> kDnsPolicies = {"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"};
constexpr std::array<std::string_view, 2> kPreemptionPolicies = {"Never", "PreemptLowerPriority"};

void check_dns(const Json& spec, const std::string& path, FieldErrors& errors) {
  const std::string policy = spec["dnsPolicy"].str();
  if (!policy.empty()) errors.one_of(in(path, "dnsPolicy"), policy, kDnsPolicies);
  const Json& config = spec["dnsConfig"];
  const std::string where = in(path, "dnsConfig");
  if (policy == "None" && config["nameservers"].empty())
    errors.required(config.is_object() ? in(where, "nameservers") : where,
                    config.is_object() ? "must provide at least one DNS nameserver when `dnsPolicy` is None"
                                       : "must provide `dnsConfig` when `dnsPolicy` is None");
  if (config["nameservers"].size() > 3)
    errors.invalid(in(where, "nameservers"), config["nameservers"], "must not have more than 3 nameservers");
  const auto options = config["options"].items();
  for (std::size_t i = 0; i < options.size(); ++i)
    if (options[i]["name"].as_string().empty()) errors.required(at(in(where, "options"), i), "must not be empty");
}

void check_names(const Json& spec, const std::string& path, FieldErrors& errors) {
  const auto label = [&](std::string_view field) {
    if (const std::string value = spec[field].str(); !value.empty())
      errors.invalid(in(path, field), value, check_dns_label(value));
  };
  const auto subdomain = [&](std::string_view field) {
    if (const std::string value = spec[field].str(); !value.empty())
      errors.invalid(in(path, field), value, check_dns_subdomain(value));
  };
  subdomain("serviceAccountName");
  subdomain("nodeName");
  if (const Json& seconds = spec["activeDeadlineSeconds"]; seconds.is_number())
    if (seconds.as_int() < 1 || seconds.as_int() > 2147483647)
      errors.invalid(in(path, "activeDeadlineSeconds"), seconds, "must be between 1 and 2147483647, inclusive");
  label("hostname");
  label("subdomain");
}

void check_security(const Json& spec, const std::string& path, FieldErrors& errors) {
  const Json& context = spec["securityContext"];
  const std::string where = in(path, "securityContext");
  for (const char* field : {"runAsUser", "runAsGroup", "fsGroup"})
    if (const Json& id = context[field]; id.is_number() && (id.as_int() < 0 || id.as_int() > 2147483647))
      errors.invalid(in(where, field), id, "must be between 0 and 2147483647, inclusive");
  const auto groups = context["supplementalGroups"].items();
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (groups[i].as_int() < 0 || groups[i].as_int() > 2147483647)
      errors.invalid(at(in(where, "supplementalGroups"), i), groups[i], "must be between 0 and 2147483647, inclusive");
  if (spec["shareProcessNamespace"].as_bool() && spec["hostPID"].as_bool())
    errors.invalid(in(path, "shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled");
}

void check_overhead(const Json& spec, const std::string& path, FieldErrors& errors) {
  if (!spec["overhead"].empty())
    check_resources(Json::object({{"limits", spec["overhead"]}}), in(path, "overhead"), ResourcesOf::kContainer,
                    errors);
}

}  // namespace

std::vector<std::string> check_pod_template(const Json& pod_template, const std::string& path, bool pod_level) {
  FieldErrors errors;
  check_labels(pod_template["metadata"]["labels"], in(path, "labels"), errors);
  check_annotations(pod_template["metadata"]["annotations"], in(path, "annotations"), errors);
  const Json& spec = pod_template["spec"];
  const std::string where = in(path, "spec");
  const std::set<std::string> volumes = check_pod_volumes(spec, where, errors);
  check_containers(spec, where, volumes, errors);
  if (!spec["ephemeralContainers"].empty())
    errors.forbidden(in(where, "ephemeralContainers"), "ephemeral containers not allowed in pod template");
  if (const std::string policy = spec["restartPolicy"].str(); !policy.empty())
    errors.one_of(in(where, "restartPolicy"), policy, kRestartPolicies);
  if (const Json& grace = spec["terminationGracePeriodSeconds"]; grace.is_number() && grace.as_int() < 0)
    errors.invalid(in(where, "terminationGracePeriodSeconds"), grace, "must be greater than or equal to 0");
  check_dns(spec, where, errors);
  check_security(spec, where, errors);
  check_names(spec, where, errors);
  check_placement(spec, where, errors);
  if (const std::string name = spec["priorityClassName"].str(); !name.empty())
    errors.invalid(in(where, "priorityClassName"), name, check_dns_subdomain(name));
  if (const std::string name = spec["runtimeClassName"].str(); !name.empty())
    errors.invalid(in(where, "runtimeClassName"), name, check_dns_subdomain(name));
  if (const std::string policy = spec["preemptionPolicy"].str(); !policy.empty())
    errors.one_of(in(where, "preemptionPolicy"), policy, kPreemptionPolicies);
  check_overhead(spec, where, errors);
  if (pod_level) check_pod_level_resources(spec, in(where, "resources"), errors);
  return errors.take();
}

}  // namespace admission
