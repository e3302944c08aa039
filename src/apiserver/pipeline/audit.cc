// How rules fit, and the shape of an Event.
#include "apiserver/pipeline/audit.h"

#include <algorithm>
#include <array>

#include "api/ipv4.h"
#include "apiserver/pipeline/rights/reviews.h"
#include "base/format.h"

namespace apiserver {

using api::Json;
using base::Result;

namespace {

constexpr std::array<std::string_view, 4> kLevels = {"None", "Metadata", "Request", "RequestResponse"};

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

bool url_fits(const std::vector<std::string>& urls, std::string_view path) {
  return std::ranges::any_of(urls, [path](const std::string& url) {
    return url.ends_with('*') ? path.starts_with(std::string_view(url).substr(0, url.size() - 1)) : url == path;
  });
}

bool resource_fits(const AuditRule::Resources& row, const Attributes& of) {
  if (row.group != of.group) return false;
  if (!row.names.empty() && !has(row.names, of.name)) return false;
  if (row.resources.empty()) return true;
  const std::string whole = of.resource + (of.subresource.empty() ? "" : "/" + of.subresource);
  return has(row.resources, whole) || has(row.resources, "*") ||
         (!of.subresource.empty() &&
          (has(row.resources, of.resource + "/*") || has(row.resources, "*/" + of.subresource)));
}

bool fits(const AuditRule& rule, const UserInfo& user, const Attributes& of) {
  if (!rule.users.empty() && !has(rule.users, user.name)) return false;
  if (!rule.groups.empty() &&
      std::ranges::none_of(user.groups, [&rule](const std::string& group) { return has(rule.groups, group); }))
    return false;
  if (!rule.verbs.empty() && !has(rule.verbs, of.verb)) return false;
  const bool of_resources = !rule.resources.empty() || !rule.namespaces.empty();
  if (!of.path.empty()) return rule.urls.empty() ? !of_resources : url_fits(rule.urls, of.path);
  if (!of_resources) return rule.urls.empty();
  if (!rule.namespaces.empty() && !has(rule.namespaces, of.ns)) return false;
  return rule.resources.empty() ||
         std::ranges::any_of(rule.resources, [&of](const AuditRule::Resources& row) { return resource_fits(row, of); });
}

bool holds_secrets(const Attributes& of) {
  return (of.group.empty() && of.resource == "secrets") || of.subresource == "token" || of.resource == "tokenreviews";
}

base::Error wrong(const std::string& path, std::string_view why) {
  return base::make_error(base::Code::kInvalid, base::format("{}: {}", path, why));
}

// A list that was taken for an empty one would make a rule of everybody's requests.
Result<std::vector<std::string>> texts(const Json& of, std::string_view key, const std::string& path) {
  const Json& list = of[key];
  const auto refused = [&](const Json& value, std::string_view why) {
    return wrong(base::format("{}.{}", path, key), base::format("{} is {}", value.dump(), why));
  };
  if (!list.is_null() && !list.is_array()) return refused(list, "not a list");
  std::vector<std::string> out;
  for (const Json& item : list.items()) {
    if (!item.is_string()) return refused(item, "not a text");
    out.push_back(item.str());
  }
  return out;
}

Result<AuditLevel> read_level(const Json& level, const std::string& path) {
  const auto found = std::ranges::find(kLevels, level.as_string());
  if (found != kLevels.end()) return static_cast<AuditLevel>(found - kLevels.begin());
  return wrong(path, base::format("{} is none of None, Metadata, Request, RequestResponse", level.dump()));
}

base::Status check_members(const Json& object, const std::string& path, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) return wrong(path, "it is not an object");
  for (const Json::Member& member : object.members())
    if (std::ranges::find(known, member.name()) == known.end())
      return wrong(path, base::format("unknown field \"{}\"", member.name()));
  return {};
}

// Whether the stage that is written is left out.
Result<bool> omits_complete(const Json& stages, const std::string& path) {
  if (!stages.is_null() && !stages.is_array()) return wrong(path, base::format("{} is not a list", stages.dump()));
  bool omits = false;
  for (const Json& stage : stages.items()) {
    const std::string_view name = stage.as_string();
    if (name != "RequestReceived" && name != "ResponseStarted" && name != "ResponseComplete" && name != "Panic")
      return wrong(path, base::format("{} is not a stage", stage.dump()));
    omits = omits || name == "ResponseComplete";
  }
  return omits;
}

Result<AuditRule> read_rule(const Json& json, const std::string& path) {
  TRY_VOID(check_members(json, path,
                         {"level", "users", "userGroups", "verbs", "resources", "namespaces", "nonResourceURLs",
                          "omitStages", "omitManagedFields"}));
  AuditRule rule;
  TRY(rule.level, read_level(json["level"], path + ".level"));
  TRY(rule.users, texts(json, "users", path));
  TRY(rule.groups, texts(json, "userGroups", path));
  TRY(rule.verbs, texts(json, "verbs", path));
  TRY(rule.namespaces, texts(json, "namespaces", path));
  TRY(rule.urls, texts(json, "nonResourceURLs", path));
  if (const Json& rows = json["resources"]; !rows.is_null() && !rows.is_array())
    return wrong(path + ".resources", base::format("{} is not a list", rows.dump()));
  for (const Json& row : json["resources"].items()) {
    TRY_VOID(check_members(row, path + ".resources", {"group", "resources", "resourceNames"}));
    if (!row["resourceNames"].empty() && row["resources"].empty())
      return wrong(path + ".resources", "resourceNames need resources");
    if (!row["group"].is_null() && !row["group"].is_string())
      return wrong(path + ".resources.group", base::format("{} is not a text", row["group"].dump()));
    TRY(std::vector<std::string> resources, texts(row, "resources", path + ".resources"));
    TRY(std::vector<std::string> names, texts(row, "resourceNames", path + ".resources"));
    rule.resources.push_back({row["group"].str(), std::move(resources), std::move(names)});
  }
  if (!rule.urls.empty() && (!rule.resources.empty() || !rule.namespaces.empty()))
    return wrong(path + ".nonResourceURLs", "rules cannot apply to both regular resources and non-resource URLs");
  TRY(rule.omits_complete, omits_complete(json["omitStages"], path + ".omitStages"));
  if (const Json& omits = json["omitManagedFields"]; !omits.is_null() && !omits.is_bool())
    return wrong(path + ".omitManagedFields", base::format("{} is neither true nor false", omits.dump()));
  rule.omits_managed_fields = json["omitManagedFields"].as_bool();
  return rule;
}

void drop_managed_fields(Json& object) {
  if (object["metadata"]["managedFields"].is_array()) object.edit("metadata").erase("managedFields");
  for (std::size_t i = 0; i < object["items"].items().size(); ++i)
    if (object["items"][i]["metadata"].is_object())
      object.edit("items").edit(i).edit("metadata").erase("managedFields");
}

Json reference(const AuditRecord& record) {
  const Attributes& of = record.of;
  const bool made = of.verb == "create" && of.name.empty() && record.code == 201;
  const Json& metadata = record.response_object["metadata"];
  Json ref = Json::object({{"resource", of.resource}});
  const auto add = [&ref](std::string_view key, const std::string& value) {
    if (!value.empty()) ref.set(key, value);
  };
  add("namespace", of.ns);
  add("name", made ? metadata["name"].str() : of.name);
  add("uid", made ? metadata["uid"].str() : std::string());
  add("apiGroup", of.group);
  add("apiVersion", record.version);
  add("subresource", of.subresource);
  return ref;
}

Json annotations(const AuditRecord& record) {
  const bool forbidden =
      record.code == 403 && record.response_object["message"].as_string().find(" cannot ") != std::string_view::npos;
  Json all = Json::object();
  if (record.code != 401) all.set("authorization.k8s.io/decision", forbidden ? "forbid" : "allow");
  for (const std::string& audit_annotation : record.audit_annotations) {
    const std::size_t equal = audit_annotation.find('=');
    if (equal != std::string::npos) all.set(audit_annotation.substr(0, equal), audit_annotation.substr(equal + 1));
  }
  return all;
}

Json status_json(const AuditRecord& record) {
  Json status = Json::object({{"metadata", Json::object()}});
  if (record.code >= 400)
    for (const char* part : {"status", "message", "reason"})
      if (record.response_object[part].is_string()) status.set(part, record.response_object[part]);
  status.set("code", record.code);
  return status;
}

}  // namespace

