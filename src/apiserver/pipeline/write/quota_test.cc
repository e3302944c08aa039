// Refusals of quotas and limits, the objects that are counted, and writes at once that do not overshoot.
#include <gtest/gtest.h>

#include "apiserver/custom/custom_for_tests.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
namespace resources = api::resources;

const api::ResourceId kLimitRanges{"", "v1", "limitranges"};

struct Bench : ApiForTests {
  Request request(Verb verb, const api::ResourceId& id, const std::string& name, const std::string& body = "null") {
    Request r;
    r.verb = verb;
    r.kind = api::find_kind(id);
    r.resource = static_cast<std::uint32_t>(r.kind - api::all_kinds().data());
    r.ns = "default";
    r.name = name;
    r.body = *api::parse_json(body);
    r.default_manager = "test";
    return r;
  }
  // "", or the refusal.
  std::string call(Request r) {
    std::string answer = "no answer";
    api.call(std::move(r), [&](base::Result<Answer> a) { answer = a.ok() ? "" : a.error().message; });
    env.settle();
    return answer;
  }
  std::string create(const api::ResourceId& id, const std::string& body) {
    return call(request(Verb::kCreate, id, "", body));
  }
  // `resources`: of its one container.
  std::string create_pod(const std::string& name, const std::string& resources, const std::string& more = "") {
    return create(resources::kPods,
                  base::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"containers":[{{"name":"c","image":"i",
                                  "resources":{}}}]{}}}}})",
                               name, resources, more));
  }
  std::string quota(const std::string& hard, const std::string& more = "") {
    return create(resources::kResourceQuotas,
                  base::format(R"({{"metadata":{{"name":"q"}},"spec":{{"hard":{}{}}}}})", hard, more));
  }
  Json get(const api::ResourceId& id, const std::string& name) {
    Json object;
    api.call(request(Verb::kGet, id, name), [&](base::Result<Answer> a) {
      if (a.ok()) object = object_of(*std::move(a));
    });
    env.settle();
    return object;
  }
  std::string used() {
    env.run_for(base::seconds(1));
    return get(resources::kResourceQuotas, "q")["status"]["used"].dump();
  }
};

TEST(Quotas, refuse_what_exceeds_them_in_kubernetes_words) {
  Bench b;
  EXPECT_EQ(b.quota(R"({"cpu":"2","limits.memory":"1Gi","pods":"2","requests.nvidia.com/gpu":1})"), "");
  EXPECT_EQ(b.create_pod("a", R"({"requests":{"cpu":"1500m"},"limits":{"memory":"512Mi"}})"), "");
  EXPECT_EQ(b.create_pod("b", R"({"requests":{"cpu":"1"},"limits":{"memory":"1Gi"}})"),
            "pods \"b\" is forbidden: exceeded quota: q, requested: cpu=1,limits.memory=1Gi, used: "
            "cpu=1500m,limits.memory=512Mi, limited: cpu=2,limits.memory=1Gi");
  EXPECT_EQ(b.create_pod("b", R"({"requests":{"cpu":"1"}})"),
            "pods \"b\" is forbidden: failed quota: q: must specify limits.memory for: c");
  EXPECT_EQ(b.create_pod("b", R"({"requests":{"cpu":"1m"},"limits":{"memory":"1Mi","nvidia.com/gpu":2}})"),
            "pods \"b\" is forbidden: exceeded quota: q, requested: requests.nvidia.com/gpu=2, used: "
            "requests.nvidia.com/gpu=0, limited: requests.nvidia.com/gpu=1");
  EXPECT_EQ(b.used(), R"({"cpu":"1500m","limits.memory":"512Mi","pods":"1","requests.nvidia.com/gpu":"0"})");
}

TEST(Quotas, want_pods_to_say_what_they_count) {
  struct Row {
    const char* hard;
    const char* scopes;
    const char* resources;
    const char* why;
  };
  const Row rows[] = {
      {R"({"requests.cpu":"4"})", "", "{}", "failed quota: q: must specify requests.cpu for: c"},
      {R"({"requests.cpu":"4"})", "", R"({"requests":{"cpu":"1"}})", ""},
      {R"({"requests.cpu":"4"})", R"(,"scopes":["Terminating"])", "{}", ""},
      {R"({"requests.cpu":"4"})", R"(,"scopes":["NotTerminating"])", "{}",
       "failed quota: q: must specify requests.cpu for: c"},
      {R"({"requests.nvidia.com/gpu":"4"})", "", "{}", ""},
  };
  for (const Row& row : rows) {
    Bench b;
    ASSERT_EQ(b.quota(row.hard, row.scopes), "");
    const std::string answer = b.create_pod("p", row.resources);
    EXPECT_EQ(answer.substr(answer.empty() ? 0 : std::string_view("pods \"p\" is forbidden: ").size()), row.why)
        << row.hard << row.scopes;
  }
}

