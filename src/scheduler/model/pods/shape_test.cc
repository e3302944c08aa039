// Which pods are one class, and which differ.
#include "scheduler/model/pods/shape.h"

#include <gtest/gtest.h>

#include "scheduler/model/model.h"

namespace scheduler {
namespace {

api::Json parse(std::string_view text) {
  auto out = api::parse_json(text);
  EXPECT_TRUE(out.ok()) << text;
  return out.ok() ? *out : api::Json();
}

struct RequestCase {
  const char* fact;
  const char* spec;
  std::int64_t cpu;
};

TEST(PodRequest, follows_containers_init_containers_sidecars_overhead_and_pod_level) {
  const RequestCase cases[] = {
      {"sum of containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}},{"resources":{"requests":{"cpu":"500m"}}}]})", 1500},
      {"largest init container",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"resources":{"requests":{"cpu":"3"}}}]})",
       3000},
      {"sidecars add to containers and to later init containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"initContainers":[{"restartPolicy":"Always","resources":{"requests":{"cpu":"2"}}},{"resources":{"requests":{"cpu":"2"}}}]})",
       4000},
      {"overhead is added", R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"overhead":{"cpu":"250m"}})",
       1250},
      {"pod level replaces",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"resources":{"requests":{"cpu":"5"}}})", 5000},
  };
  for (const RequestCase& one : cases) {
    Dimensions dimensions;
    const Request request = pod_request(api::Json::object({{"spec", parse(one.spec)}}), dimensions);
    EXPECT_EQ(request.get(kCpu), one.cpu) << one.fact;
    EXPECT_EQ(request.get(kPods), 1) << one.fact;
  }
}

// Every field that a filter or a score reads splits classes; fields that none reads do not.
TEST(ShapeKey, splits_exactly_where_a_decision_could_differ) {
  const api::Json base_pod = parse(
      R"({"metadata":{"name":"a","namespace":"n","uid":"1","labels":{"x":"1"}},"spec":{"schedulerName":"volcano","containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}})");
  std::string key, other;
  shape_key(base_pod, key);
  const char* splitting[] = {
      R"({"nodeSelector":{"a":"b"}})",
      R"({"affinity":{"nodeAffinity":{}}})",
      R"({"tolerations":[{"key":"k","operator":"Exists"}]})",
      R"({"overhead":{"cpu":"1"}})",
      R"({"topologySpreadConstraints":[{"maxSkew":1}]})",
      R"({"resources":{"requests":{"cpu":"1"}}})",
      R"({"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c"}}]})",
      R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]})",
      R"({"containers":[{"name":"c","image":"j","resources":{"requests":{"cpu":"1"}}}]})",
      R"({"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}},"ports":[{"hostPort":80}]}]})",
      R"({"initContainers":[{"name":"i","resources":{}}]})",
  };
  for (const char* change : splitting) {
    api::Json pod = base_pod;
    const api::Json fields = parse(change);
    for (const auto& member : fields.members()) pod.edit("spec").set(member.name(), member.value);
    shape_key(pod, other);
    EXPECT_NE(key, other) << change;
  }
  const char* silent[] = {
      R"({"hostname":"h"})",
      R"({"serviceAccountName":"s"})",
      R"({"restartPolicy":"Never"})",
      R"({"priority":5})",
      R"({"volumes":[{"name":"v","emptyDir":{}}]})",
      R"({"containers":[{"name":"other","image":"i","command":["x"],"env":[],"resources":{"requests":{"cpu":"1"}}}]})",
  };
  for (const char* change : silent) {
    api::Json pod = base_pod;
    const api::Json fields = parse(change);
    for (const auto& member : fields.members()) pod.edit("spec").set(member.name(), member.value);
    shape_key(pod, other);
    EXPECT_EQ(key, other) << change;
  }
  api::Json renamed = base_pod;
  renamed.edit("metadata").set("name", "b");
  renamed.edit("metadata").set("labels", api::Json::object({{"y", "2"}}));
  shape_key(renamed, other);
  EXPECT_EQ(key, other);
}

