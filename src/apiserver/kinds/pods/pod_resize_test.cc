// Pods that are resized through their subresource: what changes, what is refused and why, and who counts it.
#include <gtest/gtest.h>

#include "api/pod_requests.h"
#include "apiserver/http/route.h"
#include "apiserver/pipeline/api_for_tests.h"
#include "base/format.h"

namespace apiserver {
namespace {

using api::Json;
using base::Code;

constexpr const char* kStrategic = "application/strategic-merge-patch+json";
constexpr const char* kPods = "/api/v1/namespaces/default/pods";

struct Bench : ApiForTests {
  base::Result<Json> ask(std::string method, std::string target, std::string_view body = "",
                         std::string type = "application/json") {
    rt::HttpRequest http;
    http.method = std::move(method);
    http.target = std::move(target);
    http.headers = {{"Content-Type", std::move(type)}};
    http.body = body;
    TRY(auto routed, route(http, rt::parse_target(http.target)));
    CHECK(routed.has_value());
    TRY_VOID(decode_body(http, *routed));
    routed->default_manager = "test";
    std::optional<base::Result<Answer>> answer;
    api.call(*std::move(routed), [&](base::Result<Answer> a) { answer.emplace(std::move(a)); });
    env.settle();
    TRY(Answer got, *std::move(answer));
    return object_of(std::move(got));
  }
  // "", or the refusal.
  std::string refusal(std::string method, std::string target, std::string_view body, std::string type = kStrategic) {
    const auto answer = ask(std::move(method), std::move(target), body, std::move(type));
    return answer.ok() ? "" : answer.error().message;
  }
  std::string resize(std::string_view spec) {
    return refusal("PATCH", std::string(kPods) + "/p/resize", base::format(R"({{"spec":{}}})", spec));
  }
  std::string set_status(std::string_view status) {
    return refusal("PATCH", std::string(kPods) + "/p/status", base::format(R"({{"status":{}}})", status));
  }
  // A pod with the containers a (1 to 2 processors, 1 to 2 GiB) and b (nothing said), and init containers.
  void create(std::string_view more = "", std::string_view metadata = "") {
    const std::string body = base::format(
        R"({{"metadata":{{"name":"p"{}}},"spec":{{"containers":[
            {{"name":"a","image":"i","resizePolicy":[{{"resourceName":"cpu","restartPolicy":"NotRequired"}}],
             "resources":{{"requests":{{"cpu":"1","memory":"1Gi"}},"limits":{{"cpu":"2","memory":"2Gi","example.com/x":1}}}}}},
            {{"name":"b","image":"i"}}],
          "initContainers":[{{"name":"s","image":"i","restartPolicy":"Always","resources":{{"requests":{{"cpu":"100m"}}}}}},
            {{"name":"once","image":"i"}}]{}}}}})",
        metadata, more);
    const auto made = ask("POST", kPods, body);
    ASSERT_TRUE(made.ok()) << made.error().message;
  }
  Json pod() { return *ask("GET", std::string(kPods) + "/p"); }
};

