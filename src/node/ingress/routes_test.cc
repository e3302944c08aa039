// Kubernetes' documented examples of paths and hosts, and what namespaces keep from one another.
#include "node/ingress/routes.h"

#include <gtest/gtest.h>

#include "api/json/json.h"
#include "base/format.h"
#include "node/ingress/door.h"

namespace node::ingress {
namespace {

using api::Json;

// "Prefix /foo" as a rule without a host, whose Service has the place in the list as its port.
Json with_paths(const std::vector<std::pair<std::string, std::string>>& paths, const std::string& ns = "a",
                const std::string& host = "") {
  Json rows = Json::array({});
  std::int64_t port = 0;
  for (const auto& [type, path] : paths)
    rows.push_back(Json::object(
        {{"path", path},
         {"pathType", type},
         {"backend",
          Json::object(
              {{"service", Json::object({{"name", ns}, {"port", Json::object({{"number", Json(++port)}})}})}})}}));
  Json rule = Json::object({{"http", Json::object({{"paths", rows}})}});
  if (!host.empty()) rule.set("host", host);
  return Json::object({{"metadata", Json::object({{"name", "i-" + ns}, {"namespace", ns}})},
                       {"spec", Json::object({{"rules", Json::array({rule})}})}});
}

std::string found(const Routes& routes, std::string_view host, std::string_view path) {
  const Backend* backend = routes.find(host, path);
  return backend == nullptr ? "none" : base::format("{}:{}", backend->service, backend->port);
}

TEST(IngressRoutes, match_paths_as_documented) {
  struct Row {
    std::vector<std::pair<std::string, std::string>> paths;
    std::string asked;
    int place;  // from 1; 0: none
  };
  // The table of "Ingress: path types" in Kubernetes' documentation.
  const std::vector<Row> rows = {
      {{{"Prefix", "/"}}, "/any/path", 1},
      {{{"Exact", "/foo"}}, "/foo", 1},
      {{{"Exact", "/foo"}}, "/bar", 0},
      {{{"Exact", "/foo"}}, "/foo/", 0},
      {{{"Exact", "/foo/"}}, "/foo", 0},
      {{{"Prefix", "/foo"}}, "/foo", 1},
      {{{"Prefix", "/foo"}}, "/foo/", 1},
      {{{"Prefix", "/foo/"}}, "/foo", 1},
      {{{"Prefix", "/foo/"}}, "/foo/", 1},
      {{{"Prefix", "/aaa/bb"}}, "/aaa/bbb", 0},
      {{{"Prefix", "/aaa/bbb"}}, "/aaa/bbb", 1},
      {{{"Prefix", "/aaa/bbb/"}}, "/aaa/bbb", 1},
      {{{"Prefix", "/aaa/bbb"}}, "/aaa/bbb/", 1},
      {{{"Prefix", "/aaa/bbb"}}, "/aaa/bbb/ccc", 1},
      {{{"Prefix", "/aaa/bbb"}}, "/aaa/bbbxyz", 0},
      {{{"Prefix", "/"}, {"Prefix", "/aaa"}}, "/aaa/ccc", 2},
      {{{"Prefix", "/"}, {"Prefix", "/aaa"}, {"Prefix", "/aaa/bbb"}}, "/aaa/bbb", 3},
      {{{"Prefix", "/"}, {"Prefix", "/aaa"}, {"Prefix", "/aaa/bbb"}}, "/ccc", 1},
      {{{"Prefix", "/aaa"}}, "/ccc", 0},
      {{{"Prefix", "/foo"}, {"Exact", "/foo"}}, "/foo", 2},
      // Beyond it.
      {{{"Prefix", "/foo"}}, "/FOO", 0},
      {{{"ImplementationSpecific", "/foo"}, {"Prefix", "/foo"}}, "/foo", 2},
      {{{"ImplementationSpecific", ""}}, "/x", 1},
      {{{"Prefix", "/a b"}}, "/a%20b/c", 1},
      {{{"Prefix", "/a/b"}}, "/a%2Fb", 0},
  };
  for (const Row& row : rows) {
    const Json ingress = with_paths(row.paths);
    EXPECT_EQ(found(Routes({&ingress}), "x", row.asked), row.place == 0 ? "none" : base::format("a:{}", row.place))
        << row.paths.back().first << " " << row.paths.back().second << " asked for " << row.asked;
  }
}

TEST(IngressRoutes, match_hosts_as_documented) {
  struct Row {
    std::string rule, asked;
    bool is_found;
  };
  const std::vector<Row> rows = {
      {"foo.bar.com", "foo.bar.com", true},
      {"foo.bar.com", "FOO.bar.com:8080", true},
      {"foo.bar.com", "foo.bar.com.", true},
      {"foo.bar.com", "bar.com", false},
      {"*.foo.com", "bar.foo.com", true},
      {"*.foo.com", "baz.bar.foo.com", false},
      {"*.foo.com", "foo.com", false},
      {"*.foo.com", "*.foo.com", false},
      {"*.foo.com", "", false},
  };
  for (const Row& row : rows) {
    const Json ingress = with_paths({{"Prefix", "/"}}, "a", row.rule);
    EXPECT_EQ(found(Routes({&ingress}), row.asked, "/") != "none", row.is_found) << row.rule << " " << row.asked;
  }
}

TEST(IngressRoutes, have_default_backends) {
  Json alone = Json::object({{"metadata", Json::object({{"name", "d"}, {"namespace", "d"}})}});
  alone.edit("spec").set(
      "defaultBackend",
      Json::object({{"service", Json::object({{"name", "d"}, {"port", Json::object({{"name", "http"}})}})}}));
  const Json other = with_paths({{"Prefix", "/foo"}}, "a", "h");
  const Routes routes({&alone, &other});
  EXPECT_EQ(found(routes, "h", "/foo"), "a:1");
  EXPECT_EQ(found(routes, "h", "/bar"), "none") << "the host is another namespace's";
  EXPECT_EQ(found(routes, "x", "/bar"), "d:0");
  EXPECT_EQ(routes.find("x", "/")->port_name, "http");
}

TEST(IngressRoutes, keep_namespaces_apart) {
  Json old = with_paths({{"Prefix", "/app"}}, "z", "h.com"), young = with_paths({{"Prefix", "/login"}}, "a", "h.com");
  old.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
  young.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:01Z");
  const Routes routes({&young, &old});
  EXPECT_EQ(found(routes, "h.com", "/app"), "z:1");
  EXPECT_EQ(found(routes, "h.com", "/login"), "none");
  ASSERT_EQ(routes.refused().size(), 1U);
  EXPECT_EQ(routes.refused()[0].ingress, "a/i-a");
  EXPECT_EQ(routes.refused()[0].why, "spec.rules[0].host: \"h.com\" is a host of namespace z, whose Ingress is older");
  EXPECT_EQ(routes.served(), std::vector<std::string>{"z/i-z"});
}

TEST(IngressRoutes, keep_hosts_below_a_wildcard) {
  Json old = with_paths({{"Prefix", "/"}}, "z", "*.h.com"), young = with_paths({{"Prefix", "/"}}, "a", "x.h.com");
  old.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
  young.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:01Z");
  EXPECT_EQ(found(Routes({&young, &old}), "x.h.com", "/"), "z:1");
  // The other way round both have theirs.
  young.edit("metadata").set("creationTimestamp", "2025-01-01T00:00:01Z");
  EXPECT_EQ(found(Routes({&young, &old}), "x.h.com", "/"), "a:1");
  EXPECT_EQ(found(Routes({&young, &old}), "y.h.com", "/"), "z:1");
}

TEST(IngressRoutes, keep_paths_without_a_host) {
  struct Row {
    std::string old, young;
    bool is_refused;
  };
  const std::vector<Row> rows = {{"Prefix /app", "Prefix /app", true},
                                 {"Prefix /app", "Exact /app/login", true},
                                 {"Prefix /", "Prefix /app", true},
                                 {"Prefix /app", "Prefix /other", false},
                                 {"Prefix /app", "Prefix /", false},
                                 {"Exact /app", "Prefix /app", false},
                                 {"Exact /app", "Exact /app", true},
                                 {"Prefix /app", "Prefix /apple", false},
                                 {"Prefix /app", "ImplementationSpecific /app/x", true}};
  for (const Row& row : rows) {
    const auto pair = [](const std::string& text) {
      return std::pair(text.substr(0, text.find(' ')), text.substr(text.find(' ') + 1));
    };
    Json old = with_paths({pair(row.old)}, "z"), young = with_paths({pair(row.young)}, "a");
    old.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
    young.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:01Z");
    EXPECT_EQ(!Routes({&young, &old}).refused().empty(), row.is_refused) << row.old << ", " << row.young;
  }
}

TEST(IngressRoutes, keep_certificates_with_their_hosts) {
  Json old = with_paths({{"Prefix", "/"}}, "z", "h.com"), young = with_paths({{"Prefix", "/"}}, "a", "own.com");
  old.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:00Z");
  young.edit("metadata").set("creationTimestamp", "2026-01-01T00:00:01Z");
  young.edit("spec").set(
      "tls",
      Json::array({Json::object({{"hosts", Json::array({Json("h.com"), Json("own.com")})}, {"secretName", "mine"}})}));
  const Routes routes({&young, &old});
  ASSERT_EQ(routes.tls().size(), 1U);
  EXPECT_EQ(routes.tls()[0].host, "own.com");
  EXPECT_EQ(routes.refused().size(), 1U);
}

TEST(IngressRoutes, send_plain_requests_of_hosts_with_tls_to_its_port) {
  struct Row {
    std::string hosts, annotations, asked;
    bool https_only;
  };
  const std::vector<Row> rows = {
      {R"(["a.test"])", "{}", "a.test", true},
      {R"(["other.test"])", "{}", "a.test", false},
      {R"(["*.test"])", "{}", "a.test", true},
      {R"(["*.a.test"])", "{}", "a.test", false},
      {"[]", "{}", "a.test", true},
      {R"(["a.test"])", R"({"ingress.volcano.sh/ssl-redirect": "false"})", "a.test", false},
      {R"(["a.test"])", R"({"nginx.ingress.kubernetes.io/ssl-redirect": "false"})", "a.test", false},
      {R"(["a.test"])", R"({"nginx.ingress.kubernetes.io/ssl-redirect": "true"})", "a.test", true},
  };
  for (const Row& row : rows) {
    Json ingress = with_paths({{"Prefix", "/"}}, "a", row.asked);
    ingress.edit("metadata").set("annotations", *api::parse_json(row.annotations));
    ingress.edit("spec").set(
        "tls", Json::array({Json::object({{"hosts", *api::parse_json(row.hosts)}, {"secretName", "s"}})}));
    const Routes routes({&ingress});
    const Backend* backend = routes.find(row.asked, "/");
    ASSERT_NE(backend, nullptr);
    EXPECT_EQ(backend->https_only, row.https_only) << row.hosts << row.annotations;
  }
}

TEST(IngressDoor, sends_to_https_with_host_port_and_target) {
  struct Row {
    std::string host, target;
    std::uint16_t port;
    std::string location;
  };
  for (const Row& row : std::vector<Row>{{"a.test", "/x?y=1", 443, "https://a.test/x?y=1"},
                                         {"a.test:8080", "/", 8443, "https://a.test:8443/"},
                                         {"[::1]:80", "/", 443, "https://[::1]/"},
                                         {"a.test", "http://b.test/x", 443, "https://a.test/"}}) {
    const rt::HttpResponse answer =
        sent_to_https({.method = "POST", .target = row.target, .headers = {{"Host", row.host}}}, row.port);
    EXPECT_EQ(answer.status, 308);
    EXPECT_EQ(rt::header(answer.headers, "Location"), row.location);
  }
}

}  // namespace
}  // namespace node::ingress
