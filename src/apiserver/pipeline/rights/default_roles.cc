// Facts of a stock server, and the roles that gather others, which name this server's own kinds, too.
#include "apiserver/pipeline/rights/default_roles.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "apiserver/pipeline/rights/roles.h"
#include "base/format.h"
#include "base/split.h"

namespace apiserver {

using api::Json;

namespace {

constexpr std::string_view kTable =
#include "apiserver/pipeline/rights/default_roles.inc"
    ;
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kAutoUpdate = "rbac.authorization.kubernetes.io/autoupdate";

Json rule_json(std::vector<std::string> verbs, const std::vector<std::string>& groups,
               const std::vector<std::string>& resources) {
  const auto list = [](const std::vector<std::string>& words) {
    Json json = Json::array();
    for (const std::string& word : words) json.push_back(word);
    return json;
  };
  return Json::object({{"verbs", list(verbs)}, {"apiGroups", list(groups)}, {"resources", list(resources)}});
}

constexpr std::string_view kAggregateTo = "rbac.authorization.k8s.io/aggregate-to-";

Json object_json(std::string_view kind, std::string_view name) {
  const Json labels = Json::object({{"kubernetes.io/bootstrapping", "rbac-defaults"}});
  const Json annotations = Json::object({{kAutoUpdate, "true"}});
  return Json::object({{"apiVersion", base::format("{}/v1", kRbac)},
                       {"kind", kind},
                       {"metadata", Json::object({{"name", name}, {"labels", labels}, {"annotations", annotations}})}});
}

// `into`: the role that these rules are gathered in; empty: none.
Json role_json(std::string_view name, Json rules, std::string_view into = {}) {
  Json role = object_json("ClusterRole", name);
  if (!into.empty()) role.edit("metadata").edit("labels").set(base::format("{}{}", kAggregateTo, into), "true");
  role.set("rules", std::move(rules));
  return role;
}

// A role of what others are labelled with; `rules`: what that is at the start.
Json gathering_role(std::string_view name, Json rules, std::string_view into = {}) {
  Json role = role_json(name, std::move(rules), into);
  const Json labels = Json::object({{base::format("{}{}", kAggregateTo, name), "true"}});
  role.set("aggregationRule",
           Json::object({{"clusterRoleSelectors", Json::array({Json::object({{"matchLabels", labels}})})}}));
  return role;
}

// The additions of a role of namespaces to the one before it: view reads, edit writes and reads secrets, admin gives
// rights.
enum class Share : std::uint8_t { kView, kEdit, kAdmin };

// The endpoints of services, and the former states of workloads, are not for those to write who may write the rest.
constexpr std::array<std::string_view, 6> kOnlyRead = {"resourcequotas", "limitranges",         "endpoints",
                                                       "endpointslices", "controllerrevisions", "csistoragecapacities"};

Json namespaced_rules(Share share) {
  const std::vector<std::string> reads = {"get", "list", "watch"};
  const std::vector<std::string> writes = {"create", "delete", "deletecollection", "patch", "update"};
  const std::vector<std::string> all = {"create", "delete", "deletecollection", "get",
                                        "list",   "patch",  "update",           "watch"};
  Json rules = Json::array();
  for (const api::KindInfo& kind : api::all_kinds()) {
    const api::ResourceId& id = kind.resource;
    const bool gives_rights = id.group == "rbac.authorization.k8s.io" || id.group == "authorization.k8s.io";
    if (!kind.namespaced || gives_rights != (share == Share::kAdmin)) continue;
    const bool secret = id.plural == "secrets";
    const bool only_read = id.group == "metrics.k8s.io" || std::ranges::find(kOnlyRead, id.plural) != kOnlyRead.end();
    if (share == Share::kView ? secret : only_read) continue;
    std::vector<std::string> resources = {id.plural};
    if (kind.status_subresource && share == Share::kView) resources.push_back(id.plural + "/status");
    // A user who binds pods passes the scheduler by; whoever adds containers to the pods of others is them; and to
    // resize pods is a right of its own on a stock server, too.
    for (const std::string& name : kind.subresources)
      if ((share != Share::kView && name != "binding" && name != "ephemeralcontainers" && name != "resize") ||
          name == "log" || name == "scale")
        resources.push_back(id.plural + "/" + name);
    const bool whole = share == Share::kAdmin || secret;
    std::vector<std::string> groups = {id.group};
    if (id.plural == "events") groups.emplace_back("events.k8s.io");  // their other form
    rules.push_back(rule_json(share == Share::kView ? reads : whole ? all : writes, groups, resources));
  }
  if (share == Share::kEdit) {
    rules.push_back(rule_json({"impersonate"}, {""}, {"serviceaccounts"}));
    rules.push_back(
        rule_json(reads, {""}, {"pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "services/proxy"}));
  }
  if (share == Share::kView) {
    rules.push_back(rule_json(reads, {""}, {"namespaces"}));
    rules.push_back(rule_json(reads, {"metrics.k8s.io"}, {"nodes"}));
  }
  return rules;
}

// The rules of both, as the controller that gathers them puts them together.
Json together(Json rules, const Json& more) {
  for (const Json& rule : more.items()) rules.push_back(rule);
  return rules;
}

void add_namespaced_roles(std::vector<Json>& all) {
  const Json to_view = namespaced_rules(Share::kView), to_edit = namespaced_rules(Share::kEdit),
             to_admin = namespaced_rules(Share::kAdmin);
  all.push_back(role_json("system:aggregate-to-view", to_view, "view"));
  all.push_back(role_json("system:aggregate-to-edit", to_edit, "edit"));
  all.push_back(role_json("system:aggregate-to-admin", to_admin, "admin"));
  const Json edit = together(to_edit, to_view);
  all.push_back(gathering_role("view", to_view, "edit"));
  all.push_back(gathering_role("edit", edit, "admin"));
  all.push_back(gathering_role("admin", together(edit, to_admin)));
}

Json list_of(std::string_view words) {
  Json list = Json::array();
  for (const std::string_view word : base::split(words, ',')) list.push_back(word == "core" ? "" : word);
  return list;
}

// "VERBS GROUPS RESOURCES [NAMES]" or "VERBS url PATHS"
Json rule_from(const std::vector<std::string_view>& words) {
  Json rule = Json::object({{"verbs", list_of(words[0])}});
  if (words[1] == "url") {
    rule.set("nonResourceURLs", list_of(words[2]));
    return rule;
  }
  rule.set("apiGroups", list_of(words[1]));
  rule.set("resources", list_of(words[2]));
  if (words.size() > 3) rule.set("resourceNames", list_of(words[3]));
  return rule;
}

// "KIND [NAMESPACE/]NAME"
Json subject_from(const std::vector<std::string_view>& words) {
  const std::size_t slash = words[1].find('/');
  if (words[0] != "ServiceAccount") return Json::object({{"apiGroup", kRbac}, {"kind", words[0]}, {"name", words[1]}});
  return Json::object(
      {{"kind", words[0]}, {"name", words[1].substr(slash + 1)}, {"namespace", words[1].substr(0, slash)}});
}

// "KIND [NAMESPACE/]NAME [ROLE]"
Json begin_object(const std::vector<std::string_view>& words) {
  const std::size_t slash = words[1].find('/');
  const bool namespaced = slash != std::string_view::npos;
  Json object = object_json(words[0], namespaced ? words[1].substr(slash + 1) : words[1]);
  if (namespaced) object.edit("metadata").set("namespace", words[1].substr(0, slash));
  if (words.size() < 3) {
    object.set("rules", Json::array());
    return object;
  }
  object.set("roleRef",
             Json::object({{"apiGroup", kRbac}, {"kind", namespaced ? "Role" : "ClusterRole"}, {"name", words[2]}}));
  return object;
}

void add_table(std::vector<Json>& all) {
  for (std::string_view line : base::split(kTable, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string_view> words = base::split(line.substr(1), ' ');
    if (line[0] == ':')
      all.push_back(begin_object(words));
    else if (all.back().has("rules"))
      all.back().edit("rules").push_back(rule_from(words));
    else
      all.back().edit("subjects").push_back(subject_from(words));
  }
}

// Entries that `list` lacks. Returns whether there were any.
template <class Has>
bool append_missing(Json& object, const char* list, const Json& wanted, const Has& has) {
  bool any = false;
  for (const Json& one : wanted.items()) {
    if (has(one)) continue;
    if (!object[list].is_array()) object.set(list, Json::array());
    object.edit(list).push_back(one);
    any = true;
  }
  return any;
}

}  // namespace

std::vector<Json> default_roles() {
  std::vector<Json> all;
  add_namespaced_roles(all);
  add_table(all);
  std::stable_partition(all.begin(), all.end(),
                        [](const Json& one) { return one["kind"].as_string().starts_with("Cluster"); });
  return all;
}

std::optional<Json> mended_role(const Json& stored, const Json& ours) {
  if (stored["metadata"]["annotations"][kAutoUpdate].as_string() == "false") return std::nullopt;
  Json mended = stored;
  bool changed = false;
  for (const char* texts : {"labels", "annotations"})
    for (const Json::Member& one : ours["metadata"][texts].members()) {
      if (stored["metadata"][texts][one.name()] == one.value) continue;
      mended.edit_path({"metadata", texts}).set(one.name(), one.value);
      changed = true;
    }
  // Rules of a role that gathers others are those of the others.
  if (!ours.has("aggregationRule")) {
    const RoleRules owned = role_rules(stored);
    changed |= append_missing(mended, "rules", ours["rules"], [&owned](const Json& rule) {
      return uncovered(*owned, *role_rules(Json::object({{"rules", Json::array({rule})}}))).empty();
    });
  }
  changed |= append_missing(mended, "subjects", ours["subjects"], [&stored](const Json& subject) {
    return std::ranges::any_of(stored["subjects"].items(), [&subject](const Json& known) {
      return std::ranges::all_of(std::array{"kind", "name", "namespace"},
                                 [&](const char* part) { return known[part] == subject[part]; });
    });
  });
  return changed ? std::optional(std::move(mended)) : std::nullopt;
}

}  // namespace apiserver