TEST(Resize, changes_cpu_and_memory_and_nothing_else) {
  Bench b;
  b.create();
  const Json before = b.pod();
  EXPECT_EQ(b.resize(R"({"priority":7,"containers":[{"name":"a","image":"other",
            "resources":{"requests":{"cpu":"1500m"},"limits":{"memory":"1Gi"}}}]})"),
            "")
      << "what is of no concern to this subresource is left out, and memory may shrink";
  const Json after = b.pod();
  EXPECT_EQ(after["spec"]["containers"][std::size_t{0}]["resources"]["requests"].dump(),
            R"({"cpu":"1500m","memory":"1Gi","example.com/x":"1"})");
  EXPECT_EQ(after["spec"]["containers"][std::size_t{0}]["resources"]["limits"]["memory"].as_string(), "1Gi");
  EXPECT_EQ(after["spec"]["containers"][std::size_t{0}]["image"].as_string(), "i");
  EXPECT_EQ(after["spec"]["priority"], before["spec"]["priority"]);
  EXPECT_EQ(after["metadata"]["generation"].as_int(), before["metadata"]["generation"].as_int() + 1);
  EXPECT_EQ(b.resize(R"({"initContainers":[{"name":"s","resources":{"requests":{"cpu":"200m"}}}]})"), "");
  EXPECT_EQ(b.resize(R"({"containers":[{"name":"b","resources":{"requests":{"cpu":"1"}}}]})"), "") << "what is added";
  // A PUT of the whole pod does the same.
  Json whole = *b.ask("GET", std::string(kPods) + "/p/resize");
  whole.edit("metadata").set("labels", *api::parse_json(R"({"l":"m"})"));
  whole.edit_path({"spec", "containers"}).edit(0).edit("resources").edit("requests").set("cpu", "1700m");
  EXPECT_EQ(b.refusal("PUT", std::string(kPods) + "/p/resize", whole.dump(), "application/json"), "");
  EXPECT_EQ(b.pod()["metadata"]["labels"].dump(), "null");
  EXPECT_EQ(b.pod()["spec"]["containers"][std::size_t{0}]["resources"]["requests"]["cpu"].as_string(), "1700m");
  // And so does a JSON patch.
  EXPECT_EQ(b.refusal("PATCH", std::string(kPods) + "/p/resize",
                      R"([{"op":"replace","path":"/spec/containers/0/resources/requests/cpu","value":"1600m"}])",
                      "application/json-patch+json"),
            "");
  EXPECT_EQ(b.pod()["spec"]["containers"][std::size_t{0}]["resources"]["requests"]["cpu"].as_string(), "1600m");
}

TEST(Resize, is_applied_and_owned) {
  Bench b;
  b.create();
  const std::string target = std::string(kPods) + "/p/resize?fieldManager=vpa&force=true";
  EXPECT_EQ(
      b.refusal("PATCH", target,
                R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"l":"m"}},"spec":{"priority":7,
                "containers":[{"name":"a","image":"other","resources":{"requests":{"cpu":"1500m"}}}]}})",
                "application/apply-patch+yaml"),
      "");
  const Json pod = b.pod();
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{0}]["resources"]["requests"]["cpu"].as_string(), "1500m");
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{0}]["image"].as_string(), "i");
  bool owned = false;
  for (const Json& manager : pod["metadata"]["managedFields"].items()) {
    if (manager["manager"].as_string() != "vpa") continue;
    owned = true;
    EXPECT_EQ(manager["subresource"].as_string(), "resize");
    const std::string fields = manager["fieldsV1"].dump();
    EXPECT_NE(fields.find("f:cpu"), std::string::npos) << fields;
    EXPECT_EQ(fields.find("f:image"), std::string::npos) << fields;
    EXPECT_EQ(fields.find("f:labels"), std::string::npos) << fields;
  }
  EXPECT_TRUE(owned);
}

