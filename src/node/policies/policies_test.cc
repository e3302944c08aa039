// NetworkPolicies as the documents of Kubernetes describe them: who reaches whom, and what the kernel is told.
#include <gtest/gtest.h>

#include <random>

#include "node/policies/policies_for_tests.h"
#include "node/policies/policy_chains.h"

namespace node {
namespace {

using api::Json;
using made_up::PolicyKernel;

Json yaml(const std::string& text) {
  auto json = api::parse_yaml(text);
  CHECK(json.ok());
  return *std::move(json);
}

// Namespaces "a" {team: a}, "b" {team: b} and "monitoring" {purpose: monitoring}; in each a web server, a client and a
// database. Their addresses: 10.0.N.1, .2 and .3.
struct Cluster {
  std::vector<Json> namespaces, policies;
  std::vector<PolicyPod> pods;
  std::map<std::string, std::uint32_t> addresses;
  PolicyBook book;

  Cluster() {
    int number = 1;
    for (const char* labels : {"name: a, labels: {team: a}", "name: b, labels: {team: b}",
                               "name: monitoring, labels: {purpose: monitoring}"}) {
      namespaces.push_back(yaml(base::format("{{metadata: {{{}}}}}", labels)));
      const std::string ns = namespaces.back()["metadata"]["name"].str();
      add(ns, "web", base::format("10.0.{}.1", number), "app: web, tier: front", "{name: http, containerPort: 8080}");
      add(ns, "client", base::format("10.0.{}.2", number), "app: client", "");
      add(ns, "db", base::format("10.0.{}.3", number), "app: db", "{name: http, containerPort: 9090}");
      ++number;
    }
    addresses["internet"] = *api::parse_ipv4("203.0.113.9");
    addresses["office"] = *api::parse_ipv4("172.17.5.4");
    addresses["cellar"] = *api::parse_ipv4("172.17.1.4");
  }
  void add(const std::string& ns, const std::string& name, const std::string& address, const std::string& labels,
           const std::string& port) {
    const Json pod = yaml(base::format(
        "{{metadata: {{name: {}, namespace: {}, labels: {{{}}}}}, spec: {{containers: [{{ports: [{}]}}]}}}}", name, ns,
        labels, port));
    addresses[ns + "/" + name] = *api::parse_ipv4(address);
    pods.push_back(policy_pod(pod, *api::parse_ipv4(address)));
  }
  void policy(const std::string& spec, const std::string& name = "p", const std::string& ns = "a") {
    policies.push_back(yaml(base::format("{{metadata: {{name: {}, namespace: {}}}, spec: {}}}", name, ns, spec)));
  }
  PolicyObjects objects() const {
    PolicyObjects all{pods, {}, {}};
    for (const Json& one : namespaces) all.namespaces.push_back(&one);
    for (const Json& one : policies) all.policies.push_back(&one);
    return all;
  }
  // "a/client -> a/web tcp 8080": does it pass?
  bool passes(const std::string& text) {
    const std::size_t arrow = text.find(" -> "), blank = text.find(' ', arrow + 4), last = text.rfind(' ');
    return PolicyKernel(book.update(objects()))
        .passes({addresses.at(text.substr(0, arrow)), addresses.at(text.substr(arrow + 4, blank - arrow - 4)),
                 text.substr(blank + 1, last - blank - 1), *base::parse_number<std::int64_t>(text.substr(last + 1))});
  }
};

struct Recipe {
  const char* what;
  std::vector<const char*> policies;
  std::vector<const char*> pass;
  std::vector<const char*> refused;
};

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = {
      {"no policy: all pods reach all", {}, {"b/client -> a/web tcp 80", "a/web -> internet udp 53"}, {}},
      {"deny all ingress",
       {"{podSelector: {}, policyTypes: [Ingress]}"},
       {"a/client -> b/web tcp 80", "a/web -> a/web tcp 80", "a/client -> internet tcp 443"},
       {"a/client -> a/web tcp 80", "b/client -> a/web tcp 80", "internet -> a/db udp 53"}},
      {"allow all ingress beside it",
       {"{podSelector: {}, policyTypes: [Ingress]}", "{podSelector: {}, ingress: [{}], policyTypes: [Ingress]}"},
       {"b/client -> a/web tcp 80", "internet -> a/db udp 53"},
       {}},
      {"deny all egress",
       {"{podSelector: {}, policyTypes: [Egress]}"},
       {"b/client -> a/web tcp 80", "a/web -> a/web tcp 80"},
       {"a/client -> a/web tcp 80", "a/client -> b/web tcp 80", "a/client -> internet tcp 443"}},
      {"allow all egress beside it",
       {"{podSelector: {}, policyTypes: [Egress]}", "{podSelector: {}, egress: [{}], policyTypes: [Egress]}"},
       {"a/client -> internet tcp 443"},
       {}},
      {"deny both ways",
       {"{podSelector: {}, policyTypes: [Ingress, Egress]}"},
       {"b/client -> b/web tcp 80"},
       {"a/client -> a/web tcp 80", "b/client -> a/web tcp 80", "a/web -> b/web tcp 80"}},
      {"types that are not written follow from the rules",
       {"{podSelector: {matchLabels: {app: web}}}", "{podSelector: {matchLabels: {app: db}}, egress: []}"},
       {"a/web -> internet tcp 443"},
       {"a/client -> a/web tcp 80", "a/client -> a/db tcp 80", "a/db -> internet tcp 443"}},
      {"the example of the documents: blocks, namespaces, pods and ports, both ways",
       {"{podSelector: {matchLabels: {app: db}}, policyTypes: [Ingress, Egress], ingress: [{from: [{ipBlock: {cidr: "
        "172.17.0.0/16, except: [172.17.1.0/24]}}, {namespaceSelector: {matchLabels: {team: b}}}, {podSelector: "
        "{matchLabels: {tier: front}}}], ports: [{protocol: TCP, port: 6379}]}], egress: [{to: [{ipBlock: {cidr: "
        "203.0.113.0/24}}], ports: [{protocol: TCP, port: 5978}]}]}"},
       {"office -> a/db tcp 6379", "b/client -> a/db tcp 6379", "b/db -> a/db tcp 6379", "a/web -> a/db tcp 6379",
        "a/db -> internet tcp 5978", "b/client -> b/db tcp 6379"},
       {"cellar -> a/db tcp 6379", "office -> a/db tcp 6380", "office -> a/db udp 6379", "a/client -> a/db tcp 6379",
        "monitoring/web -> a/db tcp 6379", "a/db -> internet tcp 443", "a/db -> office tcp 5978",
        "a/db -> a/web tcp 5978"}},
      {"a namespace and pods in it are one peer",
       {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: b}}, podSelector: {matchLabels: "
        "{app: client}}}]}]}"},
       {"b/client -> a/web tcp 80"},
       {"b/web -> a/web tcp 80", "a/client -> a/web tcp 80"}},
      {"a namespace or pods are two peers",
       {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: b}}}, {podSelector: "
        "{matchLabels: "
        "{app: client}}}]}]}"},
       {"b/client -> a/web tcp 80", "b/web -> a/web tcp 80", "a/client -> a/web tcp 80"},
       {"a/web -> a/db tcp 80", "monitoring/client -> a/web tcp 80"}},
      {"every namespace",
       {"{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{namespaceSelector: {}}]}]}"},
       {"monitoring/db -> a/web tcp 80", "a/db -> a/web tcp 80"},
       {"internet -> a/web tcp 80"}},
      {"all namespaces but one",
       {"{podSelector: {}, ingress: [{from: [{namespaceSelector: {matchExpressions: [{key: team, operator: NotIn, "
        "values: [b]}]}}]}]}"},
       {"monitoring/db -> a/web tcp 80", "a/db -> a/web tcp 80"},
       {"b/db -> a/web tcp 80"}},
      {"the outside world: all addresses",
       {"{podSelector: {matchLabels: {app: web}}, ingress: [{from: []}]}",
        "{podSelector: {matchLabels: {app: db}}, ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0, except: "
        "[10.0.0.0/8]}}]}]}"},
       {"internet -> a/web tcp 80", "internet -> a/db tcp 80"},
       {"a/web -> a/db tcp 80"}},
      {"ports by number, by range and by name",
       {"{podSelector: {}, ingress: [{ports: [{port: 80}, {port: 32000, endPort: 32768}, {port: http}, {protocol: UDP, "
        "port: 53}]}]}"},
       {"b/web -> a/web tcp 80", "b/web -> a/web tcp 32000", "b/web -> a/web tcp 32768", "b/web -> a/web tcp 8080",
        "b/web -> a/db tcp 9090", "b/web -> a/db udp 53"},
       {"b/web -> a/web tcp 31999", "b/web -> a/web tcp 32769", "b/web -> a/web tcp 9090", "b/web -> a/db tcp 8080",
        "b/web -> a/client tcp 8080", "b/web -> a/db tcp 53", "b/web -> a/web udp 8080"}},
      {"a protocol with all its ports, and ranges of it",
       {"{podSelector: {}, ingress: [{ports: [{protocol: UDP}, {protocol: UDP, port: 53}, {protocol: SCTP, port: "
        "7}]}]}"},
       {"b/web -> a/web udp 80", "b/web -> a/web sctp 7"},
       {"b/web -> a/web tcp 80", "b/web -> a/web sctp 8"}},
      {"a name of a port is the peer's on the way out",
       {"{podSelector: {}, egress: [{to: [{namespaceSelector: {matchLabels: {team: b}}}], ports: [{port: http}]}], "
        "policyTypes: [Egress]}"},
       {"a/client -> b/web tcp 8080", "a/client -> b/db tcp 9090"},
       {"a/client -> b/web tcp 9090", "a/client -> monitoring/web tcp 8080", "a/client -> b/client tcp 8080"}},
      {"policies add up",
       {"{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{podSelector: {matchLabels: {app: client}}}]}]}",
        "{podSelector: {matchLabels: {tier: front}}, ingress: [{from: [{namespaceSelector: {matchLabels: {purpose: "
        "monitoring}}}], ports: [{port: 9100}]}]}"},
       {"a/client -> a/web tcp 80", "monitoring/web -> a/web tcp 9100"},
       {"monitoring/web -> a/web tcp 80", "a/db -> a/web tcp 80"}},
      {"both sides must agree",
       {"{podSelector: {matchLabels: {app: client}}, egress: [{to: [{podSelector: {matchLabels: {app: web}}}]}], "
        "policyTypes: [Egress]}",
        "{podSelector: {matchLabels: {app: web}}, ingress: [{ports: [{port: 80}]}]}"},
       {"a/client -> a/web tcp 80", "a/db -> a/web tcp 80"},
       {"a/client -> a/web tcp 81", "a/client -> a/db tcp 80"}},
      {"blocks of IPv6 match nothing",
       {"{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: '::/0'}}]}]}"},
       {},
       {"internet -> a/web tcp 80", "a/db -> a/web tcp 80"}},
      {"a block may name any of its addresses",
       {"{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 172.17.9.9/16, except: [172.17.1.7/24, "
        "172.17.1.128/25]}}]}]}"},
       {"office -> a/web tcp 80"},
       {"cellar -> a/web tcp 80"}},
  };
  return all;
}

