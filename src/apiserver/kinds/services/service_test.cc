// Services: what they get when they are made, what may change, and what is refused, in the words of Kubernetes.
#include <gtest/gtest.h>

#include <set>

#include "api/network_resources.h"
#include "apiserver/pipeline/own_service.h"
#include "base/format.h"
#include "client/fake_env_for_tests.h"

namespace apiserver {
namespace {

using api::Json;
namespace resources = api::resources;

struct Bench {
  explicit Bench(ServiceNetwork n = {}) : network(n) {
    api.bootstrap([](base::Status) {});
    env.settle();
  }
  base::Result<Json> ask(Verb verb, std::string name, std::string_view body,
                         const api::ResourceId& id = resources::kServices) {
    Request request;
    request.verb = verb;
    request.kind = api::find_kind(id);
    request.resource = static_cast<std::uint32_t>(request.kind - api::all_kinds().data());
    request.ns = "default";
    request.name = std::move(name);
    request.user = {"anna", {"system:masters"}};
    request.default_manager = "test";
    if (!body.empty()) request.body = *api::parse_json(body);
    std::optional<base::Result<Answer>> answer;
    api.call(std::move(request), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    TRY(Answer got, *std::move(answer));
    return object_of(std::move(got));
  }
  // Its spec, or the refusal.
  std::string make(std::string_view name, std::string_view spec) {
    const auto made =
        ask(Verb::kCreate, "", base::format(R"({{"metadata": {{"name": "{}"}}, "spec": {}}})", name, spec));
    return made.ok() ? (*made)["spec"].dump() : made.error().message;
  }
  std::string change(std::string_view name, std::string_view spec) {
    const auto changed = ask(Verb::kPatch, std::string(name), base::format(R"({{"spec": {}}})", spec));
    return changed.ok() ? (*changed)["spec"].dump() : changed.error().message;
  }
  Json spec(std::string_view name) { return (*ask(Verb::kGet, std::string(name), ""))["spec"]; }

  ServiceNetwork network;
  client::testing::FakeEnv env;
  std::unique_ptr<rt::KvStore> kv = rt::make_memory_kv();
  std::unique_ptr<store::Store> store = *store::Store::open(env, *kv);
  Api api{env, *store, ApiOptions{.hooks = {}, .services = network}};
};

constexpr ServiceNetwork kSmall{{0x0a600000, 29}, 30000, 30002};  // 10.96.0.1 to 10.96.0.6

TEST(Services, get_an_address_and_defaults) {
  Bench b;
  b.make("s", R"({"ports": [{"port": 80}]})");
  Json spec = b.spec("s");
  const auto address = api::parse_ipv4(spec["clusterIP"].as_string());
  ASSERT_TRUE(address.has_value());
  EXPECT_TRUE(b.network.addresses.contains(*address));
  EXPECT_EQ(spec["clusterIPs"].dump(), "[" + spec["clusterIP"].dump() + "]");
  spec.erase("clusterIP");
  spec.erase("clusterIPs");
  EXPECT_EQ(spec.sorted().dump(),
            R"({"internalTrafficPolicy":"Cluster","ipFamilies":["IPv4"],"ipFamilyPolicy":"SingleStack",)"
            R"("ports":[{"port":80,"protocol":"TCP","targetPort":80}],"sessionAffinity":"None","type":"ClusterIP"})");
  b.make("h", R"({"clusterIP": "None"})");
  EXPECT_EQ(b.spec("h")["clusterIPs"].dump(), R"(["None"])");
  b.make("e", R"({"type": "ExternalName", "externalName": "example.com"})");
  EXPECT_FALSE(b.spec("e").has("clusterIP"));
  b.make("a", R"({"sessionAffinity": "ClientIP", "ports": [{"port": 1}]})");
  EXPECT_EQ(b.spec("a")["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"].as_int(), 10800);
}

TEST(Services, that_have_to_have_two_families_are_refused_and_others_get_one) {
  struct Row {
    const char* spec;
    const char* families;  // as stored, or the message
  };
  const std::string invalid = "Service \"s\" is invalid: ";
  for (
      const Row& row :
      {Row{R"({"ipFamilyPolicy": "PreferDualStack", "ports": [{"port": 80}]})", R"(["IPv4"])"},
       {R"({"ipFamilyPolicy": "RequireDualStack", "ports": [{"port": 80}]})",
        R"(spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services)"},
       {R"({"ipFamilies": ["IPv6"], "ports": [{"port": 80}]})",
        R"(spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster)"},
       {R"({"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 80}]})",
        R"(spec.ipFamilies[1]: Invalid value: "IPv6": not configured on this cluster)"},
       {R"({"ipFamilies": ["IPv4", "IPv6"], "ports": [{"port": 80}]})",
        R"(spec.ipFamilyPolicy: Invalid value: "SingleStack": must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified)"},
       {R"({"clusterIP": "fd00::1", "ports": [{"port": 80}]})",
        R"(spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster)"},
       {R"({"clusterIP": "None", "selector": {"a": "b"}})", R"(["IPv4"])"},
       {R"({"clusterIP": "None", "selector": {"a": "b"}, "ipFamilies": ["IPv6"]})",
        R"(spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster)"},
       // Somebody else writes the endpoints of these.
       {R"({"clusterIP": "None"})", R"(["IPv4","IPv6"])"},
       {R"({"clusterIP": "None", "ipFamilies": ["IPv6"]})", R"(["IPv6","IPv4"])"},
       {R"({"clusterIP": "None", "ipFamilyPolicy": "SingleStack"})", R"(["IPv4"])"},
       {R"({"clusterIP": "None", "ipFamilies": 7})", nullptr}}) {
    Bench b;
    const std::string answer = b.make("s", row.spec);
    if (row.families == nullptr)
      EXPECT_FALSE(answer.starts_with("{")) << row.spec;
    else if (row.families[0] == '[')
      EXPECT_EQ(b.spec("s")["ipFamilies"].dump(), row.families) << answer;
    else
      EXPECT_EQ(answer, invalid + row.families) << row.spec;
  }
}

