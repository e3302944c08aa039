// The keeper of claims against drivers and a server that are made up, on virtual time.
#include "node/dra/claim_keeper.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "api/json/yaml.h"
#include "client/fake_client_for_tests.h"
#include "client/fake_env_for_tests.h"
#include "node/dra/fake_drivers_for_tests.h"
#include "node/machine/metrics.h"
#include "rt/files/files.h"

namespace node {
namespace {

using api::Json;
using Answer = ClaimKeeper::Answer;

const std::string kGpu = "{driver: gpu.org, pool: n, device: g0, request: r}";
const std::string kNic = "{driver: nic.org, pool: n, device: n0, request: r}";

class Claims : public testing::Test {
 protected:
  Claims() {
    metrics.add(metric_rows());
    begin();
  }
  ~Claims() override { (void)rt::remove_tree(folder); }

  void begin() {
    keeper = std::make_unique<ClaimKeeper>(
        env, server, &drivers, ClaimKeeper::Options{folder + "/claims", {folder + "/cdi"}, &metrics},
        ClaimKeeper::Callbacks{[this](const std::string& uid) {
                                 changed.insert(uid);
                                 ++changes;
                               },
                               [this](const std::string&, const std::string& message) { failures += message + "; "; }});
    keeper->start(read_local_claims(folder + "/claims"));
  }
  static Json pod(const std::string& name, const std::string& claim) {
    return *api::parse_yaml("{metadata: {name: " + name + ", namespace: ns, uid: uid-" + name +
                            "}, spec: {resourceClaims: [{name: c, resourceClaimName: " + claim + "}]}}");
  }
  void put_claim(const std::string& name, const std::vector<std::string>& pods, const std::string& results = kGpu) {
    std::string holders;
    for (const std::string& one : pods) holders += "{resource: pods, name: " + one + ", uid: uid-" + one + "},";
    server.put(api::resources::kResourceClaims,
               *api::parse_yaml("{metadata: {name: " + name + ", namespace: ns, uid: uid-" + name +
                                "}, status: {allocation: {devices: {results: [" + results + "]}}, reservedFor: [" +
                                holders + "]}}"));
  }
  void write_cdi(const std::string& device, const std::string& value) {
    ASSERT_TRUE(rt::make_folders(folder + "/cdi", 0700).ok());
    ASSERT_TRUE(rt::write_file(folder + "/cdi/x.yaml",
                               "{cdiVersion: 0.6.0, kind: gpu.org/dev, devices: [{name: " + device +
                                   ", containerEdits: {env: [SEEN=" + value + "]}}]}",
                               0600)
                    .ok());
  }
  // As a pod that asks again whenever it is told to.
  std::string prepare(const Json& wanted) {
    std::string why;
    for (int i = 0; i < 10; ++i) {
      const Answer answer = keeper->prepare(wanted, why);
      if (answer == Answer::kThere) return "there";
      if (answer == Answer::kFailed) return why;
      env.settle();
    }
    return "waits";
  }
  std::string variable(const Json& wanted, const std::string& container = "{name: m, resources: {claims: [{name: c}]}}",
                       int attempt = 0) {
    DeviceGrant grant;
    std::string why;
    for (int i = 0; i < 10; ++i) {
      const Answer answer = keeper->grant(wanted, *api::parse_yaml(container), attempt, grant, why);
      if (answer == Answer::kFailed) return why;
      if (answer == Answer::kThere) return grant.environment.empty() ? "nothing" : grant.environment[0].second;
      env.settle();
    }
    return "waits";
  }
  std::string asked() { return std::exchange(drivers.log, {}); }
  std::size_t files() { return read_local_claims(folder + "/claims").size(); }