TEST(Policies, DoWhatTheDocumentsSay) {
  for (const Recipe& recipe : recipes()) {
    Cluster cluster;
    int number = 0;
    for (const char* spec : recipe.policies) cluster.policy(spec, base::format("p{}", ++number));
    for (const char* one : recipe.pass) EXPECT_TRUE(cluster.passes(one)) << recipe.what << ": " << one;
    for (const char* one : recipe.refused) EXPECT_FALSE(cluster.passes(one)) << recipe.what << ": " << one;
  }
}

TEST(Policies, FollowLabelsOfPodsAndNamespaces) {
  Cluster cluster;
  cluster.policy(
      "{podSelector: {matchLabels: {app: web}}, ingress: [{from: [{namespaceSelector: {matchLabels: {team: "
      "b}}, podSelector: {matchLabels: {app: client}}}]}]}");
  EXPECT_TRUE(cluster.passes("b/client -> a/web tcp 80"));
  cluster.namespaces[1].edit("metadata").set("labels", Json());
  EXPECT_FALSE(cluster.passes("b/client -> a/web tcp 80"));
  cluster.namespaces[1] = yaml("{metadata: {name: b, labels: {team: b}}}");
  EXPECT_TRUE(cluster.passes("b/client -> a/web tcp 80"));
  for (PolicyPod& pod : cluster.pods)
    if (pod.ns == "b") pod.labels = yaml("{app: other}");
  EXPECT_FALSE(cluster.passes("b/client -> a/web tcp 80"));
  for (PolicyPod& pod : cluster.pods)
    if (pod.ns == "a") pod.labels = yaml("{app: other}");
  EXPECT_TRUE(cluster.passes("b/client -> a/web tcp 80")) << "no policy selects it any more";
  EXPECT_TRUE(cluster.book.rules().empty());
}

