// The users who are let in, as whom, and the names that a manager may have.
#include "apiserver/http/access.h"

#include <gtest/gtest.h>

#include "apiserver/http/pods/node_proxy.h"
#include "apiserver/http/route.h"
#include "apiserver/pipeline/write/manager_name.h"

namespace apiserver {
namespace {

using base::Code;

constexpr const char* kPods = "/api/v1/namespaces/n/pods";

rt::HttpRequest http(rt::Headers headers, std::string target = kPods) {
  rt::HttpRequest request;
  request.method = "GET";
  request.target = std::move(target);
  request.headers = std::move(headers);
  return request;
}

bool lets_in(const rt::HttpRequest& request) { return authenticate(request, "secret").ok(); }

TEST(Access, a_token_is_taken_with_bearer_in_any_case) {
  for (const char* scheme : {"Bearer", "bearer", "BEARER"})
    EXPECT_TRUE(lets_in(http({{"authorization", std::string(scheme) + "  secret "}})));
  for (const char* value : {"Bearer secre", "Bearer secrets", "Bearer", "Bearer ", "Basic secret", "secret", ""})
    EXPECT_FALSE(lets_in(http({{"Authorization", value}}))) << value;
  EXPECT_FALSE(authenticate(http({{"Authorization", "Bearer "}}), "").ok());
}

TEST(Access, browsers_give_the_token_as_a_subprotocol) {
  constexpr const char* kName = "Sec-WebSocket-Protocol";
  const std::string token = "base64url.bearer.authorization.k8s.io.c2VjcmV0";  // secret
  rt::HttpRequest request = http({{kName, token + ", v1 ,v2"}});
  EXPECT_FALSE(lets_in(request));  // no WebSocket
  request.web_socket = true;
  EXPECT_TRUE(lets_in(request));
  EXPECT_EQ(chosen_subprotocol(request), "v1");
  request.headers = {{kName, token}};
  EXPECT_FALSE(lets_in(request));
  request.headers = {{kName, token + "," + token + ",v1"}};
  EXPECT_FALSE(lets_in(request));
  request.headers = {{kName, "v1"}, {kName, token}};
  EXPECT_TRUE(lets_in(request));
}

// "name: groups", or the code of the error.
std::string acting(const UserInfo& user, rt::Headers headers) {
  const auto other = act_as(user, http(std::move(headers)));
  if (!other.ok()) return std::to_string(base::http_status(other.error().code));
  std::string text = other->name + ":";
  for (const std::string& group : other->groups) text += " " + group;
  return text;
}

TEST(Access, an_administrator_acts_as_others) {
  const UserInfo admin{"admin", {"system:masters"}}, jane{"jane", {"dev"}};
  EXPECT_EQ(acting(admin, {}), "admin: system:masters");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", "jane"}}), "jane: system:authenticated");
  EXPECT_EQ(acting(admin, {{"impersonate-group", "a"}, {"IMPERSONATE-USER", "jane"}, {"Impersonate-Group", "b"}}),
            "jane: a b system:authenticated");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", "system:serviceaccount:n:s"}}),
            "system:serviceaccount:n:s: system:serviceaccounts system:serviceaccounts:n system:authenticated");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", "system:anonymous"}}), "system:anonymous: system:unauthenticated");
  EXPECT_EQ(acting(admin, {{"Impersonate-Group", "a"}}), "400");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", ""}}), "400");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", "a"}, {"Impersonate-User", "b"}}), "400");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", "jane"}, {"Impersonate-Uid", "7"}, {"Impersonate-Uid", "8"}}), "400");
  EXPECT_EQ(acting(admin, {{"Impersonate-Extra-Scopes", "x"}}), "400");
  EXPECT_EQ(acting(admin, {{"Impersonate-User", "jane"}, {"Impersonate-Else", "x"}}), "400");
  EXPECT_EQ(acting(jane, {{"Impersonate-User", "admin"}, {"Impersonate-Group", "system:masters"}}), "403");
}

TEST(Access, uids_and_extras_are_taken_too) {
  const auto other = act_as({"admin", {"system:masters"}}, http({{"Impersonate-User", "jane"},
                                                                 {"Impersonate-Uid", "7"},
                                                                 {"Impersonate-Extra-Example.com%2fScopes", "a"},
                                                                 {"impersonate-extra-example.com%2Fscopes", "b"}}));
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(other->uid, "7");
  EXPECT_EQ(other->extra, (std::vector<std::pair<std::string, std::string>>{{"example.com/scopes", "a"},
                                                                            {"example.com/scopes", "b"}}));
}

