// Rules of services: what leads where, what is refused, and how the kernel gets from one set of rules to the next.
#include "node/service_rules.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) { return *api::parse_yaml(text); }

struct Objects {
  std::vector<Json> services, slices;
  std::vector<HostPort> host_ports;

  void service(const std::string& spec, const std::string& name = "web") {
    services.push_back(yaml(base::format("{{metadata: {{name: {}, namespace: ns}}, spec: {}}}", name, spec)));
  }
  void slice(const std::string& body, const std::string& service = "web") {
    slices.push_back(yaml(base::format(
        "{{metadata: {{name: x, namespace: ns, labels: {{kubernetes.io/service-name: {}}}}}, addressType: IPv4, {}}}",
        service, body)));
  }
  ServiceRules rules() const {
    ServiceObjects objects;
    for (const Json& service : services) objects.services.push_back(&service);
    for (const Json& slice : slices) objects.slices.push_back(&slice);
    objects.host_ports = host_ports;
    objects.gateway = "10.200.7.1";
    return service_rules(objects);
  }
};

std::string text_of(const ServiceRules& rules) {
  std::string text;
  for (const auto& [chain, lines] : rules.chains) {
    text += chain + ":\n";
    for (const std::string& line : lines) text += "  " + line + "\n";
  }
  for (const auto& [key, chain] : rules.services) text += base::format("service {} -> {}\n", key, chain);
  for (const auto& [key, chain] : rules.host_addresses) text += base::format("host {} -> {}\n", key, chain);
  for (const auto& [key, chain] : rules.machine_ports) text += base::format("port {} -> {}\n", key, chain);
  for (const std::string& key : rules.addresses) text += base::format("address {}\n", key);
  for (const std::string& key : rules.dead_ports) text += base::format("dead {}\n", key);
  return text;
}

constexpr const char* kTwo =
    "ports: [{name: http, port: 8080, protocol: TCP}], endpoints: [{addresses: [10.200.7.2]}, {addresses: "
    "[10.200.7.3]}]";

TEST(ServiceRules, LeadFromAnAddressToOneOfItsEndpoints) {
  Objects o;
  o.service("{clusterIP: 10.96.0.9, type: NodePort, ports: [{name: http, port: 80, nodePort: 30080}]}");
  o.slice(kTwo);
  EXPECT_EQ(text_of(o.rules()),
            "s-ns/web/tcp/80:\n"
            "  numgen random mod 2 vmap { 0 : goto t-tcp/10.200.7.2/8080, 1 : goto t-tcp/10.200.7.3/8080 }\n"
            "t-tcp/10.200.7.2/8080:\n  meta l4proto tcp dnat to 10.200.7.2:8080\n"
            "t-tcp/10.200.7.3/8080:\n  meta l4proto tcp dnat to 10.200.7.3:8080\n"
            "service 10.96.0.9 . tcp . 80 -> s-ns/web/tcp/80\n"
            "port tcp . 30080 -> s-ns/web/tcp/80\n"
            "address 10.96.0.9\n");
}

TEST(ServiceRules, KeepAClientAtItsEndpoint) {
  Objects o;
  o.service(
      "{clusterIP: 10.96.0.9, sessionAffinity: ClientIP, sessionAffinityConfig: {clientIP: {timeoutSeconds: 60}}, "
      "ports: "
      "[{name: http, port: 80}]}");
  o.slice(kTwo);
  const ServiceRules rules = o.rules();
  const std::string set = "c-ns/web/tcp/80/10.200.7.2/8080/60", kept = "a-ns/web/tcp/80/10.200.7.2/8080";
  EXPECT_EQ(rules.affinities.at(set), 60);
  EXPECT_EQ(rules.chains.at(kept),
            (std::vector<std::string>{"update @" + set + " { ip saddr }", "goto t-tcp/10.200.7.2/8080"}));
  EXPECT_EQ(rules.chains.at("s-ns/web/tcp/80").front(), "ip saddr @" + set + " goto " + kept);
}

