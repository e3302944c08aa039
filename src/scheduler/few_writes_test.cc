// The scheduler's writes about a gang whose pods arrive one after the other.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/format.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "scheduler/scheduler.h"

namespace scheduler {
namespace {

using api::Json;

Json json(std::string_view text) { return *api::parse_json(text); }

// Binds as an API server does.
class Server final : public client::testing::FakeClient {
 public:
  explicit Server(rt::Env& env) : FakeClient(env), env_(env) {}

  void call(client::Request request, OnResult on_result) override {
    ++requests[base::format("{} {}{}",
                            request.verb == client::Verb::kCreate  ? "create"
                            : request.verb == client::Verb::kPatch ? "patch"
                                                                   : "read",
                            request.resource.plural, request.subresource.empty() ? "" : "/" + request.subresource)];
    if (request.resource == api::resources::kEvents && request.verb == client::Verb::kCreate)
      ++events[request.body["reason"].str()];
    if (request.subresource != "binding") return FakeClient::call(std::move(request), std::move(on_result));
    Json pod = *find(api::resources::kPods, request.ns + "/" + request.name);
    pod.edit("spec").set("nodeName", request.body["target"]["name"]);
    put(api::resources::kPods, std::move(pod));
    env_.loop().post([on_result = std::move(on_result)] { on_result(Json::object()); });
  }

  std::map<std::string, int> requests;  // by verb and resource
  std::map<std::string, int> events;    // by reason

 private:
  rt::Env& env_;
};

class FewWrites : public testing::Test {
 protected:
  static constexpr int kPods = 100;

  void begin(base::Duration grace) {
    server.put(api::resources::kQueues, json(R"({"metadata":{"name":"default"},"status":{"state":"Open"}})"));
    server.put(api::resources::kNodes, json(R"({"metadata":{"name":"n"},"status":{"allocatable":
        {"cpu":"200","memory":"100Gi","pods":"300"},"capacity":{"cpu":"200","memory":"100Gi","pods":"300"}}})"));
    server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"g"},
        "spec":{"minMember":100,"queue":"default"},"status":{"phase":"Pending"}})"));
    Options options;
    options.arrival_grace = grace;
    scheduler.emplace(env, server, options);
    scheduler->start();
    env.run_for(base::milliseconds(100));
  }

  void add_pod(int i) {
    server.put(api::resources::kPods, json(base::format(R"({{"metadata":{{"namespace":"a","name":"p-{}","annotations":
        {{"scheduling.k8s.io/group-name":"g"}}}},"spec":{{"schedulerName":"volcano","containers":[{{"name":"c",
        "resources":{{"requests":{{"cpu":"1"}}}}}}]}},"status":{{"phase":"Pending"}}}})",
                                                        i)));
  }

  client::testing::FakeEnv env;
  Server server{env};
  std::optional<Scheduler> scheduler;
};

TEST_F(FewWrites, who_still_arrives_is_not_told_to_wait) {
  begin(base::seconds(1));
  EXPECT_EQ((*server.find(api::resources::kPodGroups, "a/g"))["status"]["phase"].as_string(), "Inqueue");
  for (int i = 0; i + 1 < kPods; ++i) {
    add_pod(i);
    env.run_for(base::milliseconds(100));
  }
  EXPECT_EQ(server.events["FailedScheduling"], 0);
  EXPECT_EQ(server.events["Unschedulable"], 0);
  EXPECT_EQ(server.requests["patch pods/status"], 0);
  EXPECT_LE(server.requests["patch podgroups"], 1) << "its phase";
  // The last one does not come: after a quiet second everybody is told, once.
  env.run_for(base::seconds(2));
  EXPECT_EQ(server.events["FailedScheduling"], kPods - 1);
  EXPECT_EQ(server.events["Unschedulable"], 1);
  EXPECT_EQ(server.requests["patch pods/status"], kPods - 1);
  EXPECT_LE(server.requests["patch podgroups"], 2);
  env.run_for(base::seconds(60));
  EXPECT_EQ(server.events["Unschedulable"], 1);
  EXPECT_EQ(server.requests["patch pods/status"], kPods - 1);
  add_pod(kPods - 1);
  env.run_for(base::seconds(2));
  EXPECT_EQ(server.requests["create pods/binding"], kPods);
}

TEST_F(FewWrites, a_gang_that_arrives_in_time_hears_nothing_but_its_start) {
  begin(base::seconds(1));
  for (int i = 0; i < kPods; ++i) {
    add_pod(i);
    env.run_for(base::milliseconds(20));
  }
  env.run_for(base::seconds(5));
  EXPECT_EQ(server.requests["create pods/binding"], kPods);
  EXPECT_EQ(server.requests["patch pods/status"], 0);
  EXPECT_EQ(server.events["FailedScheduling"], 0);
  EXPECT_EQ(server.events["Unschedulable"], 0);
  EXPECT_EQ(server.events["Scheduled"], kPods + 1) << "each pod and the group";
}