std::shared_ptr<const RoleSubjects> only_user(std::string name) {
  return std::make_shared<const RoleSubjects>(RoleSubjects{{std::move(name)}, {}});
}

TEST(Access, a_role_lets_act_as_whom_it_names) {
  const auto rules = [](std::vector<RoleRule> list) {
    return std::make_shared<const std::vector<RoleRule>>(std::move(list));
  };
  const RoleSet roles{{{"", only_user("bot"),
                        rules({{{"impersonate"}, {""}, {"users"}, {"jane"}, {}},
                               {{"impersonate"}, {""}, {"groups"}, {"dev"}, {}},
                               {{"impersonate"}, {"authentication.k8s.io"}, {"uids"}, {"7"}, {}},
                               {{"impersonate"}, {"authentication.k8s.io"}, {"userextras/scopes"}, {"x"}, {}}})},
                       {"n", only_user("bot"), rules({{{"impersonate"}, {""}, {"serviceaccounts"}, {}, {}}})}}};
  const auto refusal_of = [&roles](rt::Headers headers) {
    const auto other = act_as({"bot", {}}, http(std::move(headers)), roles);
    return other.ok() ? other->name : other.error().message;
  };
  const std::pair<std::string, std::string> jane{"Impersonate-User", "jane"};
  EXPECT_EQ(
      refusal_of({jane, {"Impersonate-Group", "dev"}, {"Impersonate-Uid", "7"}, {"Impersonate-Extra-Scopes", "x"}}),
      "jane");
  EXPECT_EQ(refusal_of({{"Impersonate-User", "ann"}}),
            "users \"ann\" is forbidden: User \"bot\" cannot impersonate resource \"users\" in API group \"\" at the "
            "cluster scope");
  EXPECT_EQ(refusal_of({jane, {"Impersonate-Group", "system:masters"}}),
            "groups \"system:masters\" is forbidden: User \"bot\" cannot impersonate resource \"groups\" in API group "
            "\"\" at the cluster scope");
  EXPECT_EQ(refusal_of({jane, {"Impersonate-Uid", "8"}}),
            "uids.authentication.k8s.io \"8\" is forbidden: User \"bot\" cannot impersonate resource \"uids\" in API "
            "group \"authentication.k8s.io\" at the cluster scope");
  EXPECT_EQ(refusal_of({jane, {"Impersonate-Extra-Scopes", "y"}}),
            "userextras.authentication.k8s.io \"y\" is forbidden: User \"bot\" cannot impersonate resource "
            "\"userextras/scopes\" in API group \"authentication.k8s.io\" at the cluster scope");
  EXPECT_EQ(refusal_of({{"Impersonate-User", "system:serviceaccount:n:s"}}), "system:serviceaccount:n:s");
  EXPECT_EQ(refusal_of({{"Impersonate-User", "system:serviceaccount:n:s:t"}}),
            "users \"system:serviceaccount:n:s:t\" is forbidden: User \"bot\" cannot impersonate resource \"users\" in "
            "API group \"\" at the cluster scope");
  EXPECT_EQ(refusal_of({{"Impersonate-User", "system:serviceaccount:m:s"}}),
            "serviceaccounts \"s\" is forbidden: User \"bot\" cannot impersonate resource \"serviceaccounts\" in API "
            "group \"\" in the namespace \"m\"");
}

std::string refused(const char* method, const std::string& target) {
  rt::HttpRequest request = http({}, target);
  request.method = method;
  const base::Status status = authorize({"jane", {"dev"}}, request, rt::parse_target(target));
  return status.ok() ? "let in" : status.error().message;
}

TEST(Access, others_are_refused_in_kubernetes_words) {
  EXPECT_TRUE(authorize({"x", {"system:masters"}}, http({}), rt::parse_target(kPods)).ok());
  EXPECT_EQ(refused("GET", kPods),
            "pods is forbidden: User \"jane\" cannot list resource \"pods\" in API group \"\" in the namespace \"n\"");
  EXPECT_EQ(refused("POST", std::string(kPods) + "/p/binding"),
            "pods \"p\" is forbidden: User \"jane\" cannot create resource \"pods/binding\" in API group \"\" in the "
            "namespace \"n\"");
  EXPECT_EQ(refused("GET", "/apis/scheduling.volcano.sh/v1beta1/queues?watch=1"),
            "queues.scheduling.volcano.sh is forbidden: User \"jane\" cannot watch resource \"queues\" in API group "
            "\"scheduling.volcano.sh\" at the cluster scope");
  EXPECT_EQ(refused("GET", "/metrics"), "forbidden: User \"jane\" cannot get path \"/metrics\"");
}

