// From the pod's object to its facts.
#include "colocation/policy/pod_facts.h"

#include <algorithm>

#include "api/meta/resource.h"
#include "api/pod_requests.h"
#include "base/format.h"
#include "base/number.h"
#include "base/trim.h"
#include "colocation/policy/words.h"

namespace colocation {

using api::Json;

namespace {

constexpr std::int64_t kSystemPriority = 2'000'000'000;

std::optional<std::int64_t> amount_in(const Json& list, std::string_view name, bool milli) {
  const Json* value = list.find(name);
  if (value == nullptr) return std::nullopt;
  const auto read = api::Quantity::from_json(*value);
  if (!read) return std::nullopt;
  return std::max<std::int64_t>(0, milli ? read->milli_value() : read->value());
}

ContainerFacts container_facts(const Json& container, const Json& statuses, const BatchNames& names) {
  ContainerFacts facts;
  facts.name = container["name"].str();
  for (const Json& status : statuses.items())
    if (status["name"] == container["name"] && status["state"].has("running")) facts.id = status["containerID"].str();
  const Json &requests = container["resources"]["requests"], &limits = container["resources"]["limits"];
  facts.request = {amount_in(requests, "cpu", true), amount_in(requests, "memory", false)};
  facts.limit = {amount_in(limits, "cpu", true), amount_in(limits, "memory", false)};
  // Extended processor time is counted in thousandths already.
  facts.batch_request = {amount_in(requests, names.cpu, false), amount_in(requests, names.memory, false)};
  facts.batch_limit = {amount_in(limits, names.cpu, false), amount_in(limits, names.memory, false)};
  return facts;
}

QosClass class_of(const Json& pod) {
  std::string_view word = pod["status"]["qosClass"].as_string();
  if (word.empty()) word = api::qos_class(pod["spec"]);
  return word == "Guaranteed"  ? QosClass::kGuaranteed
         : word == "Burstable" ? QosClass::kBurstable
                               : QosClass::kBestEffort;
}

bool is_critical(const Json& pod) {
  const Json& annotations = pod["metadata"]["annotations"];
  const std::string_view source = annotations["kubernetes.io/config.source"].as_string();
  return annotations.has("kubernetes.io/config.mirror") || (!source.empty() && source != "api") ||
         pod["spec"]["priority"].as_int() >= kSystemPriority;
}

std::string bandwidth_limits(const Json& annotations) {
  std::string named;
  for (const char* key : {"kubernetes.io/ingress-bandwidth", "kubernetes.io/egress-bandwidth"})
    if (annotations.has(key)) named += base::format("{}{}={}", named.empty() ? "" : ", ", key, annotations[key].str());
  return named;
}

}  // namespace

int qos_level(std::string_view text) {
  const std::string_view word = base::trim(text);
  if (word == "LC" || word == "HLS") return 2;
  if (word == "LS") return 1;
  if (word == "BE") return -1;
  const auto number = base::parse_number<int>(word);
  return number && *number >= -1 && *number <= 2 ? *number : 0;
}

PodFacts pod_facts(const Json& pod, const BatchNames& names) {
  const Json &spec = pod["spec"], &annotations = pod["metadata"]["annotations"];
  PodFacts facts;
  facts.ns = api::namespace_of(pod);
  facts.name = api::name_of(pod);
  facts.uid = api::uid_of(pod);
  facts.qos = class_of(pod);
  facts.level = qos_level(annotations[kQosLevel].as_string());
  facts.deleting = api::is_deleting(pod);
  const std::string_view phase = pod["status"]["phase"].as_string();
  facts.ended = phase == "Succeeded" || phase == "Failed";
  facts.host_network = spec["hostNetwork"].as_bool();
  facts.critical = is_critical(pod);
  facts.priority = spec["priority"].as_int();
  facts.started = base::parse_rfc3339(pod["status"]["startTime"].as_string()).value_or(base::Time{});
  facts.group = api::annotation_of(pod, "scheduling.k8s.io/group-name");
  const Json& owner = api::controller_of(pod);
  facts.workload = owner.is_null()
                       ? base::format("{}/Pod/{}", facts.ns, facts.name)
                       : base::format("{}/{}/{}", facts.ns, owner["kind"].as_string(), owner["name"].as_string());
  api::ResourceList total = api::pod_total(spec, "requests");
  api::add(total, api::resource_list_from(spec["overhead"]));
  const auto of = [&total](std::string_view name) {
    const auto found = total.find(name);
    return found == total.end() ? api::Quantity() : found->second;
  };
  facts.cpu_milli = of("cpu").milli_value();
  facts.memory_bytes = of("memory").value();
  facts.batch_cpu_milli = of(names.cpu).value();
  facts.batch_memory_bytes = of(names.memory).value();
  for (const Json& container : spec["containers"].items())
    facts.containers.push_back(container_facts(container, pod["status"]["containerStatuses"], names));
  facts.burst = annotations[kBurstAnnotation].str();
  facts.burst_time = annotations[kBurstTimeAnnotation].str();
  facts.config = annotations[kPodConfigAnnotation].str();
  facts.bandwidth_limits = bandwidth_limits(annotations);
  return facts;
}

}  // namespace colocation
