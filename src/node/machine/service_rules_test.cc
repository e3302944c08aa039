// Rules of services: what leads where, what is refused, and how the kernel gets from one set of rules to the next.
#include "node/machine/service_rules.h"

#include <gtest/gtest.h>

#include "api/ipv4.h"
#include "api/json/yaml.h"
#include "base/format.h"

namespace node {
namespace {

using api::Json;

Json yaml(const std::string& text) { return *api::parse_yaml(text); }

struct Objects {
  std::vector<Json> services, slices;
  std::vector<HostPort> host_ports;
  std::string machine_ip;

  void service(const std::string& spec, const std::string& name = "web") {
    services.push_back(yaml(base::format("{{metadata: {{name: {}, namespace: ns}}, spec: {}}}", name, spec)));
  }
  void slice(const std::string& body, const std::string& service = "web") {
    slices.push_back(yaml(base::format(
        "{{metadata: {{name: x, namespace: ns, labels: {{kubernetes.io/service-name: {}}}}}, addressType: IPv4, {}}}",
        service, body)));
  }
  ServiceRules rules() const { return decision().rules; }
  ServiceDecision decision(const ServiceLimits& limits = {}) const {
    ServiceObjects objects;
    objects.limits = limits;
    for (const Json& service : services) objects.services.push_back(&service);
    for (const Json& slice : slices) objects.slices.push_back(&slice);
    objects.host_ports = host_ports;
    objects.gateway = "10.200.7.1";
    objects.machine_ip = machine_ip;
    return service_rules(objects);
  }
};

std::string text_of(const ServiceRules& rules) {
  std::string text;
  for (const auto& [chain, lines] : rules.chains) {
    text += chain + ":\n";
    for (const std::string& line : lines) text += "  " + line + "\n";
  }
  const auto target = [](const Target& one) { return base::format(" {}:{}", api::ipv4_text(one.address), one.port); };
  const auto ports = [&](const char* what, const std::map<std::string, PortRules>& map) {
    for (const auto& [key, port] : map) {
      text += base::format("{} {} ->", what, key);
      for (const Target& one : port.targets) text += target(one);
      text += (port.chain.empty() ? "" : " by " + port.chain) + "\n";
    }
  };
  ports("service", rules.services);
  for (const auto& [key, one] : rules.host_addresses) text += base::format("host {} ->{}\n", key, target(one));
  ports("port", rules.machine_ports);
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
            "service 10.96.0.9 . tcp . 80 -> 10.200.7.2:8080 10.200.7.3:8080\n"
            "port tcp . 30080 -> 10.200.7.2:8080 10.200.7.3:8080\n"
            "address 10.96.0.9\n");
}

TEST(ServiceRules, AServiceWithThisMachinesAddressHasItsPorts) {
  Objects o;
  o.machine_ip = "192.0.2.7";
  for (const char* ip : {"192.0.2.7", "192.0.2.8"}) {
    const bool here = ip == o.machine_ip;
    o.service(base::format("{{clusterIP: 10.96.0.{}, type: LoadBalancer, ports: [{{name: http, port: {}}}]}}",
                           here ? 9 : 8, here ? 80 : 81),
              here ? "here" : "there");
    o.services.back().set("status", yaml(base::format("{{loadBalancer: {{ingress: [{{ip: {}}}]}}}}", ip)));
    o.slice(kTwo, here ? "here" : "there");
  }
  const ServiceRules rules = o.rules();
  EXPECT_TRUE(rules.machine_ports.contains("tcp . 80"));
  EXPECT_FALSE(rules.machine_ports.contains("tcp . 81"));
  // A node port that another service has stays its own.
  o.service("{clusterIP: 10.96.0.7, type: NodePort, ports: [{name: http, port: 9, nodePort: 80}]}", "port");
  o.slice("ports: [{name: http, port: 1}], endpoints: [{addresses: [10.200.7.9]}]", "port");
  EXPECT_EQ(o.rules().machine_ports.at("tcp . 80").targets.front().port, 1);
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
  EXPECT_EQ(rules.chains.at("t-tcp/10.200.7.2/8080"),
            std::vector<std::string>{"meta l4proto tcp dnat to 10.200.7.2:8080"});
  EXPECT_EQ(rules.services.at("10.96.0.9 . tcp . 80").chain, "s-ns/web/tcp/80");
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
            "service 10.96.0.9 . tcp . 80 -> 10.0.0.1:1\naddress 10.96.0.9\n"},
        Row{"this machine's loopback", "{clusterIP: 10.96.0.9, ports: [{port: 80}]}",
            "ports: [{port: 1}], endpoints: [{addresses: [127.0.0.1]}]",
            "service 10.96.0.9 . tcp . 80 -> 10.200.7.1:1\naddress 10.96.0.9\n"}}) {
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
  EXPECT_EQ(rules.services.at("10.96.0.9 . tcp . 7").targets, (std::vector<Target>{{0x0ac80702, 8}}));
}

// `#` stands for the number.
std::string numbered(int count, const std::string& one) {
  std::string text;
  for (int i = 1; i <= count; ++i) {
    for (const char c : one) text += c == '#' ? std::to_string(i) : std::string(1, c);
    text += ", ";
  }
  return text;
}