std::vector<std::string> source_ips(const SourceHeaders& headers, std::string_view peer) {
  constexpr std::size_t kProxiesMax = 32;
  std::vector<std::string> out;
  std::string_view list = headers.forwarded_for;
  while (!list.empty() && out.size() < kProxiesMax) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view one = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    if (api::is_ip_address(one)) out.emplace_back(one);
  }
  if (out.empty() && api::is_ip_address(headers.real_ip)) out.emplace_back(headers.real_ip);
  if (!peer.empty() && (out.empty() || out.back() != peer)) out.emplace_back(peer);
  return out;
}

AuditChoice AuditPolicy::choose(const UserInfo& user, const Attributes& of) const {
  for (const AuditRule& rule : rules) {
    if (!fits(rule, user, of)) continue;
    if (rule.omits_complete) return {};
    const AuditLevel level = holds_secrets(of) ? std::min(rule.level, AuditLevel::kMetadata) : rule.level;
    return {level, rule.omits_managed_fields};
  }
  return {};
}

AuditPolicy default_audit_policy() { return {{{.level = AuditLevel::kMetadata}}}; }

Result<AuditPolicy> read_audit_policy(const Json& policy) {
  TRY_VOID(check_members(policy, "the policy",
                         {"apiVersion", "kind", "metadata", "rules", "omitStages", "omitManagedFields"}));
  if (policy["apiVersion"].as_string() != "audit.k8s.io/v1" || policy["kind"].as_string() != "Policy")
    return wrong("the policy", base::format("it is {} of {}, not Policy of \"audit.k8s.io/v1\"", policy["kind"].dump(),
                                            policy["apiVersion"].dump()));
  if (!policy["rules"].is_null() && !policy["rules"].is_array())
    return wrong("rules", base::format("{} is not a list", policy["rules"].dump()));
  if (policy["rules"].empty()) return wrong("rules", "there are none");
  TRY(const bool omits, omits_complete(policy["omitStages"], "omitStages"));
  AuditPolicy out;
  for (const Json& json : policy["rules"].items()) {
    TRY(AuditRule rule, read_rule(json, base::format("rules[{}]", out.rules.size())));
    rule.omits_complete = rule.omits_complete || omits;
    if (!json.has("omitManagedFields")) rule.omits_managed_fields = policy["omitManagedFields"].as_bool();
    out.rules.push_back(std::move(rule));
  }
  return out;
}

