// Discovery documents, from the rows of all kinds.
#include "apiserver/documents/discovery.h"

#include <algorithm>
#include <map>
#include <vector>

#include "api/kinds.h"
#include "api/other_versions.h"

namespace apiserver {

using api::Json;
using api::KindInfo;

namespace {

using Kinds = std::vector<const KindInfo*>;
// Group -> versions with their kinds, the most wanted version first.
// By name, but that the PodGroups that people here mean come before Kubernetes' own: kubectl takes a kind from the
// first group that has it. COMPAT(podgroups-of-volcano-first)
struct ComesBefore {
  using is_transparent = void;
  static std::pair<std::string_view, bool> place(std::string_view group) {
    return group == "scheduling.k8s.io" ? std::pair(std::string_view("scheduling.volcano.sh"), true)
                                        : std::pair(group, false);
  }
  bool operator()(std::string_view a, std::string_view b) const { return place(a) < place(b); }
};
using Groups = std::map<std::string, std::vector<std::pair<std::string, Kinds>>, ComesBefore>;

Kinds& kinds_of(Groups& all, const KindInfo& kind) {
  auto& versions = all[kind.resource.group];
  auto at = std::ranges::find(versions, kind.resource.version, &std::pair<std::string, Kinds>::first);
  if (at == versions.end()) at = versions.insert(versions.end(), {kind.resource.version, {}});
  return at->second;
}

Groups own_groups() {
  std::map<std::string, std::map<std::string, Kinds>> sorted;
  for (const KindInfo& kind : api::all_kinds()) sorted[kind.resource.group][kind.resource.version].push_back(&kind);
  Groups made;
  for (auto& [group, versions] : sorted) made[group].assign(versions.begin(), versions.end());
  for (const api::OtherVersion& other : api::other_versions()) kinds_of(made, other.kind).push_back(&other.kind);
  for (auto& [group, versions] : made)
    std::ranges::stable_sort(versions, comes_before, &std::pair<std::string, Kinds>::first);
  return made;
}

// With what definitions add, whose versions come in the order in which they are wanted.
Groups groups_of(const ServedKinds& kinds) {
  static const Groups kOwn = own_groups();
  Groups all = kOwn;
  for (const ServedKind& one : kinds.custom()) kinds_of(all, *one.kind).push_back(one.kind);
  for (auto& [group, versions] : all)
    if (!kOwn.contains(group)) std::ranges::stable_sort(versions, comes_before, &std::pair<std::string, Kinds>::first);
  return all;
}

Json strings(const std::vector<std::string>& values) {
  Json list = Json::array();
  for (const std::string& value : values) list.push_back(value);
  return list;
}

Json verbs(std::initializer_list<const char*> values) {
  Json list = Json::array();
  for (const char* value : values) list.push_back(value);
  return list;
}

// Namespaces go one by one.
Json resource_verbs(const KindInfo& kind) {
  if (kind.resource.group == "authorization.k8s.io" || kind.resource.group == "authentication.k8s.io")
    return verbs({"create"});
  if (kind.resource.group == "metrics.k8s.io") return verbs({"get", "list"});
  if (kind.kind == "Namespace") return verbs({"create", "delete", "get", "list", "patch", "update", "watch"});
  return verbs({"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"});
}

struct Sub {
  std::string name;
  std::string kind, group, version;  // of what is sent
  Json verbs;
};

std::vector<Sub> subresources(const KindInfo& kind) {
  std::vector<Sub> subs;
  for (const std::string& name : kind.subresources) {
    if (name == "binding")
      subs.push_back({name, "Binding", "", "v1", verbs({"create"})});
    else if (name == "eviction")
      subs.push_back({name, "Eviction", "policy", "v1", verbs({"create"})});
    else if (name == "scale")
      subs.push_back({name, "Scale", "autoscaling", "v1", verbs({"get", "patch", "update"})});
    else if (name == "token")
      subs.push_back({name, "TokenRequest", "authentication.k8s.io", "v1", verbs({"create"})});
    else if (name == "exec" || name == "attach" || name == "portforward")
      subs.push_back({name,
                      name == "exec"     ? "PodExecOptions"
                      : name == "attach" ? "PodAttachOptions"
                                         : "PodPortForwardOptions",
                      "", "v1", verbs({"create", "get"})});
    else if (name == "ephemeralcontainers" || name == "resize")
      subs.push_back({name, kind.kind, "", "", verbs({"get", "patch", "update"})});
    else if (name == "proxy")
      subs.push_back({name, kind.kind + "ProxyOptions", "", "v1",
                      kind.namespaced ? verbs({"create", "delete", "get", "patch", "update"}) : verbs({"get"})});
    else if (name == "approval")
      subs.push_back({name, kind.kind, "", "", verbs({"get", "patch", "update"})});
    else if (name == "log")
      subs.push_back({name, kind.kind, "", "", verbs({"get"})});
    else
      subs.push_back({name, kind.kind, "", "", verbs({"update"})});
  }
  if (kind.status_subresource) subs.push_back({"status", kind.kind, "", "", verbs({"get", "patch", "update"})});
  return subs;
}

Json resource_list(const std::string& group_version, const std::vector<const KindInfo*>& kinds) {
  Json rows = Json::array();
  for (const KindInfo* kind : kinds) {
    Json row = Json::object({{"name", kind->resource.plural},
                             {"singularName", kind->singular},
                             {"namespaced", kind->namespaced},
                             {"kind", kind->kind},
                             {"verbs", resource_verbs(*kind)}});
    if (!kind->short_names.empty()) row.set("shortNames", strings(kind->short_names));
    if (!kind->categories.empty()) row.set("categories", strings(kind->categories));
    rows.push_back(std::move(row));
    for (const Sub& sub : subresources(*kind)) {
      Json sub_row = Json::object(
          {{"name", kind->resource.plural + "/" + sub.name}, {"singularName", ""}, {"namespaced", kind->namespaced}});
      if (!sub.version.empty()) {
        if (!sub.group.empty()) sub_row.set("group", sub.group);
        sub_row.set("version", sub.version);
      }
      sub_row.set("kind", sub.kind);
      sub_row.set("verbs", sub.verbs);
      rows.push_back(std::move(sub_row));
    }
  }
  return Json::object(
      {{"kind", "APIResourceList"}, {"apiVersion", "v1"}, {"groupVersion", group_version}, {"resources", rows}});
}

Json version_row(const std::string& group, const std::string& version) {
  return Json::object({{"groupVersion", group + "/" + version}, {"version", version}});
}

// The preferred one first.
std::vector<std::pair<std::string, Kinds>> in_order(const std::string& group,
                                                    std::vector<std::pair<std::string, Kinds>> list,
                                                    const PreferredVersions& preferred) {
  if (const auto first = preferred.find(group); first != preferred.end())
    std::stable_partition(list.begin(), list.end(), [&](const auto& one) { return one.first == first->second; });
  return list;
}

Json group_document(const std::string& group, const std::vector<std::pair<std::string, Kinds>>& versions, bool top) {
  Json document = Json::object();
  if (top) {
    document.set("kind", "APIGroup");
    document.set("apiVersion", "v1");
  }
  document.set("name", group);
  Json list = Json::array();
  for (const auto& [version, kinds] : versions) list.push_back(version_row(group, version));
  document.set("versions", std::move(list));
  document.set("preferredVersion", version_row(group, versions.begin()->first));
  return document;
}

Json aggregated_resource(const KindInfo& kind) {
  Json row = Json::object(
      {{"resource", kind.resource.plural},
       {"responseKind",
        Json::object({{"group", kind.resource.group}, {"version", kind.resource.version}, {"kind", kind.kind}})},
       {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
       {"singularResource", kind.singular},
       {"verbs", resource_verbs(kind)}});
  if (!kind.short_names.empty()) row.set("shortNames", strings(kind.short_names));
  if (!kind.categories.empty()) row.set("categories", strings(kind.categories));
  Json subs = Json::array();
  for (const Sub& sub : subresources(kind))
    subs.push_back(Json::object(
        {{"subresource", sub.name},
         {"responseKind", Json::object({{"group", sub.version.empty() ? kind.resource.group : sub.group},
                                        {"version", sub.version.empty() ? kind.resource.version : sub.version},
                                        {"kind", sub.kind}})},
         {"verbs", sub.verbs}}));
  if (!subs.empty()) row.set("subresources", std::move(subs));
  return row;
}

Json aggregated(const Groups& groups, bool core, const PreferredVersions& preferred) {
  Json items = Json::array();
  for (const auto& [group, versions] : groups) {
    if (group.empty() != core) continue;
    Json version_rows = Json::array();
    for (const auto& [version, kinds] : in_order(group, versions, preferred)) {
      Json resources = Json::array();
      for (const KindInfo* kind : kinds) resources.push_back(aggregated_resource(*kind));
      version_rows.push_back(Json::object({{"version", version}, {"resources", resources}, {"freshness", "Current"}}));
    }
    Json metadata = Json::object({{"creationTimestamp", Json()}});
    if (!group.empty()) metadata.set("name", group);
    items.push_back(Json::object({{"metadata", metadata}, {"versions", version_rows}}));
  }
  return Json::object({{"kind", "APIGroupDiscoveryList"},
                       {"apiVersion", "apidiscovery.k8s.io/v2"},
                       {"metadata", Json::object()},
                       {"items", items}});
}

}  // namespace

std::optional<Json> discovery_document(std::string_view path, bool want_aggregated, std::string_view server_address,
                                       const PreferredVersions& preferred, const ServedKinds& kinds) {
  if (!path.starts_with("/api")) return {};
  const Groups groups = groups_of(kinds);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  if (path == "/api") {
    if (want_aggregated) return aggregated(groups, true, preferred);
    return Json::object(
        {{"kind", "APIVersions"},
         {"versions", Json::array({Json("v1")})},
         {"serverAddressByClientCIDRs",
          Json::array({Json::object({{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}})})}});
  }
  if (path == "/apis") {
    if (want_aggregated) return aggregated(groups, false, preferred);
    Json list = Json::array();
    for (const auto& [group, versions] : groups)
      if (!group.empty()) list.push_back(group_document(group, in_order(group, versions, preferred), false));
    return Json::object({{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", list}});
  }
  if (path == "/api/v1") return resource_list("v1", groups.at("").front().second);
  if (!path.starts_with("/apis/")) return {};
  const std::string rest(path.substr(6));
  const std::size_t slash = rest.find('/');
  const auto group = groups.find(rest.substr(0, slash));
  if (group == groups.end() || group->first.empty()) return {};
  if (slash == std::string::npos)
    return group_document(group->first, in_order(group->first, group->second, preferred), true);
  const auto version = std::ranges::find(group->second, rest.substr(slash + 1), &std::pair<std::string, Kinds>::first);
  if (version == group->second.end()) return {};
  return resource_list(group->first + "/" + version->first, version->second);
}

Json root_paths(const ServedKinds& kinds, const std::vector<std::string>& further) {
  std::vector<std::string> all = {"/api",    "/api/v1",     "/apis",         "/apis/",      "/healthz",
                                  "/livez",  "/metrics",    "/healthz/ping", "/livez/ping", "/openapi/v2",
                                  "/readyz", "/openapi/v3", "/readyz/ping",  "/version"};
  for (const auto& [group, versions] : groups_of(kinds)) {
    if (group.empty()) continue;
    all.push_back("/apis/" + group);
    for (const auto& [version, held] : versions) all.push_back("/apis/" + group + "/" + version);
  }
  all.insert(all.end(), further.begin(), further.end());
  std::ranges::sort(all);
  return Json::object({{"paths", strings(all)}});
}

Json version_document(std::string_view version) {
  return Json::object({{"major", "1"},
                       {"minor", "36"},
                       {"gitVersion", "v1.36.1+volcano-" + std::string(version)},
                       {"gitCommit", ""},
                       {"gitTreeState", "clean"},
                       {"buildDate", "1970-01-01T00:00:00Z"},
                       {"goVersion", ""},
                       {"compiler", "c++"},
                       {"platform", "linux/amd64"}});
}

}  // namespace apiserver
