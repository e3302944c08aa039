// The mean of pods that can be counted, with cautious guesses for those that cannot.
#include "controllers/autoscaling/replicas.h"

#include <cmath>
#include <optional>
#include <set>

#include "api/meta/resource.h"
#include "api/schema/quantity.h"
#include "base/format.h"
#include "controllers/workloads/pods.h"

namespace controllers::autoscaling {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

constexpr base::Duration kCpuInitialization = base::minutes(5);  // what a starting pod uses says little
constexpr base::Duration kReadinessDelay = base::seconds(30);    // one that was unready since then never was ready

// One resource, of whole pods or of one container in each.
struct MetricTarget {
  std::string resource;   // cpu, memory
  std::string container;  // empty: all
  std::int64_t target = 0;
  bool utilization = false;  // the target is in percent of requests; else in thousandths of the unit
};

// In thousandths: of a processor, or of a byte.
std::optional<std::int64_t> used(const api::PodUsage& pod, const MetricTarget& metric_target) {
  std::int64_t sum = 0;
  bool any = false;
  for (const api::ContainerUsage& one : pod.containers) {
    if (!metric_target.container.empty() && one.name != metric_target.container) continue;
    if (one.usage.cpu_nanocores < 0) return std::nullopt;
    any = true;
    sum += metric_target.resource == "cpu" ? one.usage.cpu_nanocores / 1'000'000 : one.usage.working_set_bytes * 1000;
  }
  return any ? std::optional(sum) : std::nullopt;
}

Result<std::int64_t> requested(const Json& pod, const MetricTarget& metric_target) {
  std::int64_t sum = 0;
  const auto add = [&](const Json& container) -> base::Status {
    if (!metric_target.container.empty() && container["name"].as_string() != metric_target.container) return {};
    const auto request = api::Quantity::from_json(container["resources"]["requests"][metric_target.resource]);
    if (!request)
      return make_error(Code::kInvalid,
                        base::format("missing request for {} in container {} of Pod {}", metric_target.resource,
                                     container["name"].as_string(), api::name_of(pod)));
    sum += request->milli_value();
    return {};
  };
  for (const Json& container : pod["spec"]["containers"].items()) TRY_VOID(add(container));
  for (const Json& container : pod["spec"]["initContainers"].items())
    if (container["restartPolicy"].as_string() == "Always") TRY_VOID(add(container));
  return sum;
}

bool is_unready(const Json& pod, const Sight& sight) {
  const Json& ready = workloads::condition_of(pod["status"], "Ready");
  const base::Time started = workloads::time_in(pod["status"]["startTime"]);
  if (ready.is_null() || !started.is_set()) return true;
  const base::Time since = workloads::time_in(ready["lastTransitionTime"]);
  const bool is_false = ready["status"].as_string() == "False";
  if (started + kCpuInitialization > sight.now) return is_false || sight.measured < since + sight.window;
  return is_false && started + kReadinessDelay > since;
}

// By index in Sight::pods.
struct Groups {
  std::map<std::size_t, std::int64_t> values;
  std::set<std::size_t> unready, missing;
  std::int64_t ready = 0;
};

Groups group(const Sight& sight, const MetricTarget& metric_target) {
  Groups groups;
  for (std::size_t i = 0; i < sight.pods.size(); ++i) {
    const Json& pod = *sight.pods[i];
    const std::string_view phase = pod["status"]["phase"].as_string();
    if (api::is_deleting(pod) || phase == "Failed") continue;
    if (phase == "Pending") {
      groups.unready.insert(i);
      continue;
    }
    const auto usage = sight.usage.find(std::string(api::uid_of(pod)));
    const auto value = usage == sight.usage.end() ? std::nullopt : used(*usage->second, metric_target);
    if (!value) {
      groups.missing.insert(i);
    } else if (metric_target.resource == "cpu" && is_unready(pod, sight)) {
      groups.unready.insert(i);
    } else {
      groups.values[i] = *value;
      ++groups.ready;
    }
  }
  return groups;
}

using Requests = std::map<std::size_t, std::int64_t>;

struct Ratio {
  double of_target = 0;
  std::int64_t mean = 0;         // in thousandths of the unit
  std::int64_t utilization = 0;  // in percent
};

Ratio ratio_of(const std::map<std::size_t, std::int64_t>& values, const Requests& requests,
               const MetricTarget& metric_target) {
  double sum = 0, asked = 0;
  for (const auto& [index, value] : values) {
    sum += static_cast<double>(value);
    if (const auto request = requests.find(index); request != requests.end())
      asked += static_cast<double>(request->second);
  }
  Ratio ratio;
  ratio.mean = static_cast<std::int64_t>(sum / static_cast<double>(values.size()));
  if (asked > 0) ratio.utilization = static_cast<std::int64_t>(sum * 100 / asked);
  const double measured =
      metric_target.utilization ? static_cast<double>(ratio.utilization) : static_cast<double>(ratio.mean);
  ratio.of_target = measured / static_cast<double>(metric_target.target);
  return ratio;
}

bool is_within(double ratio, Tolerance tolerance) {
  return ratio >= 1.0 - tolerance.down && ratio <= 1.0 + tolerance.up;
}

struct Count {
  std::int64_t replicas = 0;
  Ratio ratio;
};

// Pods that say nothing are taken to use what speaks against a change.
Result<Count> count(const Sight& sight, const MetricTarget& metric_target, std::int64_t current, Tolerance tolerance) {
  if (sight.usage.empty())
    return make_error(Code::kUnavailable,
                      base::format("unable to get metrics for resource {}: no metrics returned from resource metrics "
                                   "API",
                                   metric_target.resource));
  if (sight.pods.empty())
    return make_error(Code::kNotFound, "no pods returned by selector while calculating replica count");
  Groups groups = group(sight, metric_target);
  if (groups.values.empty())
    return make_error(Code::kUnavailable, "did not receive metrics for targeted pods (pods might be unready)");
  Requests requests;
  if (metric_target.utilization)
    for (std::size_t i = 0; i < sight.pods.size(); ++i) {
      TRY(requests[i], requested(*sight.pods[i], metric_target));
    }
  Count out{current, ratio_of(groups.values, requests, metric_target)};
  const double first = out.ratio.of_target;
  const bool with_unready = !groups.unready.empty() && first > 1.0;
  if (!with_unready && groups.missing.empty()) {
    if (!is_within(first, tolerance))
      out.replicas = static_cast<std::int64_t>(std::ceil(first * static_cast<double>(groups.ready)));
    return out;
  }
  for (const std::size_t i : groups.missing) {
    if (first < 1.0)
      groups.values[i] = metric_target.utilization
                             ? requests[i] * std::max<std::int64_t>(100, metric_target.target) / 100
                             : metric_target.target;
    else if (first > 1.0)
      groups.values[i] = 0;
  }
  if (with_unready)
    for (const std::size_t i : groups.unready) groups.values[i] = 0;
  const double second = ratio_of(groups.values, requests, metric_target).of_target;
  if (is_within(second, tolerance) || (first < 1.0 && second > 1.0) || (first > 1.0 && second < 1.0)) return out;
  const auto wanted = static_cast<std::int64_t>(std::ceil(second * static_cast<double>(groups.values.size())));
  if ((second < 1.0 && wanted > current) || (second > 1.0 && wanted < current)) return out;
  out.replicas = wanted;
  return out;
}

// As its own unit is written: "250m", "1073741824".
Json value_json(const MetricTarget& metric_target, std::int64_t thousandths) {
  if (metric_target.resource == "cpu") return Json(base::format("{}m", thousandths));
  return Json(std::to_string(thousandths / 1000));
}

Result<MetricTarget> metric_target_of(const Json& source) {
  MetricTarget metric_target{source["name"].str(), source["container"].str(), 0, false};
  if (metric_target.resource != "cpu" && metric_target.resource != "memory")
    return make_error(Code::kInvalid,
                      base::format("unable to get metrics for resource {}: cpu and memory are measured here",
                                   metric_target.resource));
  const Json& target = source["target"];
  if (!target["averageValue"].is_null()) {
    if (const auto value = api::Quantity::from_json(target["averageValue"]))
      metric_target.target = value->milli_value();
  } else {
    metric_target.utilization = true;
    metric_target.target = target["averageUtilization"].as_int();
  }
  if (metric_target.target <= 0)
    return make_error(Code::kInvalid,
                      "invalid resource metric source: neither an average utilization target nor an average value "
                      "target was set");
  return metric_target;
}

Result<Proposal> propose_resource(const Json& metric, const Json& source, const Sight& sight, std::int64_t current,
                                  Tolerance tolerance) {
  TRY(const MetricTarget metric_target, metric_target_of(source));
  auto counted = count(sight, metric_target, current, tolerance);
  if (!counted.ok())
    return base::within(counted.take_error(), metric_target.utilization
                                                  ? base::format("failed to get {} utilization", metric_target.resource)
                                                  : base::format("failed to get {} usage", metric_target.resource));
  Proposal out;
  out.replicas = counted->replicas;
  const std::string what = metric_target.container.empty() ? "resource" : "container resource";
  out.metric = metric_target.utilization
                   ? base::format("{} {} utilization (percentage of request)", metric_target.resource, what)
                   : base::format("{} {}", metric_target.resource, what);
  Json now = Json::object();
  if (metric_target.utilization) now.set("averageUtilization", counted->ratio.utilization);
  now.set("averageValue", value_json(metric_target, counted->ratio.mean));
  Json body = Json::object({{"name", metric_target.resource}});
  if (!metric_target.container.empty()) body.set("container", metric_target.container);
  body.set("current", std::move(now));
  const bool of_container = metric["type"].as_string() == "ContainerResource";
  out.status = Json::object({{"type", metric["type"]}, {of_container ? "containerResource" : "resource", body}});
  return out;
}

}  // namespace