TEST(Quotas, writes_at_once_do_not_overshoot) {
  Bench b;
  b.quota(R"({"count/configmaps":2})");
  int made = 0, refused = 0;
  for (const char* name : {"a", "b", "c", "d"})
    b.api.call(
        b.request(Verb::kCreate, resources::kConfigMaps, "", base::format(R"({{"metadata":{{"name":"{}"}}}})", name)),
        [&](base::Result<Answer> a) { ++(a.ok() ? made : refused); });
  b.env.settle();
  EXPECT_EQ(made, 2);
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(b.call(b.request(Verb::kDelete, resources::kConfigMaps, "a")), "");
  EXPECT_EQ(b.create(resources::kConfigMaps, R"({"metadata":{"name":"e"}})"), "");
  EXPECT_EQ(b.used(), R"({"count/configmaps":"2"})");
}

TEST(Quotas, count_what_was_there_before_and_what_ends) {
  Bench b;
  for (int i = 0; i < 600; ++i) b.create(resources::kConfigMaps, base::format(R"({{"metadata":{{"name":"m{}"}}}})", i));
  b.create_pod("a", R"({"requests":{"cpu":"1"}})");
  EXPECT_EQ(b.quota(R"({"configmaps":600,"pods":1,"requests.cpu":"1"})"), "");
  EXPECT_EQ(b.used(), R"({"configmaps":"600","pods":"1","requests.cpu":"1"})");
  EXPECT_NE(b.create(resources::kConfigMaps, R"({"metadata":{"name":"more"}})"), "");
  Request over = b.request(Verb::kPatch, resources::kPods, "a", R"({"status":{"phase":"Succeeded"}})");
  over.subresource = "status";
  EXPECT_EQ(b.call(over), "");
  EXPECT_EQ(b.used(), R"({"configmaps":"600","pods":"0","requests.cpu":"0"})");
  EXPECT_EQ(b.call(b.request(Verb::kPatch, resources::kResourceQuotas, "q", R"({"spec":{"hard":{"configmaps":601}}})")),
            "");
  EXPECT_EQ(b.create(resources::kConfigMaps, R"({"metadata":{"name":"more"}})"), "");
}

TEST(Quotas, count_themselves_once) {
  for (const int maps : {0, 600}) {  // so many are not counted in one turn
    Bench b;
    for (int i = 0; i < maps; ++i)
      b.create(resources::kConfigMaps, base::format(R"({{"metadata":{{"name":"m{}"}}}})", i));
    EXPECT_EQ(b.quota(R"({"configmaps":600,"count/resourcequotas":3,"resourcequotas":2})"), "");
    EXPECT_EQ(b.used(), base::format(R"({{"configmaps":"{}","count/resourcequotas":"1","resourcequotas":"1"}})", maps));
    const auto another = [&](const char* name) {
      return b.create(resources::kResourceQuotas,
                      base::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"hard":{{"pods":1}}}}}})", name));
    };
    EXPECT_EQ(another("r"), "");
    EXPECT_EQ(another("s"),
              "resourcequotas \"s\" is forbidden: exceeded quota: q, requested: resourcequotas=1, used: "
              "resourcequotas=2, limited: resourcequotas=2");
    EXPECT_EQ(b.call(b.request(Verb::kDelete, resources::kResourceQuotas, "r")), "");
    EXPECT_EQ(b.used(), base::format(R"({{"configmaps":"{}","count/resourcequotas":"1","resourcequotas":"1"}})", maps));
  }
}

TEST(Quotas, a_dry_run_counts_nothing) {
  Bench b;
  b.quota(R"({"configmaps":1})");
  for (int i = 0; i < 2; ++i) {
    Request dry = b.request(Verb::kCreate, resources::kConfigMaps, "", R"({"metadata":{"name":"a"}})");
    dry.dry_run = true;
    EXPECT_EQ(b.call(dry), "");
  }
  EXPECT_EQ(b.used(), R"({"configmaps":"0"})");
}

