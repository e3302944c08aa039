// The agent scheduler and its single pods, beside another scheduler.
#include <gtest/gtest.h>

#include <map>

#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "scheduler/scheduler.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

// Binds as an API server does, and refuses where it is told to.
class Server final : public client::testing::FakeClient {
 public:
  explicit Server(rt::Env& env) : FakeClient(env), env_(env) {}

  void call(client::Request request, OnResult on_result) override {
    if (request.resource == api::resources::kEvents && request.verb == client::Verb::kCreate)
      events.push_back(request.body["reason"].str() + ": " + request.body["message"].str());
    if (request.subresource != "binding") return FakeClient::call(std::move(request), std::move(on_result));
    const std::string key = request.ns + "/" + request.name, node = request.body["target"]["name"].str();
    tried.push_back(request.name + " to " + node);
    if (bindings_refused > 0) {
      --bindings_refused;
      return env_.loop().post([on_result = std::move(on_result)] {
        on_result(base::make_error(base::Code::kConflict, "the binding was refused"));
      });
    }
    Json pod = *find(api::resources::kPods, key);
    pod.edit("spec").set("nodeName", node);
    put(api::resources::kPods, std::move(pod));
    env_.loop().post([on_result = std::move(on_result)] { on_result(Json::object()); });
  }

  std::vector<std::string> events, tried;  // "pod to node", in order
  int bindings_refused = 0;

 private:
  rt::Env& env_;
};

class AgentScheduler : public testing::Test {
 protected:
  void begin(Options options = agent_options()) {
    scheduler.emplace(env, server, std::move(options));
    scheduler->start();
    env.run_for(base::milliseconds(100));
  }
  void add_node(const std::string& name, int cpu) {
    server.put(api::resources::kNodes,
               json(base::format(R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"{}","memory":"10Gi",
        "pods":"110"}},"capacity":{{"cpu":"{}","memory":"10Gi","pods":"110"}}}}}})",
                                 name, cpu, cpu)));
  }
  void add_pod(const std::string& name, int cpu, const std::string& more = "", const std::string& annotations = "{}",
               const std::string& scheduler_name = "agent-scheduler") {
    server.put(api::resources::kPods,
               json(base::format(R"({{"metadata":{{"namespace":"a","name":"{}","annotations":{}}},"spec":{{{}
        "schedulerName":"{}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}},
        "status":{{"phase":"Pending"}}}})",
                                 name, annotations, more, scheduler_name, cpu)));
  }
  std::string node_of(const std::string& name) {
    const Json* pod = server.find(api::resources::kPods, "a/" + name);
    return pod == nullptr ? "gone" : (*pod)["spec"]["nodeName"].str();
  }
  std::string condition_of(const std::string& name) {
    const Json& one = (*server.find(api::resources::kPods, "a/" + name))["status"]["conditions"][std::size_t{0}];
    return one["reason"].str() + ": " + one["message"].str();
  }

  client::testing::FakeEnv env;
  Server server{env};
  std::optional<Scheduler> scheduler;
};

TEST_F(AgentScheduler, single_pods_are_bound_in_the_order_of_urgency_priority_and_age) {
  add_node("n", 2);
  add_pod("first", 1);
  add_pod("important", 1, R"("priority":7,)");
  add_pod("urgent", 1, "", R"({"volcano.sh/scheduling-priority":"50"})");
  add_pod("held", 1, R"("schedulingGates":[{"name":"x"}],)", R"({"volcano.sh/scheduling-priority":"100"})");
  add_pod("foreign", 1, "", "{}", "volcano");
  begin();
  EXPECT_EQ(server.tried, (std::vector<std::string>{"urgent to n", "important to n"}));
  EXPECT_EQ(condition_of("first"), "Unschedulable: 0/1 nodes are unavailable: 1 Insufficient cpu.");
  EXPECT_EQ((*server.find(api::resources::kPods, "a/held"))["status"]["conditions"].size(), 0u) << "gated";
  EXPECT_EQ(node_of("foreign"), "");
}