TEST(Services, have_addresses_of_their_own_until_there_are_no_more) {
  Bench b(kSmall);
  std::set<std::string> addresses;
  for (int i = 0; i < 6; ++i) {
    b.make("s" + std::to_string(i), R"({"ports": [{"port": 80}]})");
    addresses.insert(b.spec("s" + std::to_string(i))["clusterIP"].str());
  }
  EXPECT_EQ(addresses,
            (std::set<std::string>{"10.96.0.1", "10.96.0.2", "10.96.0.3", "10.96.0.4", "10.96.0.5", "10.96.0.6"}));
  EXPECT_EQ(b.make("more", R"({"ports": [{"port": 80}]})"),
            "Service \"more\" is invalid: spec.clusterIPs: Invalid value: []: failed to allocate a serviceIP: range is "
            "full");
  // A service that goes makes room.
  EXPECT_TRUE(b.ask(Verb::kDelete, "s3", "").ok());
  b.make("more", R"({"ports": [{"port": 80}]})");
  EXPECT_TRUE(addresses.contains(b.spec("more")["clusterIP"].str()));
}

TEST(Services, have_node_ports_of_their_own) {
  Bench b(kSmall);
  b.make("two",
         R"({"type": "NodePort", "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30001}]})");
  const Json spec = b.spec("two");
  EXPECT_EQ(spec["externalTrafficPolicy"].as_string(), "Cluster");
  std::set<std::int64_t> ports;
  for (const Json& port : spec["ports"].items()) ports.insert(port["nodePort"].as_int());
  EXPECT_EQ(ports.size(), 2u);
  EXPECT_TRUE(ports.contains(30001));
  b.make("third", R"({"type": "LoadBalancer", "ports": [{"port": 80}]})");
  ports.insert(b.spec("third")["ports"].items().front()["nodePort"].as_int());
  EXPECT_EQ(ports, (std::set<std::int64_t>{30000, 30001, 30002}));
  EXPECT_EQ(b.make("full", R"({"type": "NodePort", "ports": [{"port": 80}]})"),
            "Service \"full\" is invalid: spec.ports[0].nodePort: Invalid value: 0: failed to allocate a nodePort: "
            "range is full");
  // One number for two protocols of one Service is one port.
  Bench dns(kSmall);
  EXPECT_TRUE(dns.make("dns", R"({"type": "NodePort", "ports": [
      {"name": "u", "port": 53, "protocol": "UDP", "nodePort": 30000}, {"name": "t", "port": 53, "nodePort": 30000}]})")
                  .starts_with("{"));
}