TEST_F(FewWrites, a_pod_whose_claim_is_being_made_hears_nothing_but_its_start) {
  begin(base::seconds(1));
  server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"one"},
      "spec":{"minMember":1,"queue":"default"},"status":{"phase":"Inqueue"}})"));
  Json pod =
      json(R"({"metadata":{"namespace":"a","name":"p","uid":"U","annotations":{"scheduling.k8s.io/group-name":"one"}},
      "spec":{"schedulerName":"volcano","resourceClaims":[{"name":"c","resourceClaimTemplateName":"t"}],
      "containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
  server.put(api::resources::kPods, pod);
  env.run_for(base::milliseconds(500));
  server.put(api::resources::kResourceClaims, json(R"({"metadata":{"namespace":"a","name":"p-c",
      "ownerReferences":[{"kind":"Pod","name":"p","uid":"U","controller":true}]},"spec":{"devices":{}}})"));
  pod.edit("status").set("resourceClaimStatuses", json(R"([{"name":"c","resourceClaimName":"p-c"}])"));
  server.put(api::resources::kPods, pod);
  env.run_for(base::milliseconds(300));
  EXPECT_EQ(server.requests["create pods/binding"], 1);
  EXPECT_EQ(server.events["FailedScheduling"], 0);
  EXPECT_EQ(server.events["Unschedulable"], 0);
}

// The node is chosen, and nobody makes the volume: the group says so as long as it lasts.
TEST_F(FewWrites, a_group_whose_pod_waits_for_a_volume_says_so_until_it_is_there) {
  begin(base::seconds(1));
  server.put(api::resources::kStorageClasses, json(R"({"metadata":{"name":"slow"},"provisioner":"example.com/p",
      "volumeBindingMode":"WaitForFirstConsumer"})"));
  Json claim = json(R"({"metadata":{"namespace":"a","name":"data","uid":"C"},"spec":{"storageClassName":"slow",
      "accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}},"status":{"phase":"Pending"}})");
  server.put(api::resources::kPersistentVolumeClaims, claim);
  server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","name":"one"},
      "spec":{"minMember":1,"queue":"default"},"status":{"phase":"Inqueue"}})"));
  server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p","uid":"U","annotations":
      {"scheduling.k8s.io/group-name":"one"}},"spec":{"schedulerName":"volcano",
      "volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}],"containers":[{"name":"c"}]},
      "status":{"phase":"Pending"}})"));
  env.run_for(base::seconds(10));
  const auto waits = [this] {
    for (const Json& one : (*server.find(api::resources::kPodGroups, "a/one"))["status"]["conditions"].items())
      if (one["type"].as_string() == "Unschedulable") return one["message"].str();
    return std::string();
  };
  EXPECT_EQ(waits(),
            "pod p: claim a/data has no volume yet: nobody has made one of class slow for node n; is its provisioner "
            "there?");
  EXPECT_LE(server.requests["patch podgroups"], 3) << "ready, waiting, and the group without pods";
  EXPECT_EQ(server.requests["create pods/binding"], 0);
  server.put(api::resources::kPersistentVolumes, json(R"({"metadata":{"name":"v"},"spec":{"storageClassName":"slow",
      "capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"claimRef":{"namespace":"a","name":"data","uid":"C"}},
      "status":{"phase":"Bound"}})"));
  claim = *server.find(api::resources::kPersistentVolumeClaims, "a/data");
  claim.edit("spec").set("volumeName", "v");
  claim.edit("status").set("phase", "Bound");
  server.put(api::resources::kPersistentVolumeClaims, claim);
  env.run_for(base::seconds(10));
  EXPECT_EQ(server.requests["create pods/binding"], 1);
  EXPECT_EQ(waits(), "");
}