// A sidecar of many resources, and many containers that begin after it; as in api::containers_total().
TEST(PodRequest, of_many_init_containers_behind_a_large_sidecar) {
  constexpr int kMany = 10'000;
  api::Json spec = parse(R"({"initContainers":[{"name":"s","restartPolicy":"Always"}]})");
  for (int i = 0; i < kMany; ++i)
    spec.edit("initContainers").edit(0).edit_path({"resources", "requests"}).set("x/r" + std::to_string(i), "1");
  const api::Json small = parse(R"({"name":"c","resources":{"requests":{"x/r1":"2","cpu":"5m"}}})");
  for (int i = 0; i < kMany; ++i) spec.edit("initContainers").push_back(small);
  Dimensions dimensions;
  for (int i = 0; i < kMany; ++i) dimensions.intern("x/r" + std::to_string(i));
  const Request request = pod_request(api::Json::object({{"spec", spec}}), dimensions);
  EXPECT_EQ(request.parts.size(), static_cast<std::size_t>(kMany) + 3);
  EXPECT_EQ(request.get(*dimensions.dim_of("x/r1")), 3'000);
  EXPECT_EQ(request.get(*dimensions.dim_of("x/r2")), 1'000);
  EXPECT_EQ(request.get(kCpu), 5);
}

// All terms of a required affinity are met by one pod, so that those of one topology key are one.
TEST(PodTerms, of_a_required_affinity_are_as_many_as_its_topology_keys) {
  struct Matchers final : MatcherSource {
    MatcherId matcher_for(std::vector<PodSelector> all_of) override {
      asked.push_back(all_of.size());
      return MatcherId{static_cast<std::uint32_t>(asked.size())};
    }
    std::vector<std::size_t> asked;
  };
  std::string terms;
  const auto add_term = [&terms](std::size_t i) {
    const std::string label = std::to_string(i);
    terms += (i == 0 ? "" : ",") + (R"({"labelSelector":{"matchLabels":{"l)" + label) + R"(":"v"}},"topologyKey":")" +
             (i % 2 == 0 ? "zone" : "rack") + "\"}";
  };
  for (std::size_t i = 0; i < kPodTermsMax; ++i) add_term(i);
  const auto shape_with = [&](const std::string& kind, Matchers& matchers) {
    Dimensions dimensions;
    Symbols symbols;
    return shape_from(parse(R"({"metadata":{"name":"p","namespace":"d"},"spec":{"affinity":{")" + kind +
                            R"(":{"requiredDuringSchedulingIgnoredDuringExecution":[)" + terms + "]}}}}"),
                      dimensions, symbols, matchers);
  };
  Matchers joint, each;
  EXPECT_EQ(shape_with("podAffinity", joint).affinity.size(), 2u);
  EXPECT_EQ(joint.asked, std::vector<std::size_t>{kPodTermsMax});
  EXPECT_EQ(shape_with("podAntiAffinity", each).anti_affinity.size(), kPodTermsMax);
  EXPECT_EQ(each.asked, std::vector<std::size_t>(kPodTermsMax, 1));
  Matchers none;
  add_term(kPodTermsMax);
  const Shape too_many = shape_with("podAntiAffinity", none);
  EXPECT_TRUE(too_many.has_too_many_terms && too_many.anti_affinity.empty() && none.asked.empty());
}

// Each is held against each set of labels.
TEST(PodTerms, have_a_thousand_requirements_at_most) {
  struct Matchers final : MatcherSource {
    MatcherId matcher_for(std::vector<PodSelector>) override { return {}; }
  } matchers;
  const auto is_too_much = [&](std::size_t requirements, const std::string& selector) {
    std::string list;
    for (std::size_t i = 0; i < requirements; ++i)
      list += (i == 0 ? "" : ",") + (R"({"key":"k)" + std::to_string(i)) + R"(","operator":"DoesNotExist"})";
    Dimensions dimensions;
    Symbols symbols;
    return shape_from(parse(R"({"metadata":{"name":"p","namespace":"d"},"spec":{"affinity":{"podAntiAffinity":{)"
                            R"("requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone",")" +
                            selector + R"(":{"matchExpressions":[)" + list + "]}}]}}}}"),
                      dimensions, symbols, matchers)
        .has_too_many_terms;
  };
  for (const std::string selector : {"labelSelector", "namespaceSelector"}) {
    EXPECT_FALSE(is_too_much(kPodRequirementsMax, selector));
    EXPECT_TRUE(is_too_much(kPodRequirementsMax + 1, selector));
  }
}

// Each is held against each node, and a pod has room for tens of thousands.
TEST(NodeTerms, of_a_pod_are_bounded) {
  struct Matchers final : MatcherSource {
    MatcherId matcher_for(std::vector<PodSelector>) override { return {}; }
  } matchers;
  const auto shape_with = [&](std::size_t terms) {
    std::string list;
    for (std::size_t i = 0; i < terms; ++i)
      list += (i == 0 ? "" : ",") + std::string(R"({"matchExpressions":[{"key":"k","operator":"Gt","values":["5"]}]})");
    Dimensions dimensions;
    Symbols symbols;
    return shape_from(parse(R"({"metadata":{"name":"p"},"spec":{"affinity":{"nodeAffinity":{)"
                            R"("requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[)" +
                            list + "]}}}}}"),
                      dimensions, symbols, matchers);
  };
  const Shape most = shape_with(kNodeTermsMax / 2), too_many = shape_with(kNodeTermsMax / 2 + 1);
  EXPECT_EQ(most.required_terms.size(), kNodeTermsMax / 2);
  EXPECT_FALSE(most.has_too_many_terms);
  EXPECT_TRUE(too_many.has_too_many_terms && too_many.has_required_terms && too_many.required_terms.empty());
}

TEST(Toleration, matches_as_kubernetes_does) {
  Symbols symbols;
  const auto taints = taints_from(parse(R"([{"key":"k","value":"v","effect":"NoSchedule"}])"), symbols);
  const auto tolerated = [&](std::string_view text) {
    return tolerates(tolerations_from(parse(text), symbols), taints[0]);
  };
  EXPECT_TRUE(tolerated(R"([{"operator":"Exists"}])"));
  EXPECT_TRUE(tolerated(R"([{"key":"k","operator":"Exists"}])"));
  EXPECT_TRUE(tolerated(R"([{"key":"k","value":"v"}])"));
  EXPECT_TRUE(tolerated(R"([{"key":"k","value":"v","effect":"NoSchedule"}])"));
  EXPECT_FALSE(tolerated(R"([{"key":"k","value":"w"}])"));
  EXPECT_FALSE(tolerated(R"([{"key":"k","value":"v","effect":"NoExecute"}])"));
  EXPECT_FALSE(tolerated(R"([{"key":"j","operator":"Exists"}])"));
}

}  // namespace
}  // namespace scheduler