TEST(Services, are_refused_in_the_words_of_kubernetes) {
  Bench b(kSmall);
  b.make("first", R"({"clusterIP": "10.96.0.2", "type": "NodePort", "ports": [{"port": 1, "nodePort": 30000}]})");
  const std::pair<const char*, const char*> rows[] = {
      {R"({})", "spec.ports: Required value"},
      {R"({"ports": [{"port": 0, "targetPort": 1}]})",
       "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"},
      {R"({"ports": [{"port": 80}, {"port": 81, "name": "b"}]})", "spec.ports[0].name: Required value"},
      {R"({"ports": [{"name": "a", "port": 80}, {"name": "a", "port": 81}]})",
       "spec.ports[1].name: Duplicate value: \"a\""},
      {R"({"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]})",
       R"(spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"})"},
      {R"({"ports": [{"port": 80, "protocol": "ICMP"}]})",
       "spec.ports[0].protocol: Unsupported value: \"ICMP\": supported values: \"SCTP\", \"TCP\", \"UDP\""},
      {R"({"ports": [{"port": 80, "nodePort": 30001}]})",
       "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"},
      {R"({"type": "Other", "ports": [{"port": 80}]})",
       "spec.type: Unsupported value: \"Other\": supported values: \"ClusterIP\", \"ExternalName\", \"LoadBalancer\", "
       "\"NodePort\""},
      {R"({"clusterIP": "10.96.0.2", "ports": [{"port": 80}]})",
       "spec.clusterIPs: Invalid value: [\"10.96.0.2\"]: failed to allocate IP 10.96.0.2: provided IP is already "
       "allocated"},
      {R"({"clusterIP": "10.97.0.2", "ports": [{"port": 80}]})",
       "spec.clusterIPs: Invalid value: [\"10.97.0.2\"]: failed to allocate IP 10.97.0.2: the provided IP (10.97.0.2) "
       "is "
       "not in the valid range. The range of valid IPs is 10.96.0.0/29"},
      {R"({"clusterIP": "10.96.0.02", "ports": [{"port": 80}]})",
       "spec.clusterIPs[0]: Invalid value: \"10.96.0.02\": must be a valid IP address, (e.g. 10.9.8.7 or "
       "2001:db8::ffff)"},
      {R"({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30000}]})",
       "spec.ports[0].nodePort: Invalid value: 30000: provided port is already allocated"},
      {R"({"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]})",
       "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports "
       "is "
       "30000-30002"},
      {R"({"type": "NodePort", "clusterIP": "None", "ports": [{"port": 80}]})",
       "spec.clusterIPs[0]: Invalid value: [\"None\"]: may not be set to 'None' for NodePort services"},
      {R"({"type": "ExternalName"})", "spec.externalName: Required value"},
      {R"({"sessionAffinity": "ClientIP", "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 0}},
           "ports": [{"port": 80}]})",
       "spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be greater than 0 and less than or "
       "equal to 86400"},
      {R"({"externalTrafficPolicy": "Local", "ports": [{"port": 80}]})",
       "spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for externally-accessible services"},
  };
  for (const auto& [spec, why] : rows)
    EXPECT_EQ(b.make("s", spec), base::format("Service \"s\" is invalid: {}", why)) << spec;
  // A value of a wrong type has its message, too, and nothing crashes.
  for (const char* spec :
       {R"(7)", R"({"ports": 7})", R"({"ports": [7]})", R"({"clusterIP": 7, "ports": [{"port": 80}]})",
        R"({"clusterIPs": [7], "ports": [{"port": 80}]})", R"({"sessionAffinityConfig": 7})",
        R"({"type": "NodePort", "ports": [{"port": "x", "nodePort": "y"}]})"})
    EXPECT_FALSE(b.make("s", spec).starts_with("{")) << spec;
}

