// Answers to reviews, and the rule that nobody gives what they do not have.
#include "apiserver/pipeline/rights/reviews.h"

#include <algorithm>
#include <string>

#include "api/policies/policy.h"
#include "apiserver/kinds/signing_requests.h"
#include "base/format.h"
#include "base/letters.h"

namespace apiserver {

using api::Json;
using base::Code;
using base::Result;

namespace {

constexpr std::string_view kRoleGroup = "rbac.authorization.k8s.io";
constexpr std::size_t kGroupsMax = 1000;  // that a review asks about: each is held against every binding

template <class List>
Json strings(const List& list) {
  Json json = Json::array();
  for (const auto& item : list) json.push_back(item);
  return json;
}

Result<Attributes> attributes_in(const Json& spec) {
  const Json &resource = spec["resourceAttributes"], &path = spec["nonResourceAttributes"];
  if (resource.is_null() == path.is_null())
    return bad_request(
        "spec.resourceAttributes: exactly one of resourceAttributes and nonResourceAttributes must be given");
  Attributes wanted;
  if (!path.is_null()) {
    wanted.verb = path["verb"].str();
    wanted.path = path["path"].str().empty() ? "/" : path["path"].str();
    return wanted;
  }
  wanted.verb = resource["verb"].str();
  wanted.group = resource["group"].str();
  wanted.resource = resource["resource"].str();
  wanted.subresource = resource["subresource"].str();
  wanted.ns = resource["namespace"].str();
  wanted.name = resource["name"].str();
  return wanted;
}

Result<Json> access_review(const Request& request, const RoleSet& roles, bool self) {
  const Json& spec = request.body["spec"];
  TRY(const Attributes wanted, attributes_in(spec));
  UserInfo user = request.user;
  if (!self) {
    user = {spec["user"].str(), {}};
    if (const std::size_t groups = spec["groups"].size(); groups > kGroupsMax)
      return bad_request(base::format("spec.groups: Too many: {}: must have at most {} items", groups, kGroupsMax));
    for (const Json& group : spec["groups"].items()) user.groups.push_back(group.str());
    if (user.name.empty() && user.groups.empty())
      return bad_request("spec.user: at least one of user and groups must be given");
  }
  if (request.kind->namespaced && wanted.ns != request.ns)
    return bad_request(base::format(
        "spec.resourceAttributes.namespace: Invalid value: {:?}: must match metadata.namespace", wanted.ns));
  return Json::object({{"allowed", roles.allows(user, wanted)}});
}

Json rules_review(const Request& request, const RoleSet& roles) {
  Json resources = Json::array(), paths = Json::array();
  for (const RoleRule& rule : roles.rules_of(request.user, request.body["spec"]["namespace"].as_string())) {
    Json row = Json::object({{"verbs", strings(rule.verbs)}});
    if (!rule.urls.empty()) {
      row.set("nonResourceURLs", strings(rule.urls));
      paths.push_back(std::move(row));
      continue;
    }
    row.set("apiGroups", strings(rule.groups));
    row.set("resources", strings(rule.resources));
    if (!rule.names.empty()) row.set("resourceNames", strings(rule.names));
    resources.push_back(std::move(row));
  }
  return Json::object(
      {{"resourceRules", std::move(resources)}, {"nonResourceRules", std::move(paths)}, {"incomplete", false}});
}

Json token_review(const Request& request, const Lookups& objects, const AccountTokens* tokens, base::Time now) {
  const Json& spec = request.body["spec"];
  const auto refused = [](std::string why) {
    return Json::object({{"authenticated", false}, {"error", std::move(why)}});
  };
  if (tokens == nullptr) return refused("there are no tokens here");
  const auto claims = tokens->read(spec["token"].as_string(), now);
  if (!claims.ok()) return refused(claims.error().message);
  if (!holds(*claims, objects, now)) return refused("the token's account, or what it is bound to, is gone");
  Json audiences = Json::array();
  Json asked = spec["audiences"];
  if (asked.empty()) asked = Json::array({Json(kTokenIssuer)});
  for (const Json& one : asked.items())
    if (std::ranges::find(claims->audiences, one.as_string()) != claims->audiences.end()) audiences.push_back(one);
  if (audiences.empty()) return refused("the token is for other audiences");
  return Json::object(
      {{"authenticated", true}, {"user", user_json(claims->user())}, {"audiences", std::move(audiences)}});
}

base::Error forbidden(const Request& request, std::string_view name, const std::string& why) {
  base::Error error = base::make_error(
      Code::kForbidden, base::format("{} \"{}\" is forbidden: {}", api::qualified_plural(*request.kind), name, why));
  error.group = request.kind->resource.group;
  error.kind = request.kind->resource.plural;
  error.name = name;
  return error;
}

base::Status check_binding(const Request& request, const Json& object, const RoleBook& book, RoleRules& wanted) {
  const Json& role = object["roleRef"];
  const bool of_cluster = role["kind"].as_string() == "ClusterRole";
  const Attributes bind{
      "bind", std::string(kRoleGroup), of_cluster ? "clusterroles" : "roles", "", request.ns, role["name"].str(), ""};
  if (book.current()->allows(request.user, bind)) return {};
  wanted = book.rules_of(object);
  if (wanted) return {};
  return not_found(*api::find_kind(kRoleGroup, "v1", bind.resource), bind.name);
}

}  // namespace

Json user_json(const UserInfo& user) {
  Json json = Json::object({{"username", user.name}});
  if (!user.uid.empty()) json.set("uid", user.uid);
  json.set("groups", strings(user.groups));
  if (user.extra.empty()) return json;
  Json extra = Json::object();
  for (const auto& [key, value] : user.extra) {
    if (!extra.has(key)) extra.set(key, Json::array());
    extra.edit(key).push_back(value);
  }
  json.set("extra", std::move(extra));
  return json;
}

std::shared_ptr<const api::cel::AccessJudge> access_judge(const UserInfo& user, std::shared_ptr<const RoleSet> roles) {
  const std::size_t grants = roles->grants.size();
  auto may = [user, roles = std::move(roles)](const api::cel::AccessAccount& account,
                                              const api::cel::AccessQuestion& asked) {
    const Attributes wanted{asked.verb, asked.group, asked.resource, asked.subresource,
                            asked.ns,   asked.name,  asked.path};
    if (account.name.empty()) return roles->allows(user, wanted);
    const UserInfo other{"system:serviceaccount:" + account.ns + ":" + account.name,
                         {"system:serviceaccounts", "system:serviceaccounts:" + account.ns, "system:authenticated"}};
    return roles->allows(other, wanted);
  };
  return std::make_shared<const api::cel::AccessJudge>(api::cel::AccessJudge{std::move(may), grants});
}

bool is_review(const api::KindInfo& kind) {
  return kind.resource.group == "authorization.k8s.io" || kind.resource.group == "authentication.k8s.io";
}

Result<Json> review(const Request& request, const RoleSet& roles, const Lookups& objects, const AccountTokens* tokens,
                    base::Time now) {
  const std::string& kind = request.kind->kind;
  if (!request.body.is_object()) return bad_request(kind + ": the body is not an object");
  Json answer = request.body;
  answer.set("kind", kind);
  answer.set("apiVersion", request.kind->resource.api_version());
  if (!answer["metadata"].is_object()) answer.set("metadata", Json::object());
  Json status;
  if (kind == "SelfSubjectReview") {
    status = Json::object({{"userInfo", user_json(request.user)}});
  } else if (kind == "TokenReview") {
    status = token_review(request, objects, tokens, now);
    answer.set("spec", Json::object());  // tokens are not said back
  } else if (kind == "SelfSubjectRulesReview") {
    status = rules_review(request, roles);
  } else {
    TRY(status, access_review(request, roles, kind == "SelfSubjectAccessReview"));
  }
  answer.set("status", std::move(status));
  return answer;
}

namespace {

// Without what the garbage collector and the server write.
Json without_ends(Json object) {
  for (const char* field : {"ownerReferences", "finalizers", "managedFields", "resourceVersion", "generation"})
    object.edit("metadata").erase(field);
  return object;
}

// A user who approves, or hands in a certificate, needs a right over the signer, by its name or its domain.
base::Status check_signer(const Request& request, const Json& object, const RoleBook& book, const Lookups& objects) {
  const store::ObjectPtr stored = objects.stored(request.resource, request.ns, api::name_of(object));
  const auto wanted = signer_action(request.subresource, stored ? stored->json() : Json(), object);
  if (!wanted || is_administrator(request.user)) return {};
  const std::string domain = wanted->signer.substr(0, wanted->signer.find('/')) + "/*";
  for (const std::string& name : {wanted->signer, domain}) {
    const Attributes attributes{wanted->verb, "certificates.k8s.io", "signers", "", "", name, ""};
    if (book.current()->allows(request.user, attributes)) return {};
  }
  return forbidden(
      request, api::name_of(object),
      base::format("user not permitted to {} requests with signerName {:?}", wanted->verb, wanted->signer));
}

// Queues belong to no namespace: who may not change one may not have it opened or closed either.
base::Status check_command(const Request& request, const Json& object, const RoleBook& book) {
  if (object["target"]["kind"].as_string() != "Queue" || is_administrator(request.user)) return {};
  const std::string queue = object["target"]["name"].str();
  const api::ResourceId& queues = api::resources::kQueues;
  if (book.current()->allows(request.user, {"update", queues.group, queues.plural, "", "", queue, ""})) return {};
  return forbidden(request, api::name_of(object), base::format("user not permitted to update queue {:?}", queue));
}

// The resource of a kind that parameters have: a stock one, or by its name, as clients guess it.
api::ResourceId resource_of_params(const Json& kind) {
  const std::string api_version = kind["apiVersion"].str(), name = kind["kind"].str();
  for (const api::KindInfo& one : api::all_kinds())
    if (one.kind == name && one.resource.api_version() == api_version) return one.resource;
  const std::size_t slash = api_version.find('/');
  std::string plural = base::lower(name);
  plural += plural.ends_with('s') ? "es" : "s";
  if (plural.ends_with("ys")) plural.replace(plural.size() - 2, 2, "ies");
  return {slash == std::string::npos ? "" : api_version.substr(0, slash), api_version.substr(slash + 1), plural};
}

// The words of a policy's expressions about its parameters reach whoever is refused: who writes it must be allowed to
// read them, all of the kind for a policy, and those that are named for a binding.
base::Status check_params(const Request& request, const Json& object, const RoleBook& book, const Lookups& objects) {
  if (is_administrator(request.user)) return {};
  const bool binds = request.kind->kind.ends_with("Binding");
  const store::ObjectPtr stored = objects.stored(request.resource, request.ns, api::name_of(object));
  const Json before = stored ? stored->json() : Json();
  const char* field = binds ? "paramRef" : "paramKind";
  const Json& given = object["spec"][field];
  const bool same = stored && before["spec"][field] == given &&
                    (!binds || before["spec"]["policyName"] == object["spec"]["policyName"]);
  if (!given.is_object() || same) return {};
  Attributes wanted{"get", "*", "*", "", "*", "*", ""};
  Json kind = given;
  if (binds) {
    const bool mutates = request.kind->kind.starts_with("Mutating");
    const api::KindInfo* policies =
        api::find_kind(mutates ? api::policies::kMutatingPolicies : api::policies::kValidatingPolicies);
    const auto index = static_cast<std::uint32_t>(policies - api::all_kinds().data());
    const store::ObjectPtr policy = objects.stored(index, "", object["spec"]["policyName"].as_string());
    kind = policy ? policy->json()["spec"]["paramKind"] : Json();
    if (const std::string name = given["name"].str(); !name.empty()) wanted.name = name;
    if (const std::string ns = given["namespace"].str(); !ns.empty()) wanted.ns = ns;
  }
  if (kind.is_object()) {
    const api::ResourceId resource = resource_of_params(kind);
    wanted.group = resource.group;
    wanted.resource = resource.plural;
  }
  if (book.current()->allows(request.user, wanted)) return {};
  return forbidden(request, api::name_of(object),
                   base::format("user {:?} does not have \"get\" permission on the object referenced by {}: {}",
                                request.user.name, field, given.dump()));
}

}  // namespace

base::Status check_rights_given(const Request& request, const Json& object, const RoleBook& book,
                                const Lookups& objects) {
  if (is_signing_request(*request.kind)) return check_signer(request, object, book, objects);
  if (request.kind->resource == api::resources::kCommands) return check_command(request, object, book);
  if (api::policies::is_policy_kind(request.kind->resource)) return check_params(request, object, book, objects);
  if (request.kind->resource.group != kRoleGroup) return {};
  const store::ObjectPtr stored = objects.stored(request.resource, request.ns, api::name_of(object));
  const Json before = stored ? stored->json() : Json();
  const bool binds = request.kind->kind.ends_with("Binding");
  if (binds && stored && before["roleRef"] != object["roleRef"])
    return invalid(*request.kind, api::name_of(object),
                   {{"FieldValueInvalid",
                     base::format("Invalid value: {}: cannot change roleRef", object["roleRef"].dump()), "roleRef"}});
  if (is_administrator(request.user)) return {};
  RoleRules wanted;
  // A label can make a role part of another one: only what concerns its own end changes nothing.
  if (stored && without_ends(before) == without_ends(object)) return {};
  if (binds) {
    TRY_VOID(check_binding(request, object, book, wanted));
  } else {
    const Attributes escalate{"escalate",
                              std::string(kRoleGroup),
                              request.kind->resource.plural,
                              "",
                              request.ns,
                              std::string(api::name_of(object)),
                              ""};
    if (book.current()->allows(request.user, escalate)) return {};
    wanted = role_rules(object);
  }
  if (!wanted) return {};
  const std::vector<RoleRule> owned = book.current()->rules_of(request.user, request.ns);
  // Such a role gathers whatever others are labelled for it.
  const std::vector<RoleRule> everything{{{"*"}, {"*"}, {"*"}, {}, {}}, {{"*"}, {}, {}, {}, {"*"}}};
  if (!object["aggregationRule"].is_null() && !uncovered(owned, everything).empty())
    return forbidden(request, api::name_of(object), "must have cluster-admin privileges to use an aggregationRule");
  const std::string missing = uncovered(owned, *wanted);
  if (missing.empty()) return {};
  std::string groups;
  for (const std::string& group : request.user.groups) groups += (groups.empty() ? "\"" : " \"") + group + "\"";
  return forbidden(
      request, api::name_of(object),
      base::format("user \"{}\" (groups=[{}]) is attempting to grant RBAC permissions not currently held:\n{}",
                   request.user.name, groups, missing));
}

}  // namespace apiserver