TEST(Resize, is_refused_in_the_words_of_Kubernetes) {
  struct Row {
    std::string_view spec;
    std::string_view words;
  };
  const Row rows[] = {
      {R"({"initContainers":[{"name":"s","resources":{"requests":{"cpu":null}}}]})",
       "spec.initContainers[0].resources.requests: Forbidden: resource requests cannot be removed"},
      {R"({"containers":[{"name":"a","resources":{"limits":{"memory":null}}}]})",
       "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed"},
      {R"({"containers":[{"name":"a","resources":null}]})", "resource requests cannot be removed"},
      {R"({"containers":[{"name":"a","resources":{"requests":{"example.com/x":2},"limits":{"example.com/x":2}}}]})",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {R"({"containers":[{"name":"b","resources":{"requests":{"ephemeral-storage":"1Gi"}}}]})",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {R"({"containers":[{"name":"a","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]}]})",
       "spec: Forbidden: only cpu and memory resources are mutable"},
      {R"({"containers":[{"name":"c","image":"i"}]})",
       "spec.containers: Forbidden: containers may not be added or removed on resize"},
      {R"({"containers":[{"name":"b","$patch":"delete"}]})",
       "spec.containers: Forbidden: containers may not be added or removed on resize"},
      {R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]})",
       "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"},
      {R"({"initContainers":[{"name":"more","image":"i"}]})",
       "spec.initContainers: Forbidden: initContainers may not be added or removed on resize"},
      {R"({"initContainers":[{"name":"once","resources":{"requests":{"ephemeral-storage":"1Gi"}}}]})",
       "spec.initContainers[1]: Forbidden: only cpu and memory resources for init or sidecar containers are mutable"},
      {R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"3"}}}]})",
       "must be less than or equal to cpu limit of 2"},
      {R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"-1"}}}]})", "must be greater than or equal to 0"},
      {R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"lots"}}}]})", "lots"},
      {R"({"containers":"a"})", "spec.containers"},
      {R"({"containers":[7]})", "spec.containers"},
      {R"({"containers":null})", "spec.containers"},
      {R"({"resources":{"requests":{"hugepages-2Mi":"2Mi"},"limits":{"hugepages-2Mi":"2Mi"}}})",
       "spec: Forbidden: only cpu and memory resources are mutable at pod-level"},
      {R"({"resources":{"requests":{"cpu":"500m"}}})",
       "must be greater than or equal to aggregate container requests of 1100m"},
  };
  for (const Row& row : rows) {
    Bench b;
    b.create();
    const Json before = b.pod();
    const bool strategic = row.spec.find(R"("containers":[7])") == std::string_view::npos;
    const std::string refusal_text =
        b.refusal("PATCH", std::string(kPods) + "/p/resize", base::format(R"({{"spec":{}}})", row.spec),
                  strategic ? kStrategic : "application/merge-patch+json");
    EXPECT_NE(refusal_text.find(row.words), std::string::npos) << row.spec << "\n" << refusal_text;
    EXPECT_EQ(b.pod(), before) << row.spec;
  }
}

TEST(Resize, policies_are_those_that_make_sense) {
  Bench b;
  const auto refusal = [&](std::string_view spec) {
    return b.refusal("POST", kPods, base::format(R"({{"metadata":{{"name":"q"}},"spec":{}}})", spec),
                     "application/json");
  };
  const std::string_view restarts = R"("resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}])";
  EXPECT_NE(
      refusal(base::format(R"({{"restartPolicy":"Never","containers":[{{"name":"a","image":"i",{}}}]}})", restarts))
          .find("spec.containers[0].resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when "
                "pod `restartPolicy` is 'Never'"),
      std::string::npos);
  EXPECT_NE(
      refusal(base::format(
                  R"({{"containers":[{{"name":"a","image":"i"}}],"initContainers":[{{"name":"b","image":"i",{}}}]}})",
                  restarts))
          .find("spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not "
                "be set to 'RestartContainer' for non-sidecar initContainers"),
      std::string::npos);
}

TEST(Resize, is_the_only_way_to_resize) {
  Bench b;
  b.create();
  EXPECT_NE(b.refusal("PATCH", std::string(kPods) + "/p",
                      R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1500m"}}}]}})")
                .find("pod updates may not change fields other than"),
            std::string::npos);
  EXPECT_EQ(b.ask("GET", "/api/v1/namespaces/default/configmaps/m/resize").error().code, Code::kNotFound);
}

TEST(Resize, keeps_the_class_of_service) {
  Bench b;
  ASSERT_TRUE(b.ask("POST", kPods,
                    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i",
        "resources":{"limits":{"cpu":"1","memory":"1Gi"}}}]}})")
                  .ok());
  EXPECT_EQ(b.resize(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m"}}}]})"),
            "Pod \"p\" is invalid: spec: Invalid value: \"Guaranteed\": Pod QOS Class may not change as a result of "
            "resizing");
  EXPECT_EQ(
      b.resize(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"500m"},"limits":{"cpu":"500m"}}}]})"), "");
}

