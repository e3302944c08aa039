// Defaults and rules of autoscaling/v2.
#include "apiserver/kinds/workloads/autoscalers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/problems.h"
#include "api/pods/pod_spec.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "api/schema/path_rules.h"
#include "api/schema/quantity.h"
#include "apiserver/kinds/cause_limit.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Cause;

namespace {

struct Source {
  std::string_view type;
  std::string_view field;
};
constexpr Source kSources[] = {{"ContainerResource", "containerResource"},
                               {"External", "external"},
                               {"Object", "object"},
                               {"Pods", "pods"},
                               {"Resource", "resource"}};

void default_rules(Json& rules, bool up) {
  if (!rules.is_object()) return;
  if (rules["selectPolicy"].is_null()) rules.set("selectPolicy", "Max");
  if (up && rules["stabilizationWindowSeconds"].is_null()) rules.set("stabilizationWindowSeconds", 0);
  if (!rules["policies"].is_null()) return;
  Json policies = Json::array();
  if (up) policies.push_back(Json::object({{"type", "Pods"}, {"value", 4}, {"periodSeconds", 15}}));
  policies.push_back(Json::object({{"type", "Percent"}, {"value", 100}, {"periodSeconds", 15}}));
  rules.set("policies", std::move(policies));
}

void check_target(const Json& target, const std::string& path, bool of_resource, api::FieldErrors& errors) {
  const std::string_view type = target["type"].as_string();
  if (type != "Utilization" && type != "Value" && type != "AverageValue")
    errors.invalid(path + ".type", target["type"], "must be either Utilization, Value, or AverageValue");
  if (const Json& percent = target["averageUtilization"]; !percent.is_null() && percent.as_int() < 1)
    errors.invalid(path + ".averageUtilization", percent, "must be greater than 0");
  for (const char* name : {"value", "averageValue"})
    if (const auto quantity = api::Quantity::from_json(target[name]); quantity && quantity->sign() <= 0)
      errors.invalid(base::format("{}.{}", path, name), target[name], "must be positive");
  if (!of_resource) return;
  const bool percent = !target["averageUtilization"].is_null(), value = !target["averageValue"].is_null();
  if (!percent && !value)
    errors.required(path + ".averageUtilization", "must set either a target raw value or a target utilization");
  if (percent && value)
    errors.forbidden(path + ".averageValue", "may not set both a target raw value and a target utilization");
}

void check_referred(const Json& reference, const std::string& path, api::FieldErrors& errors) {
  for (const char* field : {"kind", "name"})
    if (const std::string text = reference[field].str(); text.empty())
      errors.required(base::format("{}.{}", path, field));
    else
      errors.invalid(base::format("{}.{}", path, field), text, api::check_path_segment(text));
}

void check_metric_name(const Json& metric, const std::string& path, api::FieldErrors& errors) {
  const std::string name = metric["name"].str();
  if (name.empty()) errors.required(path + ".name", "must specify a metric name");
  if (name == "." || name == ".." || name.find_first_of("/%") != std::string::npos)
    errors.invalid(path + ".name", metric["name"], "may not be '.' or '..', or contain '/' or '%'");
}

// A metric that is neither cpu nor memory: of pods an average, of objects and from outside a value or an average.
void check_named_metric(std::string_view type, const Json& body, const std::string& path, api::FieldErrors& errors) {
  check_metric_name(body["metric"], path + ".metric", errors);
  const bool value = !body["target"]["value"].is_null(), average = !body["target"]["averageValue"].is_null();
  if (type == "Pods") {
    if (!average) errors.required(path + ".target.averageValue", "must specify a positive target averageValue");
    return;
  }
  if (type == "Object") check_referred(body["describedObject"], path + ".describedObject", errors);
  if (!value && !average)
    errors.required(path + ".target.averageValue", "must set either a target value for metric or a per-pod target");
  if (value && average && type == "External")
    errors.forbidden(path + ".target.value", "may not set both a target value for metric and a per-pod target");
}

void check_container_metric(const Json& body, const std::string& path, api::FieldErrors& errors) {
  if (const std::string name = body["name"].str(); !name.empty())
    api::check_container_resource_name(name, path + ".name", errors);
  if (const std::string container = body["container"].str(); container.empty())
    errors.required(path + ".container", "must specify a container");
  else
    errors.invalid(path + ".container", container, api::check_dns_label(container));
}

// Each is worked out of all pods of the target, every fifteen seconds.
constexpr std::size_t kMetricsMax = 100;

void check_metrics(const Json& metrics, api::FieldErrors& errors) {
  if (metrics.size() > kMetricsMax)
    return errors.add({"FieldValueTooMany",
                       base::format("Too many: {}: must have at most {} items", metrics.size(), kMetricsMax),
                       "spec.metrics"});
  std::size_t at = 0;
  for (const Json& metric : metrics.items()) {
    const std::string path = base::format("spec.metrics[{}]", at++);
    const std::string_view type = metric["type"].as_string();
    const auto* source = std::ranges::find(kSources, type, &Source::type);
    if (type.empty()) {
      errors.required(path + ".type", "must specify a metric source type");
      continue;
    }
    if (source == std::end(kSources)) {
      errors.add({"FieldValueNotSupported",
                  base::format("Unsupported value: \"{}\": supported values: \"ContainerResource\", "
                               "\"External\", \"Object\", \"Pods\", \"Resource\"",
                               type),
                  path + ".type"});
      continue;
    }
    const std::string field = base::format("{}.{}", path, source->field);
    const Json& body = metric[source->field];
    if (!body.is_object()) {
      errors.required(field, "must populate information for the given metric source");
      continue;
    }
    for (const Source& other : kSources)
      if (&other != source && !metric[other.field].is_null())
        errors.forbidden(base::format("{}.{}", path, other.field), "must populate the given metric source only");
    const bool of_resource = type == "Resource" || type == "ContainerResource";
    if (of_resource && body["name"].as_string().empty())
      errors.required(field + ".name", "must specify a resource name");
    if (type == "ContainerResource") check_container_metric(body, field, errors);
    if (!of_resource) check_named_metric(type, body, field, errors);
    check_target(body["target"], field + ".target", of_resource, errors);
  }
}

void check_rules(const Json& rules, const std::string& path, api::FieldErrors& errors) {
  if (!rules.is_object()) return;
  const Json& window = rules["stabilizationWindowSeconds"];
  if (window.as_int() < 0)
    errors.invalid(path + ".stabilizationWindowSeconds", window, "must be greater than or equal to zero");
  if (window.as_int() > 3600)
    errors.invalid(path + ".stabilizationWindowSeconds", window, "must be less than or equal to 3600");
  const std::string_view select = rules["selectPolicy"].as_string("Max");
  if (select != "Max" && select != "Min" && select != "Disabled")
    errors.add({"FieldValueNotSupported",
                base::format("Unsupported value: \"{}\": supported values: \"Disabled\", \"Max\", \"Min\"", select),
                path + ".selectPolicy"});
  if (rules["policies"].empty()) errors.required(path + ".policies", "must specify at least one Policy");
  std::size_t at = 0;
  for (const Json& policy : rules["policies"].items()) {
    if (errors.is_full()) break;
    const std::string here = base::format("{}.policies[{}]", path, at++);
    const std::string_view type = policy["type"].as_string();
    if (type != "Pods" && type != "Percent")
      errors.add({"FieldValueNotSupported",
                  base::format("Unsupported value: \"{}\": supported values: \"Percent\", \"Pods\"", type),
                  here + ".type"});
    if (policy["value"].as_int() <= 0) errors.invalid(here + ".value", policy["value"], "must be greater than zero");
    const std::int64_t period = policy["periodSeconds"].as_int();
    if (period <= 0) errors.invalid(here + ".periodSeconds", policy["periodSeconds"], "must be greater than zero");
    if (period > 1800)
      errors.invalid(here + ".periodSeconds", policy["periodSeconds"], "must be less than or equal to 1800");
  }
}

}  // namespace