  std::string folder = [] {
    char path[] = "/tmp/claims-test-XXXXXX";
    return std::string(::mkdtemp(path));
  }();
  client::testing::FakeEnv env;
  client::testing::FakeClient server{env};
  FakeDrivers drivers{env};
  base::Metrics metrics;
  std::set<std::string> changed;
  int changes = 0;
  std::string failures;
  std::unique_ptr<ClaimKeeper> keeper;
};

TEST_F(Claims, are_prepared_given_and_taken_back) {
  drivers.come("gpu.org");
  drivers.come("nic.org");
  put_claim("a", {"p"}, kGpu + "," + kNic);
  write_cdi("a", "yes");
  ASSERT_TRUE(rt::write_file(folder + "/cdi/nic.json",
                             R"({"cdiVersion": "0.6.0", "kind": "nic.org/dev", "devices": [{"name": "a"}]})", 0600)
                  .ok());
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  EXPECT_EQ(asked(), "gpu.org prepares a; nic.org prepares a; ");
  EXPECT_EQ(variable(pod("p", "a")), "yes");
  EXPECT_EQ(variable(pod("p", "a"), "{name: other}"), "nothing");
  write_cdi("a", "later");
  EXPECT_EQ(variable(pod("p", "a")), "yes") << "a start is made ready once";
  EXPECT_EQ(variable(pod("p", "a"), "{name: m, resources: {claims: [{name: c}]}}", 1), "later");
  EXPECT_EQ(files(), 1U);
  keeper->release("uid-p");
  EXPECT_TRUE(keeper->holds("uid-p"));
  env.settle();
  EXPECT_EQ(asked(), "gpu.org takes back a; nic.org takes back a; ");
  EXPECT_FALSE(keeper->holds("uid-p"));
  EXPECT_TRUE(changed.contains("uid-p"));
  EXPECT_EQ(files(), 0U);
}

TEST_F(Claims, that_are_made_ready_and_given_back_are_counted_by_try) {
  const auto has = [this](const char* line) { return metrics.text().find(line) != std::string::npos; };
  put_claim("a", {"p"});
  EXPECT_EQ(prepare(pod("p", "a")), "prepare dynamic resources: DRA driver gpu.org is not registered");
  drivers.come("gpu.org");
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  keeper->release("uid-p");
  env.settle();
  const std::string name = "dra_operations_duration_seconds_count";
  EXPECT_TRUE(has((name + R"({is_error="true",operation_name="PrepareResources"} 1)").c_str())) << metrics.text();
  EXPECT_TRUE(has((name + R"({is_error="false",operation_name="PrepareResources"} 1)").c_str()));
  EXPECT_TRUE(has((name + R"({is_error="false",operation_name="UnprepareResources"} 1)").c_str()));
}

TEST_F(Claims, that_cannot_be_had_are_said_and_tried_again) {
  EXPECT_EQ(prepare(pod("p", "a")), "prepare dynamic resources: fetch ResourceClaim a: ns/a not found");
  put_claim("a", {"other"});
  EXPECT_EQ(prepare(pod("p", "a")),
            "prepare dynamic resources: pod p (uid-p) is not allowed to use ResourceClaim a (uid-a)");
  put_claim("a", {"p"});
  EXPECT_EQ(prepare(pod("p", "a")), "prepare dynamic resources: DRA driver gpu.org is not registered");
  EXPECT_FALSE(keeper->holds("uid-p")) << "a pod whose driver never was here can go";
  drivers.come("gpu.org");
  drivers.errors["gpu.org"] = "no power";
  EXPECT_EQ(prepare(pod("p", "a")),
            "prepare dynamic resources: NodePrepareResources failed for ResourceClaim a: no power");
  EXPECT_TRUE(keeper->holds("uid-p")) << "the driver may have done a part of it";
  drivers.errors.clear();
  drivers.skipping.insert("gpu.org");
  EXPECT_EQ(prepare(pod("p", "a")), "prepare dynamic resources: NodePrepareResources skipped 1 ResourceClaims");
  drivers.skipping.clear();
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  EXPECT_EQ(variable(pod("p", "a")), "unresolvable CDI devices gpu.org/dev=a");
  write_cdi("a", "yes");
  EXPECT_EQ(variable(pod("p", "a")), "yes");
}

TEST_F(Claims, that_are_shared_are_prepared_once) {
  drivers.come("gpu.org");
  put_claim("a", {"p", "q"});
  drivers.silent = true;
  EXPECT_EQ(prepare(pod("p", "a")), "waits");
  EXPECT_EQ(prepare(pod("q", "a")), "waits") << "while the driver is asked for the other one";
  drivers.answer();
  drivers.silent = false;
  changed.clear();
  env.settle();
  EXPECT_TRUE(changed.contains("uid-q"));
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  EXPECT_EQ(prepare(pod("q", "a")), "there");
  EXPECT_EQ(asked(), "gpu.org prepares a; ");
  keeper->release("uid-p");
  env.settle();
  EXPECT_FALSE(keeper->holds("uid-p"));
  EXPECT_EQ(asked(), "");
  keeper->release("uid-q");
  env.settle();
  EXPECT_EQ(asked(), "gpu.org takes back a; ");
}

TEST_F(Claims, outlive_the_agent) {
  drivers.come("gpu.org");
  put_claim("a", {"p"});
  put_claim("b", {"q"});
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  EXPECT_EQ(prepare(pod("q", "b")), "there");
  asked();
  begin();
  write_cdi("a", "yes");
  EXPECT_EQ(variable(pod("p", "a")), "yes") << "a container that is started again asks no driver";
  EXPECT_EQ(asked(), "");
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  EXPECT_EQ(asked(), "gpu.org prepares a; ") << "a sandbox is made anew: the machine may have been, too";
  keeper->keep_only([](const std::string& uid) { return uid == "uid-p"; });
  env.settle();
  EXPECT_EQ(asked(), "gpu.org takes back b; ");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Claims, whose_file_is_lost_are_prepared_anew) {
  drivers.come("gpu.org");
  put_claim("a", {"p"});
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  asked();
  ASSERT_TRUE(rt::write_file(folder + "/claims/uid-a.json", "{rubbish", 0600).ok());
  begin();
  write_cdi("a", "yes");
  EXPECT_EQ(variable(pod("p", "a")), "yes");
  EXPECT_EQ(asked(), "gpu.org prepares a; ");
}

TEST_F(Claims, wait_for_drivers_that_do_not_take_them_back) {
  drivers.come("gpu.org");
  put_claim("a", {"p"});
  EXPECT_EQ(prepare(pod("p", "a")), "there");
  asked();
  drivers.errors["gpu.org"] = "busy";
  keeper->release("uid-p");
  env.settle();
  EXPECT_EQ(failures, "unprepare dynamic resources: NodeUnprepareResources failed for ResourceClaim a: busy; ");
  keeper->release("uid-p");
  env.settle();
  EXPECT_EQ(asked(), "gpu.org takes back a; ") << "not at once";
  drivers.errors.clear();
  env.run_for(base::seconds(2));
  EXPECT_EQ(asked(), "gpu.org takes back a; ");
  EXPECT_FALSE(keeper->holds("uid-p"));

  EXPECT_EQ(prepare(pod("p", "a")), "there");
  drivers.go("gpu.org");
  keeper->release("uid-p");
  env.run_for(base::minutes(10));
  EXPECT_TRUE(keeper->holds("uid-p"));
  asked();
  drivers.come("gpu.org");
  keeper->driver_came();
  env.settle();
  EXPECT_EQ(asked(), "gpu.org takes back a; ");
  EXPECT_FALSE(keeper->holds("uid-p"));
}

TEST_F(Claims, of_a_pod_that_goes_while_its_driver_is_asked_are_taken_back_then) {
  drivers.come("gpu.org");
  put_claim("a", {"p"});
  drivers.silent = true;
  EXPECT_EQ(prepare(pod("p", "a")), "waits");
  EXPECT_TRUE(keeper->is_busy());
  keeper->release("uid-p");
  env.settle();
  EXPECT_EQ(asked(), "gpu.org prepares a; ");
  drivers.silent = false;
  drivers.answer();
  env.settle();
  EXPECT_EQ(asked(), "gpu.org takes back a; ");
  EXPECT_FALSE(keeper->is_busy());
  // One that goes while its claim is read has nothing to give back.
  std::string why;
  EXPECT_EQ(keeper->prepare(pod("p", "a"), why), Answer::kWait);
  keeper->release("uid-p");
  env.settle();
  EXPECT_EQ(asked(), "");
}

TEST_F(Claims, of_others_do_not_wait_for_a_driver_that_hangs) {
  drivers.come("gpu.org");
  put_claim("a", {"p"});
  put_claim("b", {"q"});
  drivers.silent = true;
  EXPECT_EQ(prepare(pod("p", "a")), "waits");
  EXPECT_EQ(prepare(pod("q", "b")), "waits");
  EXPECT_EQ(asked(), "gpu.org prepares a; gpu.org prepares b; ");
  drivers.answer();
  env.settle();
  EXPECT_EQ(prepare(pod("q", "b")), "there");
}

// Each time is a write of the pod's status.
TEST_F(Claims, a_device_that_flaps_concerns_its_pods_a_few_times_a_second) {
  put_claim("a", {"p"});
  drivers.come("gpu.org");
  ASSERT_EQ(prepare(pod("p", "a")), "there");
  changes = 0;
  for (int i = 0; i < 1000; ++i)
    keeper->health_changed_by("gpu.org",
                              {{"n", "g0", i % 2 == 0 ? Health::kUnhealthy : Health::kHealthy, base::minutes(1)}});
  env.run_for(base::seconds(1));
  EXPECT_EQ(changes, 2) << "at once, and of how it ended";
}

}  // namespace
}  // namespace node
