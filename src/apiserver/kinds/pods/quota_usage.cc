// Amounts by kind, and scopes.
#include "apiserver/kinds/pods/quota_usage.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

#include "api/json/problems.h"
#include "api/pod_requests.h"
#include "api/schema/field_errors.h"
#include "api/schema/names.h"
#include "apiserver/kinds/cells.h"
#include "apiserver/kinds/rows.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::Json;
using api::Quantity;
using api::ResourceList;

namespace {

// Kinds whose number is also counted under their own name.
constexpr std::array<std::string_view, 7> kPlainCounts = {
    "pods", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims", "resourcequotas"};
constexpr std::array<std::string_view, 2> kNative = {"cpu", "memory"};
constexpr std::array<std::string_view, 6> kScopes = {
    "BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass", "Terminating"};
constexpr std::size_t kHardMax = 1'000;  // names in `hard`
constexpr std::string_view kOfClass = ".storageclass.storage.k8s.io/";

bool is_core(const api::KindInfo& kind, std::string_view name) {
  return kind.resource.group.empty() && kind.kind == name;
}

std::string count_name(const api::KindInfo& kind) {
  return "count/" + kind.resource.plural + (kind.resource.group.empty() ? "" : "." + kind.resource.group);
}

// `side` is "requests" or "limits".
ResourceList in_use(const Json& pod, std::string_view side) {
  const Json& spec = pod["spec"];
  ResourceList sum = api::pod_in_use(pod, side);
  for (const auto& [name, amount] : api::resource_list_from(spec["overhead"]))
    if (side == "requests" || sum.contains(name)) sum[name] += amount;
  return sum;
}

ResourceList pod_usage(const Json& pod) {
  ResourceList usage;
  const std::string_view phase = pod["status"]["phase"].as_string();
  if (phase == "Succeeded" || phase == "Failed") return usage;
  usage["pods"] = Quantity::from_int(1);
  for (const auto& [name, amount] : in_use(pod, "requests")) {
    usage["requests." + name] = amount;
    // Resources of others are counted as requests alone.
    if (name.find('/') == std::string::npos) usage[name] = amount;
  }
  for (const auto& [name, amount] : in_use(pod, "limits"))
    if (name.find('/') == std::string::npos) usage["limits." + name] = amount;
  return usage;
}

ResourceList service_usage(const Json& service) {
  const std::string_view type = service["spec"]["type"].as_string();
  const bool balancer = type == "LoadBalancer";
  const bool node_ports =
      type == "NodePort" || (balancer && service["spec"]["allocateLoadBalancerNodePorts"].as_bool(true));
  ResourceList usage;
  if (balancer) usage["services.loadbalancers"] = Quantity::from_int(1);
  if (node_ports)
    usage["services.nodeports"] = Quantity::from_int(static_cast<std::int64_t>(service["spec"]["ports"].size()));
  return usage;
}

ResourceList claim_usage(const Json& claim) {
  ResourceList usage;
  const std::string of_class = claim["spec"]["storageClassName"].str() + std::string(kOfClass);
  const bool classed = of_class.size() > kOfClass.size();
  if (classed) usage[of_class + "persistentvolumeclaims"] = Quantity::from_int(1);
  if (const auto storage = Quantity::from_json(claim["spec"]["resources"]["requests"]["storage"])) {
    usage["requests.storage"] = *storage;
    if (classed) usage[of_class + "requests.storage"] = *storage;
  }
  return usage;
}

bool crosses_namespaces(const Json& spec) {
  for (const char* part : {"podAffinity", "podAntiAffinity"}) {
    const auto crosses = [](const Json& term) {
      return !term["namespaces"].empty() || !term["namespaceSelector"].is_null();
    };
    const Json& affinity = spec["affinity"][part];
    for (const Json& term : affinity["requiredDuringSchedulingIgnoredDuringExecution"].items())
      if (crosses(term)) return true;
    for (const Json& weighted : affinity["preferredDuringSchedulingIgnoredDuringExecution"].items())
      if (crosses(weighted["podAffinityTerm"])) return true;
  }
  return false;
}

bool priority_matches(const Json& selector, std::string_view priority_class) {
  const std::string_view op = selector["operator"].as_string();
  if (op == "Exists") return !priority_class.empty();
  if (op == "DoesNotExist") return priority_class.empty();
  bool named = false;
  for (const Json& value : selector["values"].items()) named = named || value.as_string() == priority_class;
  return op == "NotIn" ? !named : named && !priority_class.empty();
}

bool scope_matches(const Json& selector, const Json& pod) {
  const std::string_view scope = selector["scopeName"].as_string();
  const bool terminates = pod["spec"]["activeDeadlineSeconds"].is_number();
  const bool best_effort = pod["status"]["qosClass"].as_string() == "BestEffort";
  if (scope == "Terminating") return terminates;
  if (scope == "NotTerminating") return !terminates;
  if (scope == "BestEffort") return best_effort;
  if (scope == "NotBestEffort") return !best_effort;
  if (scope == "PriorityClass") return priority_matches(selector, pod["spec"]["priorityClassName"].as_string());
  return scope == "CrossNamespacePodAffinity" && crosses_namespaces(pod["spec"]);
}

bool scopes_match(const QuotaTerms& terms, const api::KindInfo& kind, const Json& object) {
  if (terms.selectors.empty()) return true;
  return is_core(kind, "Pod") &&
         std::ranges::all_of(terms.selectors.items(), [&](const Json& one) { return scope_matches(one, object); });
}

bool is_pod_compute(std::string_view name) {
  for (const std::string_view prefix : {"requests.", "limits."})
    if (name.starts_with(prefix)) {
      const std::string_view rest = name.substr(prefix.size());
      return rest != "storage";
    }
  return name == "cpu" || name == "memory" || name == "ephemeral-storage" || name.starts_with("hugepages-");
}

bool is_counted(std::string_view name) {
  return name.starts_with("count/") || std::ranges::find(kPlainCounts, name) != kPlainCounts.end() ||
         name == "services.nodeports" || name == "services.loadbalancers" ||
         name.ends_with(".storageclass.storage.k8s.io/persistentvolumeclaims");
}

// Which amounts a scope can be about; those that a quota counts by another name ("count/...") always.
bool fits(std::string_view scope, std::string_view resource) {
  static constexpr std::string_view kCompute[] = {"cpu",        "memory",       "requests.cpu", "requests.memory",
                                                  "limits.cpu", "limits.memory"};
  static constexpr std::string_view kOthers[] = {
      "ephemeral-storage", "requests.ephemeral-storage", "limits.ephemeral-storage", "requests.storage",
      "services",          "replicationcontrollers",     "resourcequotas",           "secrets",
      "configmaps",        "persistentvolumeclaims",     "services.nodeports",       "services.loadbalancers"};
  if (std::ranges::find(kOthers, resource) != std::end(kOthers)) return false;
  return scope != "BestEffort" || std::ranges::find(kCompute, resource) == std::end(kCompute);
}

void check_scope_fits(const Json& spec, const std::set<std::string, std::less<>>& scopes, api::FieldErrors& errors) {
  for (const std::string& scope : scopes)
    for (const Json::Member& amount : spec["hard"].members())
      if (!fits(scope, amount.name()))
        return errors.invalid("spec.scopes", spec["scopes"], "unsupported scope applied to resource");
}

void check_scope_names(const Json& spec, api::FieldErrors& errors) {
  std::set<std::string, std::less<>> seen;
  std::size_t at = 0;
  const auto check = [&](const Json& scope, const std::string& path) {
    if (std::ranges::find(kScopes, scope.as_string()) == kScopes.end())
      return errors.invalid(path, scope, "unsupported scope");
    seen.emplace(scope.as_string());
  };
  for (const Json& scope : spec["scopes"].items()) check(scope, base::format("spec.scopes[{}]", at++));
  at = 0;
  for (const Json& row : spec["scopeSelector"]["matchExpressions"].items()) {
    const std::string path = base::format("spec.scopeSelector.matchExpressions[{}]", at++);
    check(row["scopeName"], path + ".scopeName");
    const std::string_view op = row["operator"].as_string();
    const bool listed = op == "In" || op == "NotIn";
    if (!listed && op != "Exists" && op != "DoesNotExist")
      errors.invalid(path + ".operator", row["operator"], "not a valid selector operator");
    else if (row["scopeName"].as_string() != "PriorityClass" && op != "Exists")
      errors.invalid(
          path + ".operator", row["operator"],
          "must be 'Exist' when scope is any of ResourceQuotaScopeTerminating, "
          "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
          "ResourceQuotaScopeCrossNamespacePodAffinity");
    else if (listed == row["values"].empty())
      errors.add({listed ? "FieldValueRequired" : "FieldValueInvalid",
                  listed ? "Required value: must be at least one value when `operator` is 'In' or 'NotIn' for scope "
                           "selector"
                         : base::format("Invalid value: {}: must be no value when `operator` is 'Exist' or "
                                        "'DoesNotExist' for scope selector",
                                        api::shown(row["values"])),
                  path + ".values"});
  }
  for (const auto& [one, other] : {std::pair{"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"}})
    if (seen.contains(one) && seen.contains(other)) errors.invalid("spec.scopes", spec["scopes"], "conflicting scopes");
  check_scope_fits(spec, seen, errors);
}

}  // namespace

bool QuotaTerms::measures(const api::KindInfo& kind) const {
  if (!selectors.empty() && !is_core(kind, "Pod")) return false;
  if (hard.contains(count_name(kind))) return true;
  if (!kind.resource.group.empty()) return false;
  if (hard.contains(kind.resource.plural)) return true;
  return std::ranges::any_of(hard, [&kind](const auto& row) {
    const std::string& name = row.first;
    if (kind.resource == api::resources::kPods) return is_pod_compute(name);
    if (kind.resource == api::resources::kServices) return name.starts_with("services.");
    return kind.resource == api::resources::kPersistentVolumeClaims &&
           (name == "requests.storage" || name.find(kOfClass) != std::string::npos);
  });
}

QuotaTerms quota_terms(const Json& quota) {
  QuotaTerms terms{api::resource_list_from(quota["spec"]["hard"]), Json::array()};
  for (const Json& scope : quota["spec"]["scopes"].items())
    terms.selectors.push_back(Json::object({{"scopeName", scope}, {"operator", "Exists"}}));
  for (const Json& row : quota["spec"]["scopeSelector"]["matchExpressions"].items()) terms.selectors.push_back(row);
  return terms;
}

ResourceList quota_usage(const QuotaTerms& terms, const api::KindInfo& kind, const Json& object) {
  if (object.is_null() || !scopes_match(terms, kind, object)) return {};
  ResourceList all;
  if (is_core(kind, "Pod")) all = pod_usage(object);
  if (is_core(kind, "Service")) all = service_usage(object);
  if (is_core(kind, "PersistentVolumeClaim")) all = claim_usage(object);
  all[count_name(kind)] = Quantity::from_int(1);
  if (kind.resource.group.empty() && kind.kind != "Pod") all[kind.resource.plural] = Quantity::from_int(1);
  std::erase_if(all, [&terms](const auto& row) { return !terms.hard.contains(row.first); });
  return all;
}

const api::Projection& quota_projection(const api::KindInfo& kind) {
  static const api::Projection kPods{"metadata.name",
                                     "metadata.namespace",
                                     "spec.containers.name",
                                     "spec.containers.resources",
                                     "spec.initContainers.name",
                                     "spec.initContainers.resources",
                                     "spec.initContainers.restartPolicy",
                                     "spec.resources",
                                     "spec.overhead",
                                     "spec.activeDeadlineSeconds",
                                     "spec.priorityClassName",
                                     "spec.affinity",
                                     "status.conditions",
                                     "status.containerStatuses.allocatedResources",
                                     "status.containerStatuses.name",
                                     "status.containerStatuses.resources",
                                     "status.initContainerStatuses.allocatedResources",
                                     "status.initContainerStatuses.name",
                                     "status.initContainerStatuses.resources",
                                     "status.allocatedResources",
                                     "status.phase",
                                     "status.resources",
                                     "status.qosClass"};
  static const api::Projection kOthers{
      "metadata.name",         "metadata.namespace", "spec.type", "spec.ports", "spec.allocateLoadBalancerNodePorts",
      "spec.storageClassName", "spec.resources"};
  static const api::Projection kNames{"metadata.name", "metadata.namespace"};
  if (is_core(kind, "Pod")) return kPods;
  return is_core(kind, "Service") || is_core(kind, "PersistentVolumeClaim") ? kOthers : kNames;
}

std::string unsaid_by_pod(const QuotaTerms& terms, const Json& pod) {
  static const api::KindInfo& pods = *api::find_kind(api::resources::kPods);
  if (!scopes_match(terms, pods, pod)) return {};
  std::map<std::string, std::set<std::string>> missing;
  const Json& whole = pod["spec"]["resources"];
  for (const auto& [name, limit] : terms.hard)
    for (const std::string_view resource : kNative)
      for (const auto& [prefix, side] : {std::pair{"", "requests"}, {"requests.", "requests"}, {"limits.", "limits"}}) {
        if (name != base::format("{}{}", prefix, resource) || !whole[side][resource].is_null()) continue;
        for (const char* list : {"containers", "initContainers"})
          for (const Json& container : pod["spec"][list].items())
            if (container["resources"][side][resource].is_null()) missing[name].insert(container["name"].str());
      }
  std::string text;
  for (const auto& [name, containers] : missing) {
    std::string names;
    for (const std::string& one : containers) names += (names.empty() ? "" : ",") + one;
    text += base::format("{}{} for: {}", text.empty() ? "must specify " : "; ", name, names);
  }
  return text;
}

std::string quota_text(const ResourceList& list, const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    const auto found = list.find(name);
    text += base::format("{}{}={}", text.empty() ? "" : ",", name,
                         (found == list.end() ? Quantity() : found->second).to_string());
  }
  return text;
}