struct Row {
  const char* what;
  const char* service;
  const char* slice;
  const char* rules;
};
TEST(ServiceRules, LeaveOutWhatDoesNotServe) {
  for (const Row& row :
       {Row{"nobody", "{clusterIP: 10.96.0.9, ports: [{port: 80, nodePort: 30000}]}", "ports: [], endpoints: []",
            "address 10.96.0.9\ndead tcp . 30000\n"},
        Row{"headless", "{clusterIP: None, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [10.0.0.1]}]", ""},
        Row{"external", "{type: ExternalName, clusterIP: 10.96.0.9, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [10.0.0.1]}]", ""},
        Row{"another port", "{clusterIP: 10.96.0.9, ports: [{name: a, port: 80}]}",
            "ports: [{name: b, port: 1}], endpoints: [{addresses: [10.0.0.1]}]", "address 10.96.0.9\n"},
        Row{"another protocol", "{clusterIP: 10.96.0.9, ports: [{port: 80, protocol: UDP}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [10.0.0.1]}]", "address 10.96.0.9\n"},
        Row{"not ready", "{clusterIP: 10.96.0.9, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [10.0.0.1], conditions: {ready: false}}]",
            "address 10.96.0.9\n"},
        Row{"no address", "{clusterIP: 10.96.0.9, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: ['10.0.0.1; flush ruleset']}, {addresses: [169.254.169.254]}, "
            "{addresses: [224.0.0.1]}, {}]",
            "address 10.96.0.9\n"},
        Row{"no port", "{clusterIP: 10.96.0.9, ports: [{port: 0}, {port: 70000}, {port: 80, protocol: x}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [10.0.0.1]}]", "address 10.96.0.9\n"},
        Row{"the only ones end", "{clusterIP: 10.96.0.9, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [10.0.0.1], conditions: {ready: false, serving: true, "
            "terminating: "
            "true}}]",
            "s-ns/web/tcp/80:\n  numgen random mod 1 vmap { 0 : goto t-tcp/10.0.0.1/1 }\n"
            "t-tcp/10.0.0.1/1:\n  meta l4proto tcp dnat to 10.0.0.1:1\n"
            "service 10.96.0.9 . tcp . 80 -> s-ns/web/tcp/80\naddress 10.96.0.9\n"},
        Row{"this machine's loopback", "{clusterIP: 10.96.0.9, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [127.0.0.1]}]",
            "s-ns/web/tcp/80:\n  numgen random mod 1 vmap { 0 : goto t-tcp/10.200.7.1/1 }\n"
            "t-tcp/10.200.7.1/1:\n  meta l4proto tcp dnat to 10.200.7.1:1\n"
            "service 10.96.0.9 . tcp . 80 -> s-ns/web/tcp/80\naddress 10.96.0.9\n"}}) {
    Objects o;
    o.service(row.service);
    o.slice(row.slice);
    EXPECT_EQ(text_of(o.rules()), row.rules) << row.what;
  }
}

TEST(ServiceRules, OfManyPortsLeadEachToItsOwnTarget) {
  constexpr int kPorts = 2'000;
  std::string ports, targets;
  for (int i = 1; i <= kPorts; ++i) {
    ports += base::format("{{name: p{}, port: {}}}, ", i, i);
    targets += base::format("{{name: p{}, port: {}}}, ", i, i + 1);
  }
  Objects o;
  o.service("{clusterIP: 10.96.0.9, ports: [" + ports + "]}");
  o.slice("ports: [" + targets + "], endpoints: [{addresses: [10.200.7.2]}]");
  const ServiceRules rules = o.rules();
  ASSERT_EQ(rules.services.size(), kPorts);
  EXPECT_EQ(rules.chains.at("s-ns/web/tcp/7").front(), "numgen random mod 1 vmap { 0 : goto t-tcp/10.200.7.2/8 }");
}

TEST(ServiceRules, LeadFromHostPortsToPods) {
  const Json pod = yaml(
      "{spec: {containers: [{ports: [{containerPort: 80, hostPort: 8080}, {containerPort: 81}, {containerPort: 53, "
      "hostPort: 53, hostIP: 192.0.2.1, protocol: UDP}]}]}}");
  Objects o;
  o.host_ports = host_ports_of(pod, "10.200.7.2");
  EXPECT_EQ(text_of(o.rules()),
            "t-tcp/10.200.7.2/80:\n  meta l4proto tcp dnat to 10.200.7.2:80\n"
            "t-udp/10.200.7.2/53:\n  meta l4proto udp dnat to 10.200.7.2:53\n"
            "host 192.0.2.1 . udp . 53 -> t-udp/10.200.7.2/53\n"
            "port tcp . 8080 -> t-tcp/10.200.7.2/80\n");
}