// The pod is known before its group, or is told of its group when that is let in already.
TEST_F(FewWrites, a_pod_of_its_own_costs_a_binding_an_event_and_a_status) {
  for (const bool group_is_first : {false, true}) {
    SCOPED_TRACE(group_is_first);
    begin(base::seconds(1));
    server.erase(api::resources::kPodGroups, "a/g");
    server.requests.clear();
    const Json pod = json(R"({"metadata":{"namespace":"a","name":"p","uid":"3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07",
        "annotations":{"scheduling.k8s.io/group-name":"podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07"}},
        "spec":{"schedulerName":"volcano","containers":[{"name":"c"}]},"status":{"phase":"Pending"}})");
    const Json group = json(R"({"metadata":{"namespace":"a","name":"podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07",
        "uid":"G"},"spec":{"minMember":1,"queue":"default"},"status":{"phase":"Pending"}})");
    if (group_is_first) {
      server.put(api::resources::kPodGroups, group);
      env.run_for(base::seconds(4));
      EXPECT_EQ(server.requests["patch podgroups"], 0);
      server.put(api::resources::kPods, pod);
    } else {
      server.put(api::resources::kPods, pod);
      env.run_for(base::milliseconds(500));
      server.put(api::resources::kPodGroups, group);
    }
    env.run_for(base::milliseconds(100));
    ASSERT_EQ(server.requests["create pods/binding"], 1);
    Json bound = *server.find(api::resources::kPods, "a/p");
    bound.edit("status").set("phase", "Running");
    server.put(api::resources::kPods, bound);
    env.run_for(base::milliseconds(50));  // whoever sees the pod run looks at its group
    const Json notified = *server.find(api::resources::kPodGroups, "a/podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07");
    EXPECT_EQ(notified["status"]["phase"].as_string(), "Running");
    EXPECT_EQ(notified["status"]["running"].as_int(), 1);
    env.run_for(base::seconds(1));
    EXPECT_EQ(server.requests["patch podgroups"], 1);
    EXPECT_EQ(server.requests["create events"], 1) << "of the pod; its group would say the same";
    EXPECT_EQ(server.requests["patch pods/status"], 0);
    server.erase(api::resources::kPods, "a/p");
    server.erase(api::resources::kPodGroups, "a/podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07");
  }
}

// The owner of a group that was made for pods learns within a second that they do not fit.
TEST_F(FewWrites, a_pod_of_its_own_that_does_not_fit_is_said_to_wait_in_one_status_of_its_group) {
  begin(base::seconds(1));
  server.erase(api::resources::kPodGroups, "a/g");
  server.requests.clear();
  server.put(api::resources::kPodGroups, json(R"({"metadata":{"namespace":"a","uid":"G",
      "name":"podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07"},"spec":{"minMember":1,"queue":"default"}})"));
  env.run_for(base::milliseconds(200));
  server.put(api::resources::kPods, json(R"({"metadata":{"namespace":"a","name":"p",
      "uid":"3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07","annotations":
      {"scheduling.k8s.io/group-name":"podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07"}},"spec":{"schedulerName":
      "volcano","containers":[{"name":"c","resources":{"requests":{"cpu":"900"}}}]},"status":{"phase":"Pending"}})"));
  env.run_for(base::seconds(1));
  const Json notified = *server.find(api::resources::kPodGroups, "a/podgroup-3f0c5b52-9d7e-4d0a-8a53-6f2f0b1c7d07");
  EXPECT_EQ(notified["status"]["conditions"][0]["type"].as_string(), "Unschedulable");
  EXPECT_EQ(server.requests["patch podgroups"], 1);
}

// COMPAT(ready-said-once)
TEST_F(FewWrites, a_group_is_said_to_be_ready_once) {
  begin(base::seconds(1));
  for (int i = 0; i < kPods; ++i) add_pod(i);
  env.run_for(base::seconds(5));
  const auto ready_events = [&] {
    const auto is_ready = [](const client::Request& one) {
      return one.resource == api::resources::kEvents && one.body.dump().find("pod group is ready") != std::string::npos;
    };
    return std::count_if(server.calls.begin(), server.calls.end(), is_ready);
  };
  ASSERT_EQ(ready_events(), 1);
  // Its pods start one after the other, which its counts show.
  for (int i = 0; i < kPods; ++i) {
    Json pod = *server.find(api::resources::kPods, base::format("a/p-{}", i));
    pod.edit("status").set("phase", "Running");
    server.put(api::resources::kPods, std::move(pod));
    env.run_for(base::milliseconds(50));
  }
  env.run_for(base::seconds(5));
  EXPECT_EQ((*server.find(api::resources::kPodGroups, "a/g"))["status"]["running"].as_int(), kPods);
  EXPECT_EQ(ready_events(), 1);
  EXPECT_EQ(server.requests["patch events"], 0);
  EXPECT_LE(server.requests["patch podgroups"], 8) << "counts of five seconds";
}

TEST_F(FewWrites, without_grace_each_size_on_the_way_is_told) {
  begin({});
  for (int i = 0; i < 3; ++i) {
    add_pod(i);
    env.run_for(base::milliseconds(100));
  }
  EXPECT_GE(server.events["Unschedulable"], 3);
  EXPECT_EQ(server.events["FailedScheduling"], 3);
}

}  // namespace
}  // namespace scheduler