std::string_view reason_for_failure(const Json& metric) {
  const std::string_view type = metric["type"].as_string();
  if (type == "Resource") return "FailedGetResourceMetric";
  if (type == "ContainerResource") return "FailedGetContainerResourceMetric";
  if (type == "Pods") return "FailedGetPodsMetric";
  if (type == "Object") return "FailedGetObjectMetric";
  if (type == "External") return "FailedGetExternalMetric";
  return "InvalidMetricSourceType";
}

Result<Proposal> propose(const Json& metric, const Sight& sight, std::int64_t current, Tolerance tolerance) {
  const std::string_view type = metric["type"].as_string();
  if (type == "Resource") return propose_resource(metric, metric["resource"], sight, current, tolerance);
  if (type == "ContainerResource")
    return propose_resource(metric, metric["containerResource"], sight, current, tolerance);
  const char* api = type == "External" ? "external" : "custom";
  const Json& source = type == "Pods" ? metric["pods"] : type == "Object" ? metric["object"] : metric["external"];
  if (type == "Pods" || type == "Object" || type == "External")
    return make_error(
        Code::kUnavailable,
        base::format("unable to get metric {}: unable to fetch metrics from {} metrics API: there is none "
                     "here",
                     source["metric"]["name"].as_string(), api));
  return make_error(Code::kInvalid, base::format("unknown metric source type \"{}\"", type));
}

}  // namespace controllers::autoscaling