TEST(ServiceRules, TwoPodsCannotHaveOnePort) {
  const auto port = [](const char* ip, const char* protocol, int number) {
    return std::vector<HostPort>{{ip, protocol, number, "", 1}};
  };
  EXPECT_TRUE(share_a_port(port("", "TCP", 80), port("", "TCP", 80)));
  EXPECT_TRUE(share_a_port(port("", "TCP", 80), port("192.0.2.1", "TCP", 80)));
  EXPECT_FALSE(share_a_port(port("192.0.2.2", "TCP", 80), port("192.0.2.1", "TCP", 80)));
  EXPECT_FALSE(share_a_port(port("", "TCP", 80), port("", "UDP", 80)));
  EXPECT_FALSE(share_a_port(port("", "TCP", 80), port("", "TCP", 81)));
}

TEST(ServiceRules, NoPodTakesOverTheNamesOrTheServer) {
  const std::string text = transaction(
      {.name = "t", .bridge = "vcbr1", .subnet = "10.200.7.0/24", .gateway = "10.200.7.1", .api_port = 6443}, nullptr,
      {});
  const std::string kept = "ip daddr 10.200.7.1 meta l4proto { tcp, udp } th dport { 53, 6443 } return\n";
  const std::size_t first = text.find(kept), second = text.find(kept, first + 1);
  EXPECT_NE(second, std::string::npos) << "for what comes and for what goes out";
  EXPECT_LT(first, text.find("@machine_ports"));
  // On none of the machine's addresses, and nobody's address is taken.
  EXPECT_LT(text.find("fib daddr type local tcp dport 6443 return\n"), text.find("@host_addresses\n"));
  std::size_t lookups = 0;
  for (std::size_t at = 0; (at = text.find("vmap @host_addresses", at)) != std::string::npos; ++at, ++lookups)
    EXPECT_EQ(text.rfind("fib daddr type local ", at), text.rfind('\n', at) + 1);
  EXPECT_EQ(lookups, 2u);
}

TEST(ServiceRules, ChangeOnlyWhatMustChange) {
  const ProxyTable table{"vcbr1", "vcbr1", "10.200.7.0/24"};
  Objects before;
  before.service("{clusterIP: 10.96.0.9, ports: [{name: http, port: 80}]}");
  before.slice(kTwo);
  Objects after = before;
  EXPECT_EQ(transaction(table, nullptr, before.rules()).find("table ip vcbr1\ndelete table ip vcbr1\n"), 0u);
  const ServiceRules old = before.rules();
  EXPECT_EQ(transaction(table, &old, after.rules()), "");
  after.slices.clear();
  after.slice("ports: [{name: http, port: 8080, protocol: TCP}], endpoints: [{addresses: [10.200.7.2]}]");
  EXPECT_EQ(transaction(table, &old, after.rules()),
            "delete element ip vcbr1 own { 10.200.7.3 . 10.200.7.3 }\n"
            "flush chain ip vcbr1 s-ns/web/tcp/80\n"
            "flush chain ip vcbr1 t-tcp/10.200.7.3/8080\n"
            "add rule ip vcbr1 s-ns/web/tcp/80 numgen random mod 1 vmap { 0 : goto t-tcp/10.200.7.2/8080 }\n"
            "delete chain ip vcbr1 t-tcp/10.200.7.3/8080\n");
  after.services.clear();
  EXPECT_EQ(transaction(table, &old, after.rules()),
            "delete element ip vcbr1 services { 10.96.0.9 . tcp . 80 : goto s-ns/web/tcp/80 }\n"
            "delete element ip vcbr1 live { 10.96.0.9 . tcp . 80 }\n"
            "delete element ip vcbr1 addresses { 10.96.0.9 }\n"
            "delete element ip vcbr1 own { 10.200.7.2 . 10.200.7.2 }\n"
            "delete element ip vcbr1 own { 10.200.7.3 . 10.200.7.3 }\n"
            "flush chain ip vcbr1 s-ns/web/tcp/80\n"
            "flush chain ip vcbr1 t-tcp/10.200.7.2/8080\n"
            "flush chain ip vcbr1 t-tcp/10.200.7.3/8080\n"
            "delete chain ip vcbr1 s-ns/web/tcp/80\n"
            "delete chain ip vcbr1 t-tcp/10.200.7.2/8080\n"
            "delete chain ip vcbr1 t-tcp/10.200.7.3/8080\n");
}

}  // namespace
}  // namespace node