TEST_F(AgentScheduler, pods_of_the_default_scheduler_are_told_in_its_words) {
  add_node("n", 1);
  add_pod("p", 2, "", "{}", "default-scheduler");
  Options options = agent_options();
  options.scheduler_names = {"default-scheduler"};
  begin(std::move(options));
  EXPECT_EQ(condition_of("p"), "Unschedulable: 0/1 nodes are available: 1 Insufficient cpu.");
}

TEST_F(AgentScheduler, pods_of_the_default_scheduler_are_told_when_there_is_no_node) {
  add_pod("p", 1, "", "{}", "default-scheduler");
  Options options = agent_options();
  options.scheduler_names = {"default-scheduler"};
  begin(std::move(options));
  EXPECT_EQ(condition_of("p"), "Unschedulable: no nodes available to schedule pods");
}

TEST_F(AgentScheduler, a_group_annotation_means_nothing_to_it) {
  add_node("n", 2);
  begin();
  add_pod("p", 1, "", R"({"scheduling.k8s.io/group-name":"no-such-group"})");
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("p"), "n");
}

TEST_F(AgentScheduler, who_found_no_node_is_told_once_and_placed_when_room_comes) {
  add_node("n", 1);
  begin();
  add_pod("running", 1);
  env.run_for(base::milliseconds(50));
  add_pod("waiting", 1);
  env.run_for(base::minutes(19));  // tried again each five minutes, and told nothing new
  const auto notified = [&] {
    return std::count(server.events.begin(), server.events.end(),
                      "FailedScheduling: 0/1 nodes are unavailable: 1 Insufficient cpu.");
  };
  EXPECT_EQ(notified(), 1);
  EXPECT_EQ(node_of("waiting"), "");
  EXPECT_EQ(scheduler->waiting_report()["a/waiting"]["message"].as_string(),
            "0/1 nodes are unavailable: 1 Insufficient cpu.");
  server.erase(api::resources::kPods, "a/running");
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("waiting"), "n");
  EXPECT_EQ(notified(), 1);
}

TEST_F(AgentScheduler, a_new_node_helps) {
  begin();
  add_pod("p", 1);
  env.run_for(base::seconds(5));
  EXPECT_EQ(condition_of("p"), "Unschedulable: 0/0 nodes are unavailable");
  add_node("n", 1);
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("p"), "n");
}

TEST_F(AgentScheduler, a_gate_that_goes_lets_the_pod_in) {
  add_node("n", 1);
  begin();
  add_pod("p", 1, R"("schedulingGates":[{"name":"x"}],)");
  env.run_for(base::seconds(5));
  EXPECT_EQ(node_of("p"), "");
  Json pod = *server.find(api::resources::kPods, "a/p");
  pod.edit("spec").erase("schedulingGates");
  server.put(api::resources::kPods, pod);
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("p"), "n");
}

TEST_F(AgentScheduler, without_the_gate_nobody_waits_for_claims) {
  add_node("n", 1);
  Options options = agent_options();
  options.feature_gates = "DynamicResourceAllocation=false";
  begin(options);
  add_pod("p", 1, R"("resourceClaims":[{"name":"c","resourceClaimName":"none"}],)");
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("p"), "n");
}