TEST(Policies, AnAddressBelongsToItsNewPod) {
  Cluster cluster;
  cluster.policy("{podSelector: {matchLabels: {app: web}}, ingress: []}");
  EXPECT_FALSE(cluster.passes("b/client -> a/web tcp 80"));
  std::erase_if(cluster.pods, [&](const PolicyPod& pod) { return pod.address == cluster.addresses["a/web"]; });
  EXPECT_TRUE(cluster.passes("b/client -> a/web tcp 80"));
  cluster.add("b", "new", "10.0.1.1", "app: web", "");
  EXPECT_TRUE(cluster.passes("b/client -> b/new tcp 80")) << "it is of another namespace";
}

TEST(Policies, BeyondTheLimitAllowNothingAndHoldUpNoOther) {
  Cluster cluster;
  std::string peers;
  for (std::size_t i = 0; i <= kRulesOfANamespace; ++i)
    peers += base::format("{{podSelector: {{matchLabels: {{app: p{}}}}}}}, ", i);
  cluster.policy("{podSelector: {matchLabels: {app: web}}, ingress: [{from: [" + peers + "{podSelector: {}}]}]}",
                 "many");
  cluster.policy("{podSelector: {matchLabels: {app: db}}, ingress: [{from: [{podSelector: {}}]}]}", "zz");
  EXPECT_FALSE(cluster.passes("a/client -> a/web tcp 80"));
  EXPECT_TRUE(cluster.passes("a/client -> a/db tcp 80"));
  EXPECT_EQ(cluster.book.left_out(), (std::map<std::string, std::size_t>{{"a/many", kRulesOfANamespace + 2}}));
  cluster.policies.erase(cluster.policies.begin());
  EXPECT_TRUE(cluster.passes("a/client -> a/web tcp 80"));
  EXPECT_TRUE(cluster.book.left_out().empty());
}