TEST(Quotas, are_about_their_scopes) {
  struct Row {
    const char* scopes;
    const char* resources;
    const char* more;
    bool counted;
  };
  const Row rows[] = {
      {R"(,"scopes":["BestEffort"])", "{}", "", true},
      {R"(,"scopes":["BestEffort"])", R"({"requests":{"cpu":1}})", "", false},
      {R"(,"scopes":["NotBestEffort"])", R"({"requests":{"cpu":1}})", "", true},
      {R"(,"scopes":["Terminating"])", "{}", R"(,"activeDeadlineSeconds":9)", true},
      {R"(,"scopes":["NotTerminating"])", "{}", R"(,"activeDeadlineSeconds":9)", false},
      {R"(,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"In","values":["system-node-critical"]}]})",
       "{}", R"(,"priorityClassName":"system-node-critical")", true},
      {R"(,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"NotIn","values":["x"]}]})",
       "{}", "", true},
      {R"(,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"}]})", "{}", "", false},
  };
  for (const Row& row : rows) {
    Bench b;
    EXPECT_EQ(b.quota(R"({"pods":0})", row.scopes), "") << row.scopes;
    EXPECT_EQ(!b.create_pod("p", row.resources, row.more).empty(), row.counted) << row.scopes << row.more;
  }
}

TEST(Quotas, have_scopes_that_fit_what_they_count) {
  const std::tuple<const char*, const char*, bool> rows[] = {
      {R"({"cpu":1})", R"(,"scopes":["BestEffort"])", false},
      {R"({"cpu":1})", R"(,"scopes":["NotBestEffort"])", true},
      {R"({"pods":1,"count/jobs.batch":1,"requests.nvidia.com/gpu":1})", R"(,"scopes":["BestEffort"])", true},
      {R"({"configmaps":1})", R"(,"scopes":["Terminating"])", false},
      {R"({"services":1})",
       R"(,"scopeSelector":{"matchExpressions":[{"scopeName":"PriorityClass","operator":"Exists"}]})", false},
  };
  for (const auto& [hard, scopes, fits] : rows) {
    Bench b;
    const std::string refusal = b.quota(hard, scopes);
    EXPECT_EQ(refusal.empty(), fits) << hard << scopes << refusal;
    EXPECT_EQ(refusal.find("unsupported scope applied to resource") != std::string::npos, !fits) << refusal;
  }
}

TEST(Quotas, count_services_and_claims_by_what_they_are) {
  Bench b;
  b.quota(
      R"({"services":9,"services.nodeports":9,"services.loadbalancers":9,"requests.storage":"9Gi","persistentvolumeclaims":9,
              "fast.storageclass.storage.k8s.io/requests.storage":"9Gi"})");
  b.create(resources::kServices, R"({"metadata":{"name":"a"},"spec":{"ports":[{"port":1}]}})");
  b.create(
      resources::kServices,
      R"({"metadata":{"name":"b"},"spec":{"type":"LoadBalancer","ports":[{"port":1,"name":"x"},{"port":2,"name":"y"}]}})");
  b.create(resources::kPersistentVolumeClaims, R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],
           "storageClassName":"fast","resources":{"requests":{"storage":"2Gi"}}}})");
  EXPECT_EQ(
      b.used(),
      R"({"fast.storageclass.storage.k8s.io/requests.storage":"2Gi","persistentvolumeclaims":"1","requests.storage":"2Gi",)"
      R"("services":"2","services.loadbalancers":"1","services.nodeports":"2"})");
}

TEST(Quotas, say_what_is_wrong_with_themselves) {
  for (const char* hard : {R"({"nonsense":1})", R"({"pods":"-1"})", R"({"pods":"1500m"})", R"({"a b":1})"}) {
    Bench b;
    EXPECT_NE(b.quota(hard), "") << hard;
  }
  Bench b;
  EXPECT_NE(b.quota(R"({"pods":1})", R"(,"scopes":["BestEffort","NotBestEffort"])"), "");
  EXPECT_NE(b.quota(R"({"configmaps":1})", R"(,"scopes":["BestEffort"])"), "");
  EXPECT_NE(b.quota(R"({"pods":1})", R"(,"scopes":["Else"])"), "");
}

std::string limits(const std::string& item) {
  return base::format(R"({{"metadata":{{"name":"l"}},"spec":{{"limits":[{}]}}}})", item);
}

