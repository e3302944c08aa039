// Column definitions and cells. Kubernetes' own kinds compute theirs here; custom resources follow their column rows.
#include "apiserver/documents/tables.h"

#include <algorithm>
#include <functional>
#include <map>

#include "api/meta/resource.h"
#include "api/other_versions.h"
#include "api/pods/pod_summary.h"
#include "api/schema/quantity.h"
#include "api/storage_resources.h"
#include "apiserver/documents/access_tables.h"
#include "apiserver/documents/custom_columns.h"
#include "apiserver/documents/own_tables.h"
#include "apiserver/documents/service_tables.h"
#include "apiserver/documents/workload_tables.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::Json;

namespace {

Json age(const Json& timestamp, base::Time now) {
  const auto time = base::parse_rfc3339(timestamp.as_string());
  return time ? Json(base::format_human_duration(now - *time)) : Json("<unknown>");
}
Json text_or(const Json& value, std::string_view fallback) {
  return value.as_string().empty() ? Json(fallback) : value;
}

std::string join(const std::vector<std::string>& parts) { return base::join(parts, ","); }

std::vector<Json> policy_cells(const Json& policy, base::Time now) {
  const Json& spec = policy["spec"];
  const Json& kind = spec["paramKind"];
  const std::size_t count = spec["validations"].size() + spec["mutations"].size();
  return {Json(static_cast<std::int64_t>(count)),
          kind.is_object() ? Json(base::format("{}/{}", kind["apiVersion"].as_string(), kind["kind"].as_string()))
                           : Json("<unset>"),
          age_of(policy, now)};
}

std::vector<Json> binding_cells(const Json& binding, base::Time now) {
  const Json& ref = binding["spec"]["paramRef"];
  std::string param = "<unset>";
  if (!ref["name"].as_string().empty())
    param = base::format("{}/{}", ref["namespace"].as_string().empty() ? "*" : ref["namespace"].as_string(),
                         ref["name"].as_string());
  else if (ref["selector"].is_object())
    param = ref["selector"].dump();
  return {binding["spec"]["policyName"], Json(param), age_of(binding, now)};
}

std::vector<Json> pod_cells(const Json& pod, base::Time now) {
  const Json& status = pod["status"];
  const api::PodSummary summary = api::summary_of(pod);
  std::string restart_text = std::to_string(summary.restarts);
  if (summary.restarts > 0 && summary.last_restart)
    restart_text += base::format(" ({} ago)", base::format_human_duration(now - *summary.last_restart));
  std::int64_t gates = 0;
  std::int64_t gates_ready = 0;
  std::map<std::string_view, std::int64_t> met;
  for (const Json& condition : status["conditions"].items())
    if (condition["status"].as_string() == "True") ++met[condition["type"].as_string()];
  for (const Json& gate : pod["spec"]["readinessGates"].items()) {
    ++gates;
    gates_ready += met[gate["conditionType"].as_string()];
  }
  return {Json(base::format("{}/{}", summary.ready, summary.total)),
          Json(summary.status),
          Json(restart_text),
          age_of(pod, now),
          text_or(status["podIP"], "<none>"),
          text_or(pod["spec"]["nodeName"], "<none>"),
          text_or(status["nominatedNodeName"], "<none>"),
          gates == 0 ? Json("<none>") : Json(base::format("{}/{}", gates_ready, gates))};
}

std::vector<Json> node_cells(const Json& node, base::Time now) {
  std::vector<std::string> states;
  for (const Json& condition : node["status"]["conditions"].items())
    if (condition["type"].as_string() == "Ready")
      states.emplace_back(condition["status"].as_string() == "True" ? "Ready" : "NotReady");
  if (states.empty()) states.emplace_back("Unknown");
  if (node["spec"]["unschedulable"].as_bool()) states.emplace_back("SchedulingDisabled");
  std::vector<std::string> roles;
  for (const Json::Member& label : node["metadata"]["labels"].members()) {
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    if (label.name().starts_with(kPrefix) && label.name().size() > kPrefix.size())
      roles.emplace_back(label.name().substr(kPrefix.size()));
  }
  const auto address = [&](std::string_view type) {
    for (const Json& row : node["status"]["addresses"].items())
      if (row["type"].as_string() == type) return row["address"].str();
    return std::string("<none>");
  };
  const Json& info = node["status"]["nodeInfo"];
  return {Json(join(states)),
          Json(roles.empty() ? "<none>" : join(roles)),
          age_of(node, now),
          info["kubeletVersion"],
          Json(address("InternalIP")),
          Json(address("ExternalIP")),
          text_or(info["osImage"], "<unknown>"),
          text_or(info["kernelVersion"], "<unknown>"),
          text_or(info["containerRuntimeVersion"], "<unknown>")};
}

std::vector<Json> event_cells(const Json& event, base::Time now) {
  const Json& last = !event["lastTimestamp"].is_null() ? event["lastTimestamp"]
                     : !event["eventTime"].is_null()   ? event["eventTime"]
                                                       : event["metadata"]["creationTimestamp"];
  const Json& first = !event["firstTimestamp"].is_null() ? event["firstTimestamp"] : last;
  const Json& object = event["involvedObject"];
  std::string kind = object["kind"].str();
  std::ranges::transform(kind, kind.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  const std::int64_t count = std::max<std::int64_t>(event["count"].as_int(), 1);
  const std::string seen = age(last, now).str();
  std::string message = event["message"].str();
  while (!message.empty() && message.back() == '\n') message.pop_back();
  return {Json(count > 1 ? base::format("{} (x{} over {})", seen, count, age(first, now).str()) : seen),
          event["type"],
          event["reason"],
          Json(kind + "/" + object["name"].str()),
          object["fieldPath"].is_null() ? Json("") : object["fieldPath"],
          Json(event["source"]["component"].as_string().empty() ? event["reportingComponent"].str()
                                                                : event["source"]["component"].str()),
          Json(message),
          age(first, now),
          Json(count),
          event["metadata"]["name"]};
}

std::vector<Json> claim_cells(const Json& claim, base::Time now) {
  static const std::map<std::string_view, std::string_view> kModes{
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> modes;
  const bool bound = !claim["spec"]["volumeName"].as_string().empty();
  const Json known_modes = bound ? claim["status"]["accessModes"] : Json();
  for (const Json& mode : known_modes.items()) {
    const auto found = kModes.find(mode.as_string());
    if (found != kModes.end()) modes.emplace_back(found->second);
  }
  const std::string phase = api::is_deleting(claim) ? "Terminating" : claim["status"]["phase"].str();
  return {Json(phase),
          Json(claim["spec"]["volumeName"].as_string()),
          Json(bound ? claim["status"]["capacity"]["storage"].as_string() : ""),
          Json(join(modes)),
          Json(claim["spec"]["storageClassName"].as_string()),
          Json("<unset>"),
          age_of(claim, now),
          text_or(claim["spec"]["volumeMode"], "<unset>")};
}

std::vector<Json> volume_cells(const Json& volume, base::Time now) {
  static const std::map<std::string_view, std::string_view> kModes{
      {"ReadWriteOnce", "RWO"}, {"ReadOnlyMany", "ROX"}, {"ReadWriteMany", "RWX"}, {"ReadWriteOncePod", "RWOP"}};
  std::vector<std::string> modes;
  for (const Json& mode : volume["spec"]["accessModes"].items()) {
    const auto found = kModes.find(mode.as_string());
    if (found != kModes.end()) modes.emplace_back(found->second);
  }
  const Json& claim = volume["spec"]["claimRef"];
  return {volume["spec"]["capacity"]["storage"],
          Json(join(modes)),
          volume["spec"]["persistentVolumeReclaimPolicy"],
          volume["status"]["phase"],
          Json(claim.is_object() ? claim["namespace"].str() + "/" + claim["name"].str() : ""),
          Json(volume["spec"]["storageClassName"].as_string()),
          Json("<unset>"),
          Json(volume["status"]["reason"].as_string()),
          age_of(volume, now),
          text_or(volume["spec"]["volumeMode"], "<unset>")};
}

// Every address with every port: they are counted, and three of them are shown.
std::vector<Json> endpoints_cells(const Json& endpoints, base::Time now) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  std::size_t all = 0;
  for (const Json& subset : endpoints["subsets"].items()) {
    const auto ports = subset["ports"].items();
    all += subset["addresses"].size() * std::max<std::size_t>(ports.size(), 1);
    for (const Json& address : subset["addresses"].items()) {
      if (shown.size() == kShown) break;
      if (ports.empty()) shown.push_back(address["ip"].str());
      for (const Json& port : ports.first(std::min(ports.size(), kShown - std::min(shown.size(), kShown))))
        shown.push_back(address["ip"].str() + ":" + port["port"].dump());
    }
  }
  std::string text = shown.empty() ? "<none>" : join(shown);
  if (all > kShown) text += base::format(" + {} more...", all - kShown);
  return {Json(text), age_of(endpoints, now)};
}

// "cpu: 1/4, pods: 0/10"; limits have a column of their own.
std::vector<Json> quota_cells(const Json& quota, base::Time now) {
  std::vector<std::string> requests, limits;
  const Json& used = quota["status"]["used"];
  for (const Json::Member& hard : quota["status"]["hard"].members()) {
    std::vector<std::string>& column = hard.name().starts_with("limits.") ? limits : requests;
    const std::string now_used = used[hard.name()].is_null() ? "0" : used[hard.name()].str();
    column.push_back(base::format("{}: {}/{}", hard.name(), now_used, hard.value.str()));
  }
  return {Json(base::join(requests, ", ")), Json(base::join(limits, ", ")), age_of(quota, now)};
}

std::vector<Json> webhook_cells(const Json& configuration, base::Time now) {
  return {Json(static_cast<std::int64_t>(configuration["webhooks"].size())), age_of(configuration, now)};
}

const std::map<std::string_view, Printer>& printers() {
  static const std::map<std::string_view, Printer> table = {
      {"Pod",
       {{{"Ready", ""},
         {"Status", ""},
         {"Restarts", ""},
         {"Age", ""},
         {"IP", "", "string", 1},
         {"Node", "", "string", 1},
         {"Nominated Node", "", "string", 1},
         {"Readiness Gates", "", "string", 1}},
        pod_cells}},
      {"Node",
       {{{"Status", ""},
         {"Roles", ""},
         {"Age", ""},
         {"Version", ""},
         {"Internal-IP", "", "string", 1},
         {"External-IP", "", "string", 1},
         {"OS-Image", "", "string", 1},
         {"Kernel-Version", "", "string", 1},
         {"Container-Runtime", "", "string", 1}},
        node_cells}},
      {"Namespace",
       {{{"Status", ""}, {"Age", ""}},
        [](const Json& o, base::Time now) {
          return std::vector<Json>{o["status"]["phase"], age_of(o, now)};
        }}},
      {"ConfigMap",
       {{{"Data", "", "integer"}, {"Age", ""}},
        [](const Json& o, base::Time now) {
          return std::vector<Json>{Json(static_cast<std::int64_t>(o["data"].size() + o["binaryData"].size())),
                                   age_of(o, now)};
        }}},
      {"Secret",
       {{{"Type", ""}, {"Data", "", "integer"}, {"Age", ""}},
        [](const Json& o, base::Time now) {
          return std::vector<Json>{o["type"], Json(static_cast<std::int64_t>(o["data"].size())), age_of(o, now)};
        }}},
      {"ServiceAccount",
       {{{"Age", ""}}, [](const Json& o, base::Time now) { return std::vector<Json>{age_of(o, now)}; }}},
      {"LimitRange",
       {{{"Created At", ""}},
        [](const Json& o, base::Time) { return std::vector<Json>{o["metadata"]["creationTimestamp"]}; }}},
      {"ResourceQuota", {{{"Request", ""}, {"Limit", ""}, {"Age", ""}}, quota_cells}},
      {"Event",
       {{{"Last Seen", ""},
         {"Type", ""},
         {"Reason", ""},
         {"Object", ""},
         {"Subobject", "", "string", 1},
         {"Source", "", "string", 1},
         {"Message", ""},
         {"First Seen", "", "string", 1},
         {"Count", "", "string", 1},
         {"Name", "", "string", 1}},
        event_cells}},
      {"Endpoints", {{{"Endpoints", ""}, {"Age", ""}}, endpoints_cells}},
      {"PersistentVolumeClaim",
       {{{"Status", ""},
         {"Volume", ""},
         {"Capacity", ""},
         {"Access Modes", ""},
         {"StorageClass", ""},
         {"VolumeAttributesClass", ""},
         {"Age", ""},
         {"VolumeMode", "", "string", 1}},
        claim_cells}},
      {"PersistentVolume",
       {{{"Capacity", ""},
         {"Access Modes", ""},
         {"Reclaim Policy", ""},
         {"Status", ""},
         {"Claim", ""},
         {"StorageClass", ""},
         {"VolumeAttributesClass", ""},
         {"Reason", ""},
         {"Age", ""},
         {"VolumeMode", "", "string", 1}},
        volume_cells}},
      {"StorageClass",
       {{{"Provisioner", ""},
         {"ReclaimPolicy", ""},
         {"VolumeBindingMode", ""},
         {"AllowVolumeExpansion", ""},
         {"Age", ""}},
        [](const Json& o, base::Time now) {
          return std::vector<Json>{o["provisioner"], o["reclaimPolicy"], o["volumeBindingMode"],
                                   Json(o["allowVolumeExpansion"].as_bool()), age_of(o, now)};
        }}},
      {"PriorityClass",
       {{{"Value", "", "integer"}, {"Global-Default", "", "boolean"}, {"Age", ""}, {"PreemptionPolicy", ""}},
        [](const Json& o, base::Time now) {
          return std::vector<Json>{o["value"], Json(o["globalDefault"].as_bool()), age_of(o, now),
                                   o["preemptionPolicy"]};
        }}},
      {"ValidatingAdmissionPolicy", {{{"Validations", "", "integer"}, {"ParamKind", ""}, {"Age", ""}}, policy_cells}},
      {"MutatingAdmissionPolicy", {{{"Mutations", "", "integer"}, {"ParamKind", ""}, {"Age", ""}}, policy_cells}},
      {"ValidatingAdmissionPolicyBinding", {{{"PolicyName", ""}, {"ParamRef", ""}, {"Age", ""}}, binding_cells}},
      {"MutatingAdmissionPolicyBinding", {{{"PolicyName", ""}, {"ParamRef", ""}, {"Age", ""}}, binding_cells}},
      {"ValidatingWebhookConfiguration", {{{"Webhooks", "", "integer"}, {"Age", ""}}, webhook_cells}},
      {"MutatingWebhookConfiguration", {{{"Webhooks", "", "integer"}, {"Age", ""}}, webhook_cells}},
      {"CustomResourceDefinition",
       {{{"Created At", ""}},
        [](const Json& o, base::Time) { return std::vector<Json>{o["metadata"]["creationTimestamp"]}; }}},
      {"Lease",
       {{{"Holder", ""}, {"Age", ""}},
        [](const Json& o, base::Time now) {
          return std::vector<Json>{Json(o["spec"]["holderIdentity"].as_string()), age_of(o, now)};
        }}},
      {"NetworkPolicy",
       {{{"Pod-Selector", ""}, {"Age", ""}},
        [](const Json& o, base::Time now) {
          std::vector<std::string> labels;
          for (const Json::Member& m : o["spec"]["podSelector"]["matchLabels"].members())
            labels.push_back(std::string(m.name()) + "=" + m.value.str());
          return std::vector<Json>{Json(labels.empty() ? "<none>" : join(labels)), age_of(o, now)};
        }}},
  };
  return table;
}

const Printer& default_printer() {
  static const Printer printer{{{"Age", "", "date"}},
                               [](const Json& o, base::Time now) { return std::vector<Json>{age_of(o, now)}; }};
  return printer;
}

const Printer& printer_for(const api::KindInfo& kind) {
  if (kind.custom) return default_printer();
  if (const Printer* printer = workload_printer(kind.kind)) return *printer;
  if (const Printer* printer = service_printer(kind.kind)) return *printer;
  if (const Printer* printer = access_printer(kind.kind)) return *printer;
  const auto found = printers().find(kind.kind);
  return found == printers().end() ? default_printer() : found->second;
}

// A custom resource without columns shows its age.
bool has_own_columns(const api::KindInfo& kind) { return kind.custom && !kind.columns.empty(); }

Json columns_for(const api::KindInfo& kind) {
  Json columns = Json::array();
  const bool event = kind.kind == "Event";
  if (!event) columns.push_back(column_definition("Name", "string", "name", 0));
  if (const CustomKind* custom = custom_kind(kind); custom != nullptr && has_own_columns(kind)) {
    add_stranger_columns(*custom, columns);
    return columns;
  }
  for (const api::Column& column : has_own_columns(kind) ? own_columns(kind) : printer_for(kind).columns)
    columns.push_back(column_definition(column.name, column.type, "", column.priority));
  return columns;
}

// As kubectl shows it: the class of claims that name none is marked.
Json shown_name(const api::KindInfo& kind, const Json& object) {
  const Json& name = object["metadata"]["name"];
  if (kind.kind != "StorageClass" || kind.resource.group != "storage.k8s.io") return name;
  return api::is_default_class(object) ? Json(name.str() + " (default)") : name;
}

Json row_for(const api::KindInfo& kind, const Json& object, base::Time now, IncludeObject include) {
  const CustomKind* custom = custom_kind(kind);
  std::vector<Json> cells = !has_own_columns(kind) ? printer_for(kind).cells(object, now)
                            : custom != nullptr    ? stranger_cells(*custom, object, now)
                                                   : own_cells(kind, object, now);
  if (kind.kind != "Event") cells.insert(cells.begin(), shown_name(kind, object));
  Json row = Json::object({{"cells", Json::array(std::move(cells))}});
  if (include == IncludeObject::kMetadata)
    row.set("object", Json::object({{"kind", "PartialObjectMetadata"},
                                    {"apiVersion", "meta.k8s.io/v1"},
                                    {"metadata", object["metadata"]}}));
  else if (include == IncludeObject::kObject)
    row.set("object", object);
  return row;
}

}  // namespace

Json make_table_for(const api::KindInfo& kind, const Json& object, base::Time now, IncludeObject include,
                    bool with_columns) {
  if (const api::OtherVersion* other = api::other_version(kind))
    return make_table_for(*other->stored, other->to_stored(object), now, include, with_columns);
  Json table = Json::object({{"kind", "Table"},
                             {"apiVersion", "meta.k8s.io/v1"},
                             {"metadata", Json::object({{"resourceVersion", object["metadata"]["resourceVersion"]}})}});
  table.set("columnDefinitions", with_columns ? columns_for(kind) : Json());
  table.set("rows", Json::array({row_for(kind, object, now, include)}));
  return table;
}

Json make_table(const api::KindInfo& kind, const Json& list, base::Time now, IncludeObject include) {
  const Json* items = list.find("items");
  if (!items) return make_table_for(kind, list, now, include, true);
  if (const api::OtherVersion* other = api::other_version(kind)) {
    std::vector<Json> stored;
    for (const Json& item : items->items()) stored.push_back(other->to_stored(item));
    Json converted = list;
    converted.set("items", Json::array(std::move(stored)));
    return make_table(*other->stored, converted, now, include);
  }
  Json table = Json::object({{"kind", "Table"},
                             {"apiVersion", "meta.k8s.io/v1"},
                             {"metadata", list["metadata"]},
                             {"columnDefinitions", columns_for(kind)}});
  std::vector<Json> rows;
  rows.reserve(items->size());
  for (const Json& item : items->items()) rows.push_back(row_for(kind, item, now, include));
  table.set("rows", Json::array(std::move(rows)));
  return table;
}

}  // namespace apiserver