void default_autoscaler(Json& object) {
  if (!object["spec"].is_object()) return;
  Json& spec = object.edit("spec");
  if (spec["minReplicas"].is_null()) spec.set("minReplicas", 1);
  if (spec["metrics"].is_null() || (spec["metrics"].is_array() && spec["metrics"].empty()))
    spec.set("metrics", Json::array({Json::object(
                            {{"type", "Resource"},
                             {"resource", Json::object({{"name", "cpu"},
                                                        {"target", Json::object({{"type", "Utilization"},
                                                                                 {"averageUtilization", 80}})}})}})}));
  if (!spec["behavior"].is_object()) return;
  Json& behavior = spec.edit("behavior");
  for (const char* way : {"scaleUp", "scaleDown"}) {
    if (behavior[way].is_null()) behavior.set(way, Json::object());
    default_rules(behavior.edit(way), std::string_view(way) == "scaleUp");
  }
}

// "apps/v1". ReplicationControllers alone are of a group without a name.
void check_version_of_target(const Json& target, api::FieldErrors& errors) {
  const std::string version = target["apiVersion"].str();
  const std::string path = "spec.scaleTargetRef.apiVersion";
  if (std::ranges::count(version, '/') > 1)
    return errors.invalid(path, version, "unexpected GroupVersion string: " + version);
  const std::size_t slash = version.find('/');
  if ((slash == std::string::npos || slash == 0) && target["kind"].as_string() != "ReplicationController")
    errors.invalid(path, version, "apiVersion must specify API group");
}