TEST(ServiceRules, OfTooManyTargetsEachPortKeepsSome) {
  Objects o;
  o.service("{clusterIP: 10.96.0.9, ports: [" + numbered(4, "{name: p#, port: #, nodePort: 3000#}") + "]}");
  o.slice("ports: [" + numbered(4, "{name: p#, port: #}") + "], endpoints: [" +
          numbered(8, "{addresses: [10.200.7.#]}") + "]");
  o.service("{clusterIP: 10.96.0.8, ports: [{port: 80}]}", "small");
  o.slice("ports: [{port: 1}], endpoints: [{addresses: [10.200.7.2]}]", "small");
  EXPECT_TRUE(o.decision({.of_a_service = 32}).left_out.empty());
  const ServiceDecision some = o.decision({.of_a_service = 13});
  ASSERT_EQ(some.left_out.size(), 1u);
  EXPECT_EQ(
      some.left_out[0].why,
      "The ports of the service times their endpoints are 32, of which this node takes 12: each port leads to 3 of "
      "its endpoints");
  for (const auto& [key, port] : some.rules.services)
    EXPECT_EQ(port.targets.size(), key.find("0.8 ") != key.npos ? 1u : 3u);
  const ServiceDecision few = o.decision({.of_a_service = 2});
  EXPECT_EQ(
      few.left_out[0].why,
      "The ports of the service times their endpoints are 32, of which this node takes 2: each port leads to 1 of "
      "its endpoints, and 2 ports lead nowhere");
  EXPECT_EQ(few.rules.dead_ports, (std::set<std::string>{"tcp . 30003", "tcp . 30004"}));
}

TEST(ServiceRules, ANamespaceLeavesRoomForOthers) {
  EXPECT_EQ(even_shares({100, 1, 5}, 12), (std::vector<std::int64_t>{6, 1, 5}));
  EXPECT_EQ(even_shares({4, 4}, 100), (std::vector<std::int64_t>{4, 4}));
  EXPECT_EQ(even_shares({}, 1), std::vector<std::int64_t>{});
  Objects o;
  for (int i = 0; i < 3; ++i) {
    const std::string name = base::format("s{}", i);
    o.service(base::format("{{clusterIP: 10.96.0.{}, ports: [{{port: 80}}]}}", i), name);
    o.slice("ports: [{port: 1}], endpoints: [" + numbered(6, "{addresses: [10.200.7.#]}") + "]", name);
  }
  std::size_t targets = 0;
  const ServiceDecision decision = o.decision({.of_a_namespace = 9});
  for (const auto& [key, port] : decision.rules.services) targets += port.targets.size();
  EXPECT_EQ(targets, 9u);
  EXPECT_EQ(decision.left_out.size(), 3u);
}

TEST(ServiceRules, ServicesThatKeepTheirClientsCostMore) {
  Objects o;
  o.service("{clusterIP: 10.96.0.9, sessionAffinity: ClientIP, ports: [{port: 80}]}");
  o.slice("ports: [{port: 1}], endpoints: [" + numbered(8, "{addresses: [10.200.7.#]}") + "]");
  EXPECT_EQ(o.decision({.of_a_service = 48}).rules.services.begin()->second.targets.size(), 3u);
}

TEST(ServiceRules, LeadFromHostPortsToPods) {
  const Json pod = yaml(
      "{spec: {containers: [{ports: [{containerPort: 80, hostPort: 8080}, {containerPort: 81}, {containerPort: 53, "
      "hostPort: 53, hostIP: 192.0.2.1, protocol: UDP}]}]}}");
  Objects o;
  o.host_ports = host_ports_of(pod, "10.200.7.2");
  EXPECT_EQ(text_of(o.rules()),
            "host 192.0.2.1 . udp . 53 -> 10.200.7.2:53\n"
            "port tcp . 8080 -> 10.200.7.2:80\n");
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
  EXPECT_LT(text.find("fib daddr type local tcp dport 6443 return\n"), text.find("map @host_addresses\n"));
  std::size_t lookups = 0;
  for (std::size_t at = 0; (at = text.find("map @host_addresses", at)) != std::string::npos; ++at, ++lookups)
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
            "add chain ip vcbr1 s1\n"
            "delete element ip vcbr1 services { 10.96.0.9 . tcp . 80 : goto s2 }\n"
            "delete element ip vcbr1 service_targets { 10.96.0.9 . tcp . 80 . 1 : 10.200.7.3 . 8080 }\n"
            "delete element ip vcbr1 own { 10.200.7.3 . 10.200.7.3 }\n"
            "flush chain ip vcbr1 s2\n"
            "add rule ip vcbr1 s1 dnat ip to ip daddr . meta l4proto . th dport . numgen random mod 1 map "
            "@service_targets\n"
            "delete chain ip vcbr1 s2\n"
            "add element ip vcbr1 services { 10.96.0.9 . tcp . 80 : goto s1 }\n");
  after.services.clear();
  EXPECT_EQ(transaction(table, &old, after.rules()),
            "delete element ip vcbr1 services { 10.96.0.9 . tcp . 80 : goto s2 }\n"
            "delete element ip vcbr1 service_targets { 10.96.0.9 . tcp . 80 . 0 : 10.200.7.2 . 8080, 10.96.0.9 . tcp . "
            "80 . 1 : 10.200.7.3 . 8080 }\n"
            "delete element ip vcbr1 live { 10.96.0.9 . tcp . 80 }\n"
            "delete element ip vcbr1 addresses { 10.96.0.9 }\n"
            "delete element ip vcbr1 own { 10.200.7.2 . 10.200.7.2, 10.200.7.3 . 10.200.7.3 }\n"
            "flush chain ip vcbr1 s2\n"
            "delete chain ip vcbr1 s2\n");
}

}  // namespace
}  // namespace node