TEST(Policies, SayWhatMatchesNothing) {
  EXPECT_TRUE(policy_warnings(yaml("{spec: {ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}}")).empty());
  EXPECT_EQ(policy_warnings(yaml("{spec: {egress: [{}, {to: [{ipBlock: {cidr: 'fd00::/8'}}]}]}}")),
            (std::vector<std::string>{"spec.egress[1].to[0].ipBlock.cidr: no pod of this machine has an address of "
                                      "IPv6, and \"fd00::/8\" matches nothing"}));
}

TEST(Policies, HolesOfABlockAreLeftOut) {
  const auto ranges = [](const char* text) {
    std::string out;
    for (const auto& [first, last] : block_ranges(yaml(text)))
      out += base::format("{}-{} ", api::ipv4_text(first), api::ipv4_text(last));
    return out;
  };
  EXPECT_EQ(ranges("{cidr: 10.0.0.0/30}"), "10.0.0.0-10.0.0.3 ");
  EXPECT_EQ(ranges("{cidr: 10.0.0.0/30, except: [10.0.0.1/32]}"), "10.0.0.0-10.0.0.0 10.0.0.2-10.0.0.3 ");
  EXPECT_EQ(ranges("{cidr: 10.0.0.0/30, except: [10.0.0.0/31, 10.0.0.2/31]}"), "");
  EXPECT_EQ(ranges("{cidr: 0.0.0.0/0, except: [0.0.0.0/1, 255.255.255.255/32]}"), "128.0.0.0-255.255.255.254 ");
  EXPECT_EQ(ranges("{cidr: 10.0.0.0/33}"), "");
  EXPECT_EQ(ranges("{cidr: 'fd00::/8'}"), "");
}

// The kernel's words, played on a table of sets and chains: what is added must be new, what is deleted must be there
// and not pointed at.
struct Table {
  std::map<std::string, std::set<std::string>> sets{{"coming", {}}, {"leaving", {}}, {"self", {}}};
  std::map<std::string, std::vector<std::string>> chains;
  std::string trouble;

  bool is_used(const std::string& name) const {
    for (const auto& [chain, rules] : chains)
      for (const std::string& rule : rules)
        if (rule.ends_with(" " + name) || rule.find("@" + name + " ") != std::string::npos) return true;
    for (const char* map : {"coming", "leaving"})
      for (const std::string& element : sets.at(map))
        if (element.ends_with(" " + name)) return true;
    return false;
  }
  void play(const std::string& text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = text.find('\n', at);
      line(text.substr(at, end - at));
      at = end + 1;
    }
  }
  void line(const std::string& text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size() && words.size() < 5;) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    const std::string &verb = words[0], &what = words[1], &name = words[4];
    const std::string rest = text.substr(std::min(text.size(), text.find(name) + name.size() + 1));
    const auto fail = [&](bool wrong) {
      if (wrong) trouble += text + "\n";
    };
    if (what == "set" && verb == "add") return fail(!sets.try_emplace(name).second);
    if (what == "set") return fail(is_used(name) || sets.erase(name) == 0);
    if (what == "chain" && verb == "add") return fail(!chains.try_emplace(name).second);
    if (what == "chain" && verb == "flush") return fail(!chains.contains(name)), chains[name].clear();
    if (what == "chain") return fail(!chains[name].empty() || is_used(name) || chains.erase(name) == 0);
    if (what == "rule") return fail(!chains.contains(name)), chains[name].push_back(rest);
    std::string list = rest.substr(2, rest.size() - 4) + ", ";
    for (std::size_t comma = 0; (comma = list.find(", ")) != std::string::npos; list.erase(0, comma + 2))
      fail(verb == "add" ? !sets[name].insert(list.substr(0, comma)).second
                         : sets[name].erase(list.substr(0, comma)) == 0);
  }
  bool operator==(const Table& other) const { return sets == other.sets && chains == other.chains; }
};