void check_autoscaler(const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  if (spec["minReplicas"].as_int(1) < 1)
    errors.invalid("spec.minReplicas", spec["minReplicas"], "must be greater than or equal to 1");
  if (spec["maxReplicas"].as_int() < 1)
    errors.invalid("spec.maxReplicas", spec["maxReplicas"], "must be greater than 0");
  else if (spec["maxReplicas"].as_int() < spec["minReplicas"].as_int(1))
    errors.invalid("spec.maxReplicas", spec["maxReplicas"], "must be greater than or equal to `minReplicas`");
  check_referred(spec["scaleTargetRef"], "spec.scaleTargetRef", errors);
  check_metrics(spec["metrics"], errors);
  for (const char* way : {"scaleUp", "scaleDown"})
    check_rules(spec["behavior"][way], base::format("spec.behavior.{}", way), errors);
}

namespace {

constexpr std::size_t kMetricsShown = 2;

std::string number_of(const Json& value, bool percent) {
  if (value.is_null()) return "<unknown>";
  return percent ? base::format("{}%", value.as_int()) : value.is_string() ? value.str() : value.dump();
}

// "cpu: 12%/80%"
std::string target_of(const Json& metric, const Json& statuses) {
  const std::string_view type = metric["type"].as_string();
  const char* field = type == "Resource" ? "resource" : type == "ContainerResource" ? "containerResource" : "";
  if (*field == '\0') return base::format("<unknown>/{}", type);
  const Json& target = metric[field];
  const Json* now = nullptr;
  for (const Json& status : statuses.items())
    if (status["type"] == metric["type"] && status[field]["name"] == target["name"] &&
        status[field]["container"] == target["container"])
      now = &status[field]["current"];
  const bool percent = !target["target"]["averageUtilization"].is_null();
  const char* key = percent ? "averageUtilization" : "averageValue";
  static const Json none;
  return base::format("{}: {}/{}", target["name"].as_string(), number_of(now ? (*now)[key] : none, percent),
                      number_of(target["target"][key], percent));
}

std::string targets_of(const Json& object) {
  const Json& metrics = object["spec"]["metrics"];
  std::string text;
  std::size_t shown = 0;
  for (const Json& metric : metrics.items()) {
    if (shown == kMetricsShown) return base::format("{} + {} more...", text, metrics.size() - shown);
    text += (shown++ == 0 ? "" : ", ") + target_of(metric, object["status"]["currentMetrics"]);
  }
  return text.empty() ? "<none>" : text;
}

std::vector<Json> autoscaler_cells(const Json& object, base::Time now) {
  const Json& spec = object["spec"];
  return {Json(base::format("{}/{}", spec["scaleTargetRef"]["kind"].as_string(),
                            spec["scaleTargetRef"]["name"].as_string())),
          Json(targets_of(object)),
          spec["minReplicas"].is_null() ? Json("<unset>") : Json(std::to_string(spec["minReplicas"].as_int())),
          Json(spec["maxReplicas"].as_int()),
          Json(object["status"]["currentReplicas"].as_int()),
          age_of(object, now)};
}

constexpr api::Column kColumnsOfAutoscaler[] = {
    {"Reference", ""},           {"Targets", ""}, {"MinPods", ""}, {"MaxPods", "", "integer"},
    {"Replicas", "", "integer"}, {"Age", ""}};

}  // namespace

const KindRules kHorizontalPodAutoscaler = {.kind = "HorizontalPodAutoscaler",
                                            .defaults = default_autoscaler,
                                            .check_create =
                                                [](const Json& object, api::FieldErrors& errors) {
                                                  check_version_of_target(object["spec"]["scaleTargetRef"], errors);
                                                  check_autoscaler(object, errors);
                                                },
                                            .check_update =
                                                [](const Json& before, const Json& object, api::FieldErrors& errors) {
                                                  const Json& target = object["spec"]["scaleTargetRef"];
                                                  if (!(before["spec"]["scaleTargetRef"] == target))
                                                    check_version_of_target(target, errors);
                                                  check_autoscaler(object, errors);
                                                },
                                            .table = {kColumnsOfAutoscaler, autoscaler_cells}};

}  // namespace apiserver