TEST(Access, paths_of_kinds_that_are_not_served_are_those_of_resources) {
  const auto rules = std::make_shared<const std::vector<RoleRule>>(std::vector<RoleRule>{
      {{"get"}, {}, {}, {}, {"/apis", "/apis/*", "/api/*"}}, {{"list"}, {"acme.io"}, {"widgets"}, {}, {}}});
  const RoleSet roles{{{"", only_user("jane"), rules}}};
  const auto refusal_of = [&](const char* method, const std::string& target) {
    rt::HttpRequest request = http({}, target);
    request.method = method;
    const base::Status status = authorize({"jane", {}}, request, rt::parse_target(target), roles);
    return status.ok() ? std::string("let in") : status.error().message;
  };
  for (const char* open : {"/apis", "/apis/acme.io", "/apis/acme.io/v1", "/apis/acme.io/v1/", "/api/v1"})
    EXPECT_EQ(refusal_of("GET", open), "let in") << open;
  EXPECT_EQ(refusal_of("GET", "/apis/acme.io/v1/widgets"), "let in");
  EXPECT_EQ(refusal_of("GET", "/apis/acme.io/v1/namespaces/n/widgets"), "let in");
  EXPECT_EQ(refusal_of("GET", "/apis/acme.io/v1/widgets?watch=1"),
            "widgets.acme.io is forbidden: User \"jane\" cannot watch resource \"widgets\" in API group \"acme.io\" at "
            "the cluster scope");
  for (const char* watch : {"/apis/acme.io/v1/watch/widgets", "/apis/acme.io/v1/watch/namespaces/n/widgets",
                            "/apis/acme.io/v1/namespaces/n/widgets/a?watch=true"})
    EXPECT_NE(refusal_of("GET", watch).find("cannot watch resource \"widgets\""), std::string::npos)
        << refusal_of("GET", watch);
  EXPECT_EQ(
      refusal_of("GET", "/apis/acme.io/v1//things"),
      "things.acme.io is forbidden: User \"jane\" cannot list resource \"things\" in API group \"acme.io\" at the "
      "cluster scope");
  EXPECT_EQ(refusal_of("DELETE", "/apis/acme.io/v1/namespaces/n/widgets/a/scale"),
            "widgets.acme.io \"a\" is forbidden: User \"jane\" cannot delete resource \"widgets/scale\" in API group "
            "\"acme.io\" in the namespace \"n\"");
  EXPECT_EQ(refusal_of("GET", "/api/v1/nothings/a"),
            "nothings \"a\" is forbidden: User \"jane\" cannot get resource \"nothings\" in API group \"\" at the "
            "cluster scope");
}

// "VERB NAMESPACE/NAME" of what is asked for.
std::string attributes_text(const char* method, const std::string& target) {
  rt::HttpRequest request = http({}, target);
  request.method = method;
  const Attributes of = attributes_of(request, rt::parse_target(target));
  return of.verb + " " + of.ns + "/" + of.name;
}

TEST(Access, a_request_is_for_the_namespace_and_the_name_that_a_stock_server_reads) {
  const struct Row {
    const char *method, *target, *attributes_text;
  } rows[] = {
      {"GET", "/api/v1/namespaces/n", "get n/n"},
      {"PUT", "/api/v1/namespaces/n/finalize", "update n/n"},
      {"PATCH", "/api/v1/namespaces/n/status", "patch n/n"},
      {"DELETE", "/api/v1/namespaces/n", "delete n/n"},
      {"POST", "/api/v1/namespaces", "create /"},
      {"GET", "/api/v1/namespaces?fieldSelector=metadata.name%3Dn", "list /n"},
      {"GET", "/api/v1/nodes/n", "get /n"},
      {"GET", "/api/v1/namespaces/n/secrets?fieldSelector=metadata.name%3Da", "list n/a"},
      {"GET", "/api/v1/namespaces/n/secrets?watch=1&fieldSelector=type%3DOpaque,metadata.name%3D%3Da", "watch n/a"},
      {"GET", "/api/v1/watch/namespaces/n/secrets/a", "watch n/a"},
      {"GET", "/api/v1/namespaces/n/pods/p/status?watch=1", "get n/p"},
      {"GET", "/apis/acme.io/v1/namespaces/n/widgets?fieldSelector=metadata.name%3Da", "list n/a"},
      {"GET", "/api/v1/namespaces/n/secrets?fieldSelector=metadata.name!%3Da", "list n/"},
      {"GET", "/api/v1/namespaces/n/secrets?fieldSelector=metadata.names%3Da", "list n/"},
      {"GET", "/api/v1/namespaces/n/secrets?fieldSelector=metadata.name%3D..", "list n/"},
      {"GET", "/api/v1/namespaces/n/secrets?fieldSelector=metadata.name%3Da%252fb", "list n/"},
      {"GET", "/api/v1/namespaces/n/secrets/b?fieldSelector=metadata.name%3Da", "get n/b"},
      {"DELETE", "/api/v1/namespaces/n/secrets?fieldSelector=metadata.name%3Da", "deletecollection n/"},
      {"DELETE", "/apis/acme.io/v1/namespaces/n/widgets?fieldSelector=metadata.name%3Da", "deletecollection n/"},
  };
  for (const Row& row : rows)
    EXPECT_EQ(attributes_text(row.method, row.target), row.attributes_text) << row.method << " " << row.target;
}