Json audit_event(AuditRecord record) {
  const AuditLevel level = record.choice.level;
  Json event = Json::object({{"kind", "Event"},
                             {"apiVersion", "audit.k8s.io/v1"},
                             {"level", kLevels[static_cast<std::size_t>(level)]},
                             {"auditID", record.id},
                             {"stage", "ResponseComplete"},
                             {"requestURI", record.uri},
                             {"verb", record.of.verb},
                             {"user", user_json(record.user)}});
  if (record.impersonated) event.set("impersonatedUser", user_json(*record.impersonated));
  if (!record.source_ips.empty()) {
    Json addresses = Json::array();
    for (const std::string& one : record.source_ips) addresses.push_back(one);
    event.set("sourceIPs", std::move(addresses));
  }
  if (!record.user_agent.empty()) event.set("userAgent", record.user_agent);
  if (!record.of.resource.empty()) event.set("objectRef", reference(record));
  event.set("responseStatus", status_json(record));
  event.set("annotations", annotations(record));
  if (record.choice.omits_managed_fields)
    for (Json* object : {&record.request_object, &record.response_object}) drop_managed_fields(*object);
  if (level >= AuditLevel::kRequest && !record.request_object.is_null())
    event.set("requestObject", std::move(record.request_object));
  if (level >= AuditLevel::kRequestResponse && !record.response_object.is_null())
    event.set("responseObject", std::move(record.response_object));
  event.set("requestReceivedTimestamp", base::format_rfc3339_micro(record.received));
  event.set("stageTimestamp", base::format_rfc3339_micro(record.ended));
  return event;
}

}  // namespace apiserver