TEST_F(AgentScheduler, a_pod_that_lacks_its_claim_is_held_and_told_after_a_second) {
  const auto claim = [&](const std::string& name, const std::string& pod) {
    const Json* owner = server.find(api::resources::kPods, "a/" + pod);
    server.put(api::resources::kResourceClaims, json(base::format(R"({{"metadata":{{"namespace":"a","name":"{}",
        "ownerReferences":[{{"kind":"Pod","name":"{}","uid":"{}","controller":true}}]}},"spec":{{"devices":{{}}}}}})",
                                                                  name, pod, api::uid_of(*owner))));
    env.run_for(base::milliseconds(50));
  };
  add_node("n", 3);
  begin();
  // One that is made a moment after its pod: nobody hears of it.
  add_pod("soon", 1, R"("resourceClaims":[{"name":"c","resourceClaimTemplateName":"t"}],)");
  env.run_for(base::milliseconds(300));
  claim("soon-c", "soon");
  Json pod = *server.find(api::resources::kPods, "a/soon");
  pod.edit("status").set("resourceClaimStatuses", json(R"([{"name":"c","resourceClaimName":"soon-c"}])"));
  server.put(api::resources::kPods, pod);
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("soon"), "n");
  EXPECT_EQ(std::count_if(server.events.begin(), server.events.end(),
                          [](const std::string& one) { return one.starts_with("FailedScheduling"); }),
            0);
  // One that comes late is told once, and then comes in at once, however often it was looked at.
  add_pod("late", 1, R"("resourceClaims":[{"name":"c","resourceClaimName":"late-c"}],)");
  env.run_for(base::milliseconds(900));
  EXPECT_TRUE(scheduler->waiting_report().empty());
  env.run_for(base::milliseconds(200));
  const std::string why =
      "0/1 nodes are unavailable: 1 plugin DynamicResources pre-predicates failed resourceclaim \"late-c\" not "
      "found.";
  EXPECT_EQ(scheduler->waiting_report()["a/late"]["message"].as_string(), why);
  add_pod("left", 1, R"("resourceClaims":[{"name":"c","resourceClaimName":"late-c"}],)");
  server.erase(api::resources::kPods, "a/left");
  for (int i = 0; i < 20; ++i) {
    add_node("m", 1 + i % 2);
    env.run_for(base::seconds(1));
  }
  EXPECT_EQ(std::count(server.events.begin(), server.events.end(), "FailedScheduling: " + why), 1);
  claim("late-c", "late");
  EXPECT_NE(node_of("late"), "");
  EXPECT_TRUE(scheduler->waiting_report().empty());
}

TEST_F(AgentScheduler, a_binding_that_is_refused_is_tried_again_at_once_and_room_it_took_is_free) {
  add_node("n", 1);
  begin();
  server.bindings_refused = 1;
  add_pod("p", 1);
  env.run_for(base::milliseconds(200));
  EXPECT_EQ(server.tried, (std::vector<std::string>{"p to n", "p to n"}));
  EXPECT_EQ(node_of("p"), "n");
}

TEST_F(AgentScheduler, what_others_place_counts_even_where_it_is_too_much) {
  add_node("full", 1);
  add_node("n", 1);
  begin();
  add_pod("mine", 1);
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("mine"), "full");
  // Another scheduler placed a pod there at the same moment.
  add_pod("theirs", 1, R"("nodeName":"full",)", "{}", "volcano");
  add_pod("next", 1);
  env.run_for(base::milliseconds(50));
  EXPECT_EQ(node_of("next"), "n");
  // The kubelet lets one of them in; room for another comes only when both are gone.
  add_pod("last", 1);
  server.erase(api::resources::kPods, "a/theirs");
  env.run_for(base::seconds(3));
  EXPECT_EQ(node_of("last"), "");
  server.erase(api::resources::kPods, "a/mine");
  env.run_for(base::seconds(30));
  EXPECT_EQ(node_of("last"), "full");
}

TEST_F(AgentScheduler, only_its_own_actions_and_plugins_are_there) {
  begin();
  struct Row {
    std::string_view text, error, warning;
  };
  for (const Row& row :
       std::vector<Row>{{"actions: allocate", "", ""},
                        {"actions: enqueue, allocate", "failed to find Action enqueue", ""},
                        {"actions: allocate\ntiers:\n- plugins:\n  - name: gang", "", "gang"},
                        {"actions: allocate\nconfigurations:\n- name: allocate\n  arguments: {candidateNodeCount: 5, "
                         "predicateErrorCacheEnable: false}",
                         "", ""},
                        {"actions: allocate\nconfigurations:\n- name: allocate\n  arguments: {candidateNodeCount: 0}",
                         "", "candidateNodeCount must be above 0; 3 is used"}}) {
    const base::Status status = scheduler->configure(row.text);
    EXPECT_EQ(status.ok() ? "" : status.error().message, row.error) << row.text;
    if (!status.ok()) continue;
    env.run_for(base::milliseconds(50));
    std::string warnings;
    for (const std::string& one : scheduler->configuration_warnings()) warnings += one + "\n";
    EXPECT_EQ(warnings.empty(), row.warning.empty()) << warnings;
    EXPECT_NE(warnings.find(row.warning), std::string::npos) << warnings;
  }
}

}  // namespace
}  // namespace scheduler
