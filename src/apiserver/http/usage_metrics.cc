// Measurements as objects.
#include "apiserver/http/usage_metrics.h"

#include <map>

#include "api/kinds.h"
#include "api/selector.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::make_error;
using base::Result;

namespace {

// In the units of a metrics server: billionths of a processor, and KiB.
Json usage_json(const api::Usage& usage) {
  return Json::object({{"cpu", base::format("{}n", usage.cpu_nanocores)},
                       {"memory", base::format("{}Ki", usage.working_set_bytes / 1024)}});
}

Json metadata_of(const api::NodeUsage& usage, const Json& object) {
  Json metadata = Json::object({{"name", object["metadata"]["name"]}});
  if (const Json* ns = object["metadata"].find("namespace")) metadata.set("namespace", *ns);
  metadata.set("creationTimestamp", base::format_rfc3339(usage.at));
  if (const Json* labels = object["metadata"].find("labels")) metadata.set("labels", *labels);
  return metadata;
}

Json metrics_json(const char* kind, const api::NodeUsage& usage, const Json& object) {
  return Json::object({{"kind", kind},
                       {"apiVersion", "metrics.k8s.io/v1beta1"},
                       {"metadata", metadata_of(usage, object)},
                       {"timestamp", base::format_rfc3339(usage.at)},
                       {"window", base::format_go_duration(base::milliseconds(usage.window.ns / 1'000'000))}});
}

Json stored(Api& api, const api::ResourceId& resource, std::string_view ns, std::string_view name) {
  const auto index = static_cast<std::uint32_t>(api::find_kind(resource) - api::all_kinds().data());
  const store::ObjectPtr found = api.store().find(index, ns, name, store::View::kDurable);
  return found ? found->json() : Json();
}

// All that is measured of the kind, in order of namespace and name.
std::vector<Json> measured(Api& api, const Request& request, const api::NodeUsage& usage) {
  std::vector<Json> all;
  if (request.kind->kind == "NodeMetrics") {
    const Json node = stored(api, api::resources::kNodes, "", usage.node);
    if (Json one = node.is_null() ? Json() : node_metrics(usage, node); !one.is_null()) all.push_back(std::move(one));
    return all;
  }
  std::map<std::pair<std::string, std::string>, Json> sorted;
  for (const api::PodUsage& pod : usage.pods) {
    if (!request.ns.empty() && pod.ns != request.ns) continue;
    if (!request.name.empty() && pod.name != request.name) continue;
    const Json object = stored(api, api::resources::kPods, pod.ns, pod.name);
    if (object.is_null() || api::uid_of(object) != pod.uid) continue;
    if (Json one = pod_metrics(usage, pod, object); !one.is_null()) sorted[{pod.ns, pod.name}] = std::move(one);
  }
  for (auto& [key, one] : sorted) all.push_back(std::move(one));
  return all;
}

}  // namespace

bool is_measured(const api::KindInfo& kind) { return kind.resource.group == "metrics.k8s.io"; }

Json node_metrics(const api::NodeUsage& usage, const Json& object) {
  if (usage.machine.cpu_nanocores < 0) return {};
  Json json = metrics_json("NodeMetrics", usage, object);
  json.set("usage", usage_json(usage.machine));
  return json;
}

Json pod_metrics(const api::NodeUsage& usage, const api::PodUsage& pod, const Json& object) {
  Json containers = Json::array();
  for (const api::ContainerUsage& one : pod.containers)
    if (one.usage.cpu_nanocores >= 0)
      containers.push_back(Json::object({{"name", one.name}, {"usage", usage_json(one.usage)}}));
  if (containers.empty()) return {};
  Json json = metrics_json("PodMetrics", usage, object);
  json.set("containers", std::move(containers));
  return json;
}

Result<Answer> measured_answer(Api& api, const api::NodeUsageSource* source, const Request& request) {
  if (request.verb != Verb::kGet && request.verb != Verb::kList)
    return make_error(Code::kMethodNotAllowed, "the server does not allow this method on the requested resource");
  TRY(const api::LabelSelector labels, api::parse_label_selector(request.label_selector));
  TRY(const std::vector<api::FieldTerm> fields, api::parse_field_selector(request.field_selector));
  for (const api::FieldTerm& term : fields)
    if (term.path != "metadata.name" && (term.path != "metadata.namespace" || !request.kind->namespaced))
      return bad_request(base::format("field label not supported: {}", term.path));
  if (source == nullptr) return make_error(Code::kUnavailable, "no node agent in this process measures what pods use");
  const auto usage = source->latest();
  std::vector<Json> all = usage ? measured(api, request, *usage) : std::vector<Json>();
  Answer answer;
  if (request.verb == Verb::kGet) {
    for (Json& one : all)
      if (one["metadata"]["name"].as_string() == request.name) answer.object = std::move(one);
    if (answer.object.is_null()) return not_found(*request.kind, request.name);
    return answer;
  }
  std::erase_if(
      all, [&](const Json& one) { return !labels.matches(one["metadata"]["labels"]) || !api::matches(fields, one); });
  answer.object = Json::object({{"kind", request.kind->list_kind()},
                                {"apiVersion", request.kind->resource.api_version()},
                                {"metadata", Json::object()},
                                {"items", Json::array(std::move(all))}});
  return answer;
}

}  // namespace apiserver