TEST(Limits, are_given_to_containers_that_say_nothing) {
  Bench b;
  EXPECT_EQ(
      b.create(
          kLimitRanges,
          limits(
              R"({"type":"Container","max":{"cpu":"2"},"default":{"memory":"1Gi"},"defaultRequest":{"memory":"1Mi"}})")),
      "");
  EXPECT_EQ(b.get(kLimitRanges, "l")["spec"]["limits"][std::size_t{0}]["defaultRequest"].sorted().dump(),
            R"({"cpu":"2","memory":"1Mi"})");
  EXPECT_EQ(b.create_pod("p", "{}"), "");
  const Json pod = b.get(resources::kPods, "p");
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{0}]["resources"].sorted().dump(),
            R"({"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"2","memory":"1Mi"}})");
  EXPECT_EQ(api::annotation_of(pod, "kubernetes.io/limit-ranger"),
            "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c");
  EXPECT_EQ(pod["status"]["qosClass"].as_string(), "Burstable");
}

// Two thousand defaults in each of twenty thousand containers would be forty million.
TEST(Limits, of_many_resources_in_many_containers_are_refused_before_they_are_given) {
  Bench b;
  std::string amounts, containers;
  for (int i = 0; i < 2'000; ++i) amounts += base::format("{}\"x/r{}\":\"1\"", i == 0 ? "" : ",", i);
  for (int i = 0; i < 20'000; ++i)
    containers += base::format(R"({}{{"name":"c{}","image":"i"}})", i == 0 ? "" : ",", i);
  const std::string pod = base::format(R"({{"metadata":{{"name":"p"}},"spec":{{"containers":[{}]}}}})", containers);
  for (const char* part : {"default", "min"}) {
    EXPECT_EQ(b.create(kLimitRanges, limits(base::format(R"({{"type":"Container","{}":{{{}}}}})", part, amounts))), "");
    const std::string refused = b.create(resources::kPods, pod);
    EXPECT_NE(refused, "") << part;
    EXPECT_LE(refused.size(), 100'000u) << part;
    EXPECT_EQ(b.call(b.request(Verb::kDelete, kLimitRanges, "l", "{}")), "");
  }
}

TEST(Limits, refuse_in_kubernetes_words) {
  struct Row {
    const char* item;
    const char* resources;
    const char* refusal;
  };
  const Row rows[] = {
      {R"({"type":"Container","max":{"cpu":"1"}})", R"({"limits":{"cpu":2}})",
       "maximum cpu usage per Container is 1, but limit is 2"},
      {R"({"type":"Container","min":{"cpu":"1"},"defaultRequest":{"cpu":"1"}})", R"({"requests":{"cpu":"100m"}})",
       "minimum cpu usage per Container is 1, but request is 100m"},
      {R"({"type":"Pod","max":{"cpu":"1","memory":"1Gi"}})", "{}",
       "[maximum cpu usage per Pod is 1. No limit is specified, maximum memory usage per Pod is 1Gi. No limit is "
       "specified]"},
      {R"({"type":"Pod","min":{"cpu":"1"}})", "{}", "minimum cpu usage per Pod is 1. No request is specified"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})", R"({"requests":{"cpu":1},"limits":{"cpu":3}})",
       "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})", R"({"requests":{"cpu":1}})",
       "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"},
      {R"({"type":"Container","maxLimitRequestRatio":{"cpu":"2"}})", R"({"requests":{"cpu":1},"limits":{"cpu":2}})",
       ""},
  };
  for (const Row& row : rows) {
    Bench b;
    EXPECT_EQ(b.create(kLimitRanges, limits(row.item)), "") << row.item;
    const std::string refusal = row.refusal;
    EXPECT_EQ(b.create_pod("p", row.resources), refusal.empty() ? "" : "pods \"p\" is forbidden: " + refusal)
        << row.item;
  }
}

TEST(Limits, hold_for_claims_when_they_grow_too) {
  Bench b;
  b.create(kLimitRanges, limits(R"({"type":"PersistentVolumeClaim","min":{"storage":"1Gi"},"max":{"storage":"2Gi"}})"));
  const auto claim = [&b](const char* storage) {
    return b.create(resources::kPersistentVolumeClaims,
                    base::format(R"({{"metadata":{{"name":"c"}},"spec":{{"accessModes":["ReadWriteOnce"],
                                     "resources":{{"requests":{{"storage":"{}"}}}}}}}})",
                                 storage));
  };
  EXPECT_EQ(claim("3Gi"),
            "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per PersistentVolumeClaim is 2Gi, but "
            "request is 3Gi");
  EXPECT_EQ(claim("1"),
            "persistentvolumeclaims \"c\" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but "
            "request is 1");
  EXPECT_EQ(claim("2Gi"), "");
  EXPECT_NE(b.call(b.request(Verb::kPatch, resources::kPersistentVolumeClaims, "c",
                             R"({"spec":{"resources":{"requests":{"storage":"3Gi"}}}})")),
            "");
}