TEST(Services, keep_what_they_have_and_lose_what_their_type_has_not) {
  Bench b;
  b.make("s", R"({"ports": [{"port": 80}]})");
  const std::string address = b.spec("s")["clusterIP"].str();
  EXPECT_EQ(b.change("s", R"({"clusterIP": "10.96.7.7"})"),
            "Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: [\"10.96.7.7\"]: may not change once set");
  EXPECT_EQ(b.change("s", R"({"clusterIP": "None"})"),
            "Service \"s\" is invalid: spec.clusterIPs[0]: Invalid value: [\"None\"]: may not change once set");
  // As kubectl replace has it: without what the server gave.
  const auto replaced = b.ask(Verb::kUpdate, "s",
                              R"({"metadata": {"name": "s"}, "spec": {"type": "NodePort", "ports": [{"port": 80}]}})");
  ASSERT_TRUE(replaced.ok()) << replaced.error().message;
  EXPECT_EQ((*replaced)["spec"]["clusterIP"].as_string(), address);
  const std::int64_t port = (*replaced)["spec"]["ports"].items().front()["nodePort"].as_int();
  EXPECT_GE(port, 30000);
  b.change("s", R"({"ports": [{"port": 80, "targetPort": 8080}]})");
  EXPECT_EQ(b.spec("s")["ports"].items().front()["nodePort"].as_int(), port);
  b.change("s", R"({"type": "ClusterIP"})");
  EXPECT_FALSE(b.spec("s")["ports"].items().front().has("nodePort"));
  EXPECT_FALSE(b.spec("s").has("externalTrafficPolicy"));
  b.change("s", R"({"type": "ExternalName", "externalName": "example.com", "ports": null})");
  EXPECT_FALSE(b.spec("s").has("clusterIP"));
  EXPECT_FALSE(b.spec("s").has("clusterIPs"));
  b.change("s", R"({"type": "ClusterIP", "externalName": null, "ports": [{"port": 80}]})");
  EXPECT_TRUE(api::parse_ipv4(b.spec("s")["clusterIP"].as_string()).has_value());
  EXPECT_EQ(
      b.change("s", R"({"type": "NodePort", "ports": [{"port": 80, "nodePort": 9}]})"),
      "Service \"s\" is invalid: spec.ports[0].nodePort: Invalid value: 9: provided port is not in the valid range. "
      "The range of valid ports is 30000-32767");
}

TEST(Services, of_the_server_itself_are_kept_and_not_written_again) {
  Bench b;
  const auto keep = [&](int port) {
    std::optional<base::Status> done;
    keep_own_service(b.api, b.network, {"10.200.0.1", port}, [&](base::Status status) { done = status; });
    b.env.settle();
    ASSERT_TRUE(done && done->ok()) << done->error().message;
  };
  keep(6443);
  const Json spec = b.spec("kubernetes");
  EXPECT_EQ(spec["clusterIP"].as_string(), "10.96.0.1");
  EXPECT_EQ(spec["ports"].dump(), R"([{"name":"https","port":443,"protocol":"TCP","targetPort":6443}])");
  const auto slice = [&] { return *b.ask(Verb::kGet, "kubernetes", "", resources::kEndpointSlices); };
  const Json before = slice();
  keep(6443);
  EXPECT_EQ(api::resource_version_of(slice()), api::resource_version_of(before));
  keep(7443);
  EXPECT_EQ(slice()["ports"].items().front()["port"].as_int(), 7443);
  EXPECT_EQ(b.spec("kubernetes")["ports"].dump(),
            R"([{"name":"https","port":443,"protocol":"TCP","targetPort":7443}])");
}

}  // namespace
}  // namespace apiserver