// A stock server multiplies a count by a thousand, in 64 bits, to see whether it is whole.
bool is_whole(std::string_view text, const Quantity& amount) {
  if (amount != Quantity::from_int(amount.value())) return false;
  if (text.size() < 20 || text.find_first_not_of("0123456789") != std::string_view::npos) return true;
  std::uint64_t low = 0;
  for (const char digit : text) low = low * 10 + static_cast<std::uint64_t>(digit - '0');
  return static_cast<std::int64_t>(low * 1000) % 1000 == 0;
}

void check_resource_quota(const Json& old_object, const Json& object, api::FieldErrors& errors) {
  const Json& spec = object["spec"];
  // All are written into the status twice, and each that counts a definition's kind has a table for ever.
  if (spec["hard"].size() > kHardMax && spec["hard"] != old_object["spec"]["hard"])
    return errors.add({"FieldValueTooMany",
                       base::format("Too many: {}: must have at most {} items", spec["hard"].size(), kHardMax),
                       "spec.hard"});
  for (const Json::Member& row : spec["hard"].members()) {
    const std::string path = base::format("spec.hard[{}]", row.name());
    const std::string_view name = row.name();
    const std::string_view bare = name.starts_with("count/") ? name.substr(6) : name;
    if (!api::is_qualified_name(bare))
      errors.invalid(path, Json(name), "must be a valid resource name");
    else if (name.find('/') == std::string_view::npos && !is_counted(name) && !is_pod_compute(name) &&
             name != "requests.storage")
      errors.invalid(path, Json(name), "must be a standard resource for quota");
    const auto amount = Quantity::from_json(row.value);
    if (!amount) continue;  // the schema's walk names it
    if (amount->sign() < 0) errors.invalid(path, row.value, "must be greater than or equal to 0");
    if (is_counted(name) && !is_whole(row.value.as_string(), *amount))
      errors.invalid(path, row.value, "must be an integer");
  }
  check_scope_names(spec, errors);
  if (old_object.is_null()) return;
  const auto sorted_scopes = [](const Json& of) {
    std::set<std::string, std::less<>> all;
    for (const Json& one : of["spec"]["scopes"].items()) all.emplace(one.as_string());
    return all;
  };
  if (sorted_scopes(old_object) != sorted_scopes(object))
    errors.invalid("spec.scopes", spec["scopes"], "field is immutable");
}

namespace {

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
constexpr api::Column kColumnsOfQuota[] = {{"Request", ""}, {"Limit", ""}, {"Age", ""}};

}  // namespace

const KindRules kResourceQuota = {
    .kind = "ResourceQuota",
    .check_create = [](const Json& object, api::FieldErrors& errors) { check_resource_quota(Json(), object, errors); },
    .check_update = check_resource_quota,
    .table = {kColumnsOfQuota, quota_cells}};

}  // namespace apiserver