TEST(Resize, is_for_the_pod_as_a_whole_too) {
  Bench b;
  b.create(R"(,"resources":{"requests":{"cpu":"2"},"limits":{"cpu":"3","memory":"4Gi"}})");
  const auto resources = [&] { return b.pod()["spec"]["resources"].dump(); };
  EXPECT_EQ(resources(), R"({"requests":{"cpu":"2","memory":"1Gi"},"limits":{"cpu":"3","memory":"4Gi"}})")
      << "what the containers ask for is what it asks for where it does not say";
  EXPECT_EQ(b.resize(R"({"resources":{"requests":{"cpu":"2500m"}}})"), "");
  EXPECT_EQ(resources(), R"({"requests":{"cpu":"2500m","memory":"1Gi"},"limits":{"cpu":"3","memory":"4Gi"}})");
  EXPECT_EQ(b.resize(R"({"resources":{"requests":{"memory":null}}})"), "") << "which is filled in";
  struct Row {
    std::string_view spec, words;
  };
  for (const auto& [spec, words] : {
           Row{R"({"resources":{"limits":{"cpu":null}}})",
               "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed"},
           {R"({"resources":null})", "spec.resources: Forbidden: pod-level resources cannot be removed"},
           {R"({"resources":{"requests":{"cpu":"4"}}})", "must be less than or equal to cpu limit of 3"},
           {R"({"resources":{"requests":{"cpu":"3","memory":"4Gi"}}})", "Pod QOS Class may not change"},
           {R"({"resources":{"requests":{"ephemeral-storage":"1Gi"}}})",
            "only cpu and memory resources are mutable at pod-level"},
           {R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"4"}}}]})",
            "must be less than or equal to pod limits of 3"},
       }) {
    const std::string refusal_text = b.resize(spec);
    EXPECT_NE(refusal_text.find(words), std::string::npos) << spec << "\n" << refusal_text;
  }
  EXPECT_EQ(b.resize(R"({"containers":[{"name":"b","resources":{"requests":{"cpu":"1"}}}]})"), "");
}

TEST(Resize, adds_what_a_pod_asks_for_as_a_whole) {
  Bench b;
  b.create();
  EXPECT_EQ(
      b.refusal(
          "PATCH", std::string(kPods) + "/p/resize?fieldManager=vpa",
          R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"resources":{"requests":{"cpu":"4"}}}})",
          "application/apply-patch+yaml"),
      "");
  EXPECT_EQ(b.pod()["spec"]["resources"]["requests"].dump(), R"({"cpu":"4","memory":"1Gi"})");
}

TEST(Resize, is_not_for_every_pod) {
  struct Row {
    std::string_view more, metadata, words;
  };
  const Row rows[] = {
      {"", R"(,"annotations":{"kubernetes.io/config.mirror":"x"})", "[]: Forbidden: static pods cannot be resized"},
      {R"(,"os":{"name":"windows"})", "", "[]: Forbidden: windows pods cannot be resized"},
  };
  for (const Row& row : rows) {
    Bench b;
    b.create(row.more, row.metadata);
    const std::string refusal_text =
        b.resize(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1500m"}}}]})");
    EXPECT_NE(refusal_text.find(row.words), std::string::npos) << refusal_text;
  }
  Bench b;
  b.create();
  const std::string_view larger = R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"1500m"}}}]})";
  const auto runs = [&](std::string_view more) {
    return b.set_status(base::format(
        R"({{"containerStatuses":[{{"name":"a","image":"i","imageID":"","ready":true,"restartCount":0,"state":{{"running":{{}}}}{}}}]}})",
        more));
  };
  EXPECT_EQ(runs(""), "");
  EXPECT_NE(b.resize(larger).find("spec: Forbidden: Pod running on node without support for resize"),
            std::string::npos);
  EXPECT_EQ(runs(R"(,"resources":{"requests":{"cpu":"1"}})"), "");
  EXPECT_EQ(b.resize(larger), "");
}

TEST(Resize, is_bounded_by_limits_and_quotas) {
  Bench b;
  b.create();
  ASSERT_TRUE(b.ask("POST", "/api/v1/namespaces/default/limitranges",
                    R"({"metadata":{"name":"r"},"spec":{"limits":[{"type":"Container","max":{"cpu":"4"}}]}})")
                  .ok());
  EXPECT_NE(b.resize(R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"5"}}}]})")
                .find("maximum cpu usage per Container is 4, but limit is 5"),
            std::string::npos);
  ASSERT_TRUE(b.ask("DELETE", "/api/v1/namespaces/default/limitranges/r").ok());
  ASSERT_TRUE(b.ask("POST", "/api/v1/namespaces/default/resourcequotas",
                    R"({"metadata":{"name":"q"},"spec":{"hard":{"limits.cpu":"3","requests.memory":"4Gi"}}})")
                  .ok());
  b.env.settle();
  EXPECT_NE(b.resize(R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"4"}}}]})")
                .find("is forbidden: failed quota: q: must specify limits.cpu for: b,once,s"),
            std::string::npos);
}