TEST(Limits, say_what_is_wrong_with_themselves) {
  for (const char* item :
       {R"({"type":"Container","min":{"cpu":2},"max":{"cpu":1}})",
        R"({"type":"Container","default":{"cpu":2},"max":{"cpu":1}})", R"({"type":"Pod","default":{"cpu":2}})",
        R"({"type":"Other"})", R"({"type":"PersistentVolumeClaim"})",
        R"({"type":"Container","maxLimitRequestRatio":{"cpu":"500m"}})", R"({"type":"Pod"},{"type":"Pod"})"}) {
    Bench b;
    EXPECT_NE(b.create(kLimitRanges, limits(item)), "") << item;
  }
}

TEST(Quotas, count_kinds_of_strangers) {
  CustomBench b;
  const auto quota = [&] {
    b.env.run_for(base::seconds(1));
    return b.ok(b.request(Verb::kGet, resources::kResourceQuotas, "q"))["status"]["used"].dump();
  };
  b.ok(b.request(
      Verb::kCreate, resources::kResourceQuotas, "",
      yaml("{metadata: {name: q}, spec: {hard: {count/widgets.example.com: 2, count/none.example.com: 1}}}")));
  b.define_widgets();  // a quota may come first
  b.ok(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small}", "a")));
  b.ok(b.request(Verb::kCreate, kWidgetsBeta, "", b.widget("{size: small}", "b")));
  EXPECT_EQ(b.refused(b.request(Verb::kCreate, kWidgetsV1, "", b.widget("{size: small}", "c"))),
            "widgets.example.com \"c\" is forbidden: exceeded quota: q, requested: count/widgets.example.com=1, used: "
            "count/widgets.example.com=2, limited: count/widgets.example.com=2");
  EXPECT_EQ(quota(), R"({"count/none.example.com":"0","count/widgets.example.com":"2"})");
  b.ok(b.request(Verb::kPatch, kWidgetsV1, "a", yaml("{spec: {size: large}}")));
  b.ok(b.request(Verb::kDelete, kWidgetsV1, "b"));
  EXPECT_EQ(quota(), R"({"count/none.example.com":"0","count/widgets.example.com":"1"})");
  // One that is made later counts what is there.
  b.ok(b.request(Verb::kDelete, resources::kResourceQuotas, "q"));
  b.ok(b.request(Verb::kCreate, resources::kResourceQuotas, "",
                 yaml("{metadata: {name: q}, spec: {hard: {count/widgets.example.com: 5, pods: 3}}}")));
  EXPECT_EQ(quota(), R"({"count/widgets.example.com":"1","pods":"0"})");
}

TEST(Quotas, of_very_many_names_are_refused) {
  Bench b;
  std::string hard;
  for (int i = 0; i < 1'001; ++i) hard += base::format(R"({}"count/a{}.example.com":1)", i == 0 ? "" : ",", i);
  EXPECT_EQ(b.quota("{" + hard + "}"),
            "ResourceQuota \"q\" is invalid: spec.hard: Too many: 1001: must have at most 1000 items");
}

TEST(Quotas, that_count_more_kinds_than_there_may_be_count_the_first) {
  Bench b;
  const std::size_t tables = b.store->table("zz.example.com/first");
  const auto of = [](int from, int to) {
    std::string hard;
    for (int i = from; i < to; ++i) hard += base::format(R"({}"count/a{}.example.com":1)", i == from ? "" : ",", i);
    return "{" + hard + "}";
  };
  const auto create = [&](const std::string& name, const std::string& hard) {
    return b.create(resources::kResourceQuotas,
                    base::format(R"({{"metadata":{{"name":"{}"}},"spec":{{"hard":{}}}}})", name, hard));
  };
  // A version behind the name is none of a kind.
  EXPECT_EQ(create("none", R"({"count/mpijobs/v1.kubeflow.org":1})"), "");
  EXPECT_EQ(create("a", of(0, 600)), "");
  EXPECT_EQ(create("b", of(600, 1'200)), "");
  EXPECT_EQ(b.store->table("zz.example.com/last"), tables + 1'001U);
}

}  // namespace
}  // namespace apiserver