TEST(NodeProxy, asks_for_the_rights_that_a_kubelet_asks_for) {
  const auto lets_in = [](const char* subresource, const std::string& page) {
    const auto rules = std::make_shared<const std::vector<RoleRule>>(
        std::vector<RoleRule>{{{"get"}, {""}, {std::string("nodes/") + subresource}, {}, {}}});
    const std::string target = "/api/v1/nodes/n1/proxy" + page;
    return authorize({"jane", {}}, http({}, target), rt::parse_target(target),
                     RoleSet{{{"", only_user("jane"), rules}}})
        .ok();
  };
  const char* pages[] = {"/stats/summary", "/metrics/resource", "/metrics/cadvisor", "/healthz", ""};
  for (const char* page : pages) EXPECT_TRUE(lets_in("proxy", page)) << page;
  for (const char* page : pages) EXPECT_FALSE(lets_in("status", page)) << page;
  for (const char* page : pages)
    EXPECT_EQ(lets_in("stats", page), std::string_view(page).starts_with("/stats")) << page;
  for (const char* page : pages)
    EXPECT_EQ(lets_in("metrics", page), std::string_view(page).starts_with("/metrics")) << page;
  EXPECT_FALSE(lets_in("stats", "/statistics"));
  EXPECT_EQ(proxied_path("/api/v1/nodes/n1/proxy"), "/");
  EXPECT_EQ(proxied_path("/api/v1/nodes/n1/proxy/metrics/cadvisor"), "/metrics/cadvisor");
}

TEST(ManagerNames, are_printable_and_short) {
  EXPECT_EQ(manager_of("kubectl/v1.36 (linux)"), "kubectl");
  EXPECT_EQ(manager_of(""), "unknown");
  EXPECT_EQ(manager_of("/x"), "unknown");
  EXPECT_EQ(manager_of("a\x01"
                       "b\xE2\x80\x8B"
                       "c"),
            "abc");  // control and zero-width characters
  EXPECT_EQ(manager_of("\xFF"), "\xEF\xBF\xBD");
  std::string long_name;
  for (int i = 0; i < 100; ++i) long_name += "\xE2\x82\xAC";  // three bytes each: 42 fit
  EXPECT_EQ(manager_of(long_name), long_name.substr(0, 126));
  EXPECT_TRUE(is_printable("ein N\xC3\xA4me"));
  for (const char* bad : {"\n", "\x7F", "\xC2\x85", "\xC2\xA0", "\xE2\x80\xA8", "\xEE\x80\x80", "\xFF"})
    EXPECT_FALSE(is_printable(bad)) << bad;
}

TEST(Numbers, fit_or_are_named) {
  EXPECT_EQ(*parse_number("limit", "9223372036854775807"), INT64_MAX);
  EXPECT_EQ(*parse_number("limit", "-1"), -1);
  for (const char* bad : {"9223372036854775808", "", " 1", "1 ", "0x1", "1e3", "+1"}) {
    const auto read = parse_number("limit", bad);
    ASSERT_FALSE(read.ok()) << bad;
    EXPECT_EQ(read.error().code, Code::kBadRequest);
    EXPECT_NE(read.error().message.find("limit: invalid value \"" + std::string(bad) + "\""), std::string::npos);
  }
}

TEST(Statuses, always_have_details) {
  EXPECT_TRUE(status_object(bad_request("x"))["details"].is_object());
  EXPECT_TRUE(status_object(base::make_error(Code::kNotFound, "x"))["details"].is_object());
}

}  // namespace
}  // namespace apiserver