TEST(Resize, fills_in_what_newer_limit_ranges_say) {
  Bench b;
  b.create();
  ASSERT_TRUE(b.ask("POST", "/api/v1/namespaces/default/limitranges",
                    R"({"metadata":{"name":"r"},"spec":{"limits":[{"type":"Container","default":{"memory":"3Gi"},
        "defaultRequest":{"memory":"1Gi"}}]}})")
                  .ok());
  EXPECT_EQ(b.resize(R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"3"}}}]})"), "");
  const Json pod = b.pod();
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{1}]["resources"].dump(),
            R"({"requests":{"memory":"1Gi"},"limits":{"memory":"3Gi"}})");
  EXPECT_EQ(pod["spec"]["containers"][std::size_t{0}]["resources"]["limits"]["memory"].as_string(), "2Gi");
  EXPECT_TRUE(pod["metadata"]["annotations"].is_null()) << "a resize changes nothing else";
}

TEST(Resize, counts_for_quotas_with_the_most_of_what_is_asked_and_held) {
  Bench b;
  ASSERT_TRUE(b.ask("POST", kPods,
                    R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i",
        "resources":{"requests":{"cpu":"2"}}}]}})")
                  .ok());
  ASSERT_TRUE(b.ask("POST", "/api/v1/namespaces/default/resourcequotas",
                    R"({"metadata":{"name":"q"},"spec":{"hard":{"requests.cpu":"5"}}})")
                  .ok());
  const auto used = [&] {
    b.env.run_for(base::seconds(1));
    return (*b.ask("GET", "/api/v1/namespaces/default/resourcequotas/q"))["status"]["used"]["requests.cpu"].str();
  };
  const auto resize = [&](int cpu) {
    return b.resize(
        base::format(R"({{"containers":[{{"name":"a","resources":{{"requests":{{"cpu":"{}"}}}}}}]}})", cpu));
  };
  EXPECT_EQ(used(), "2");
  EXPECT_EQ(resize(6),
            "pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=4, used: requests.cpu=2, limited: "
            "requests.cpu=5");
  EXPECT_EQ(resize(4), "");
  EXPECT_EQ(used(), "4");
  // The node has given 4 so far; what is given back counts until it is.
  EXPECT_EQ(b.set_status(
                R"({"containerStatuses":[{"name":"a","image":"i","imageID":"","ready":true,"restartCount":0,
        "allocatedResources":{"cpu":"4"},"resources":{"requests":{"cpu":"4"}}}]})"),
            "");
  EXPECT_EQ(resize(1), "");
  EXPECT_EQ(used(), "4");
  // An amount that can never be had does not count.
  EXPECT_EQ(resize(5), "");
  EXPECT_EQ(used(), "5");
  EXPECT_EQ(b.set_status(R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}]})"), "");
  EXPECT_EQ(used(), "4");
}

TEST(Resize, what_a_status_says_takes_nothing_away) {
  const Json pod = *api::parse_json(
      R"({"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}},{"name":"b","resources":{"requests":{"cpu":"1"}}}],
                  "initContainers":[{"name":"s","restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}}]},
          "status":{"conditions":[{"type":"PodResizePending","reason":"Infeasible"}],
                    "containerStatuses":[{"name":"a","resources":{"requests":{"cpu":"-5"}},"allocatedResources":"x"},7],
                    "initContainerStatuses":[{"name":"s","resources":{"requests":{"cpu":"3"}}}]}})");
  EXPECT_EQ(api::to_json(api::containers_in_use(pod, "requests")).dump(), R"({"cpu":"4"})");
}

}  // namespace
}  // namespace apiserver