std::string after_base(const std::string& text) { return text.substr(text.find("\n}\n}\n") + 5); }

TEST(Policies, ABookThatIsToldOfChangesIsANewOneThatIsToldEverything) {
  std::mt19937 chance(4711);
  const auto pick = [&](int below) { return static_cast<int>(chance() % static_cast<unsigned>(below)); };
  const PolicyTable place{"t", "br", "10.0.0.0/24"};
  Cluster cluster;
  Table table;
  PolicyRules before;
  const char* selectors[] = {"{}", "{matchLabels: {app: web}}", "{matchLabels: {app: db}}",
                             "{matchExpressions: [{key: app, operator: Exists}]}"};
  for (int step = 0; step < 600; ++step) {
    switch (pick(5)) {
      case 0:
        if (!cluster.pods.empty())
          cluster.pods.erase(cluster.pods.begin() + pick(static_cast<int>(cluster.pods.size())));
        break;
      case 1:
        cluster.add(pick(2) != 0 ? "a" : "b", base::format("n{}", step), base::format("10.0.9.{}", pick(20)),
                    pick(2) != 0 ? "app: web" : "app: db", pick(2) != 0 ? "{name: http, containerPort: 80}" : "");
        break;
      case 2:
        if (!cluster.policies.empty())
          cluster.policies.erase(cluster.policies.begin() + pick(static_cast<int>(cluster.policies.size())));
        break;
      case 3: {
        const std::string peer = base::format(
            "[{{from: [{{podSelector: {}}}, {{namespaceSelector: {}}}], ports: [{{port: {}}}]}}]", selectors[pick(4)],
            pick(2) != 0 ? "{}" : "{matchLabels: {team: b}}", pick(2) != 0 ? "http" : base::format("{}", 1 + pick(3)));
        const std::string name = base::format("p{}", pick(5)), ns = pick(2) != 0 ? "a" : "b";
        std::erase_if(cluster.policies, [&](const Json& one) {
          return one["metadata"]["name"].as_string() == name && one["metadata"]["namespace"].as_string() == ns;
        });
        cluster.policy(base::format("{{podSelector: {}, ingress: {}{}}}", selectors[pick(4)], peer,
                                    pick(2) != 0 ? ", egress: []" : ""),
                       name, ns);
        break;
      }
      default: cluster.namespaces[1].edit("metadata").set("labels", pick(2) != 0 ? yaml("{team: b}") : Json());
    }
    const PolicyRules after = cluster.book.update(cluster.objects());
    PolicyBook fresh;
    ASSERT_EQ(after, fresh.update(cluster.objects())) << "step " << step;
    table.play(transaction(place, &before, after));
    Table made;
    made.play(after_base(transaction(place, nullptr, after)));
    ASSERT_EQ(table.trouble + made.trouble, "") << "step " << step;
    ASSERT_EQ(table, made) << "step " << step;
    ASSERT_EQ(transaction(place, &after, after), "");
    before = after;
  }
}

TEST(Policies, AChangeOfOnePodIsAFewWords) {
  Cluster cluster;
  cluster.policy("{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: client}}}]}]}");
  const PolicyRules before = cluster.book.update(cluster.objects());
  cluster.add("a", "more", "10.0.1.9", "app: client", "");
  const std::string chain = before.coming.at(cluster.addresses["a/web"]), set = before.peers.begin()->first;
  EXPECT_EQ(transaction({"t", "br", "10.0.0.0/16"}, &before, cluster.book.update(cluster.objects())),
            base::format("add element ip t coming {{ 10.0.1.9 : goto {} }}\n"
                         "add element ip t self {{ 10.0.1.9 . 10.0.1.9 }}\n"
                         "add element ip t {} {{ 10.0.1.9 }}\n",
                         chain, set));
}

}  // namespace
}  // namespace node
