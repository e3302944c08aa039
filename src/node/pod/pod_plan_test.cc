// The decisions of a pod's life, and the status they show.
#include "node/pod/pod_plan.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "api/pod_requests.h"
#include "base/format.h"
#include "node/pod/pod_status.h"

namespace node {
namespace {

using api::Json;

constexpr Moment kNow{base::minutes(1), {1'767'225'600'000'000'000}};

Moment later(base::Duration span) { return {kNow.uptime + span, kNow.wall + span}; }

Json pod_of(const std::string& spec, const std::string& metadata = "") {
  const auto json = api::parse_yaml("metadata: {name: p, namespace: ns, uid: u" + metadata + "}\nspec: " + spec + "\n");
  CHECK(json.ok());
  return *json;
}

std::string text_of(const Plan& plan, const PodState& state) {
  static constexpr const char* kWords[] = {"prepare", "pull",  "start",  "terminate",
                                           "kill",    "probe", "remove", "finalize"};
  std::string text;
  for (const Action& action : plan.actions) {
    text += (text.empty() ? "" : ", ") + std::string(kWords[static_cast<int>(action.kind)]);
    const bool of_container = action.kind != ActionKind::kPrepare && action.kind != ActionKind::kRemove &&
                              action.kind != ActionKind::kFinalize;
    if (of_container) text += " " + state.containers[action.container].name;
  }
  if (plan.wake) text += base::format(" wake +{}s", (*plan.wake - kNow.uptime).ns / 1'000'000'000);
  return text;
}

void run(ContainerState& container) {
  container.phase = RunPhase::kRunning;
  container.image_ready = true;
  container.started = kNow.wall;
  container.started_at = kNow.uptime;
  container.id = "id-" + container.name;
}
void end(ContainerState& container, int code) {
  run(container);
  container.phase = RunPhase::kEnded;
  container.ended = {container.id, kNow.wall, kNow.wall, code, code == 0 ? "Completed" : "Error", {}};
  container.ended_at = kNow.uptime;
}

PodState ready(const Json& pod) {
  PodState state = initial_state(pod);
  state.sandbox = Sandbox::kReady;
  state.start_time = kNow.wall;
  for (ContainerState& container : state.containers) container.image_ready = true;
  return state;
}

TEST(PodPlan, PreparesThenPullsThenStarts) {
  const Json pod = pod_of("{containers: [{name: a}, {name: b}]}");
  PodState state = initial_state(pod);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "prepare");
  state.sandbox = Sandbox::kPreparing;
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "");
  state.sandbox = Sandbox::kReady;
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "pull a, pull b");
  state.containers[0].image_ready = true;
  state.containers[1].image_busy = true;
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start a");
}

TEST(PodPlan, RunsInitContainersOneByOneBeforeTheOthers) {
  const Json pod = pod_of("{initContainers: [{name: i}, {name: j}], containers: [{name: a}]}");
  PodState state = ready(pod);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start i");
  run(state.containers[0]);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "");
  end(state.containers[0], 0);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start j");
  end(state.containers[1], 0);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start a");
}

TEST(PodPlan, AFailedInitContainerFailsAPodThatNeverRestarts) {
  const Json pod = pod_of("{restartPolicy: Never, initContainers: [{name: i}], containers: [{name: a}]}");
  PodState state = ready(pod);
  end(state.containers[0], 3);
  EXPECT_EQ(phase_of(pod, state), PodPhase::kFailed);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "remove");
}

TEST(PodPlan, SidecarsStartInOrderAndRunBesideTheOthers) {
  const Json pod = pod_of(
      "{restartPolicy: Never, initContainers: [{name: s, restartPolicy: Always}, {name: i}], containers: [{name: a}]}");
  PodState state = ready(pod);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start s");
  run(state.containers[0]);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start i");
  end(state.containers[1], 0);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start a");
}

struct RestartCase {
  const char* policy;
  int code;
  const char* plan;
  PodPhase phase;
};
TEST(PodPlan, RestartPolicyDecidesWhatFollowsAnExit) {
  for (const RestartCase& test : {RestartCase{"Always", 0, "start a", PodPhase::kRunning},
                                  RestartCase{"Always", 1, "start a", PodPhase::kRunning},
                                  RestartCase{"OnFailure", 0, "remove", PodPhase::kSucceeded},
                                  RestartCase{"OnFailure", 1, "start a", PodPhase::kRunning},
                                  RestartCase{"Never", 0, "remove", PodPhase::kSucceeded},
                                  RestartCase{"Never", 1, "remove", PodPhase::kFailed}}) {
    const Json pod = pod_of(base::format("{{restartPolicy: {}, containers: [{{name: a}}]}}", test.policy));
    PodState state = ready(pod);
    end(state.containers[0], test.code);
    EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), test.plan) << test.policy << test.code;
    EXPECT_EQ(phase_of(pod, state), test.phase) << test.policy << test.code;
  }
}

TEST(PodPlan, BackOffGrowsFromTenSecondsToFiveMinutes) {
  base::Duration delay{};
  std::vector<std::int64_t> seconds;
  for (int i = 0; i < 7; ++i) seconds.push_back((delay = next_back_off(delay)).ns / 1'000'000'000);
  EXPECT_EQ(seconds, (std::vector<std::int64_t>{10, 20, 40, 80, 160, 300, 300}));
}

TEST(PodPlan, WaitsForTheBackOffAndSaysSo) {
  const Json pod = pod_of("{containers: [{name: a}]}");
  PodState state = ready(pod);
  end(state.containers[0], 1);
  state.containers[0].attempt = 1;
  state.containers[0].back_off = base::seconds(10);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), " wake +10s");
  const Json status = status_for(pod, state, "h", kNow)["containerStatuses"].items().front();
  EXPECT_EQ(status["state"]["waiting"]["reason"].as_string(), "CrashLoopBackOff");
  EXPECT_EQ(status["state"]["waiting"]["message"].as_string(),
            "back-off 10s restarting failed container=a pod=p_ns(u)");
  EXPECT_EQ(status["lastState"]["terminated"]["exitCode"].as_int(), 1);
  EXPECT_EQ(text_of(plan_pod(pod, state, later(base::seconds(10))), state), "start a");
}

TEST(PodPlan, ADeletedPodGetsTermThenKillThenIsRemovedAndFinalized) {
  const Json pod = pod_of("{containers: [{name: a}]}",
                          ", deletionTimestamp: '2026-01-01T00:00:30Z', deletionGracePeriodSeconds: 30");
  PodState state = ready(pod);
  run(state.containers[0]);
  const Plan first = plan_pod(pod, state, kNow);
  EXPECT_EQ(text_of(first, state), "terminate a");
  EXPECT_EQ(first.actions[0].grace, base::seconds(30));
  state.containers[0].term_sent = true;
  state.containers[0].kill_at = kNow.uptime + base::seconds(30);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), " wake +30s");
  EXPECT_EQ(text_of(plan_pod(pod, state, later(base::seconds(30))), state), "kill a");
  state.containers[0].kill_sent = true;
  EXPECT_EQ(text_of(plan_pod(pod, state, later(base::seconds(31))), state), "");
  end(state.containers[0], 137);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "remove");
  EXPECT_EQ(phase_of(pod, state), PodPhase::kFailed);
  state.sandbox = Sandbox::kGone;
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "finalize");
}

TEST(PodPlan, ADeletionWithoutGraceKillsAtOnce) {
  const Json pod =
      pod_of("{containers: [{name: a}]}", ", deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0");
  PodState state = ready(pod);
  run(state.containers[0]);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "kill a");
}

TEST(PodPlan, APodThatNeverStartedIsFinalizedWithoutMore) {
  const Json pod = pod_of("{containers: [{name: a}]}",
                          ", deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30");
  const PodState state = initial_state(pod);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "finalize");
}

TEST(PodPlan, TheActiveDeadlineEndsThePod) {
  const Json pod = pod_of("{activeDeadlineSeconds: 60, containers: [{name: a}]}");
  PodState state = ready(pod);
  run(state.containers[0]);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), " wake +60s");
  EXPECT_EQ(text_of(plan_pod(pod, state, later(base::seconds(60))), state), "terminate a");
}

TEST(PodStatus, ShowsConditionsOfEachPhase) {
  const Json pod = pod_of("{restartPolicy: Never, initContainers: [{name: i}], containers: [{name: a}, {name: b}]}");
  PodState state = ready(pod);
  const auto condition = [&](const char* type) {
    const Json status = status_for(pod, state, "h", kNow);
    for (const Json& item : status["conditions"].items())
      if (item["type"].as_string() == type)
        return item["status"].str() + " " + item["reason"].str() + " " + item["message"].str();
    return std::string();
  };
  EXPECT_EQ(condition("Initialized"), "False ContainersNotInitialized containers with incomplete status: [i]");
  end(state.containers[0], 0);
  run(state.containers[1]);
  EXPECT_EQ(condition("Initialized"), "True  ");
  EXPECT_EQ(condition("Ready"), "False ContainersNotReady containers with unready status: [b]");
  run(state.containers[2]);
  EXPECT_EQ(condition("Ready"), "True  ");
  end(state.containers[1], 0);
  end(state.containers[2], 0);
  EXPECT_EQ(condition("Ready"), "False PodCompleted ");
  EXPECT_EQ(condition("ContainersReady"), "False PodCompleted ");
  EXPECT_EQ(condition("PodScheduled"), "True  ");
}

TEST(PodStatus, KeepsTheTimeOfConditionsThatDidNotChange) {
  Json pod = pod_of("{containers: [{name: a}]}");
  PodState state = ready(pod);
  run(state.containers[0]);
  pod.set("status", status_for(pod, state, "h", kNow));
  const Json after = status_for(pod, state, "h", later(base::minutes(5)));
  EXPECT_EQ(after, pod["status"]);
}

struct QosCase {
  const char* resources;
  const char* qos;
};
TEST(PodStatus, ClassifiesQualityOfService) {
  for (const QosCase& test :
       {QosCase{"{}", "BestEffort"}, QosCase{"{requests: {cpu: 1}}", "Burstable"},
        QosCase{"{limits: {cpu: 1}}", "Burstable"}, QosCase{"{limits: {cpu: 1, memory: 1Gi}}", "Guaranteed"},
        QosCase{"{limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 500m}}", "Burstable"}})
    EXPECT_EQ(
        api::qos_class(pod_of(base::format("{{containers: [{{name: a, resources: {}}}]}}", test.resources))["spec"]),
        test.qos)
        << test.resources;
}

// A loss of the sandbox: the containers before it, init containers first, and the next step.
struct LostCase {
  const char* what;
  const char* policy;
  const char* before;    // name, and the exit code, "lost", or "-" for what never began
  const char* expected;  // the first plan, and the phase
};
std::string life_after_loss(const LostCase& test) {
  const Json pod = pod_of(base::format(
      "{{restartPolicy: {}, initContainers: [{{name: i, image: b}}, {{name: s, image: b, restartPolicy: Always}}], "
      "containers: [{{name: a, image: b}}, {{name: c, image: b}}]}}",
      test.policy));
  PodState state = ready(pod);
  std::string_view rest = test.before;
  for (ContainerState& container : state.containers) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "lost") {
      end(container, 137);
      container.ended.reason = "ContainerStatusUnknown";
    } else if (word != "-") {
      end(container, word == "0" ? 0 : 1);
    }
  }
  state.sandbox = Sandbox::kLost;
  begin_anew(pod, state, kNow.wall);
  static constexpr const char* kPhases[] = {"Pending", "Running", "Succeeded", "Failed"};
  return text_of(plan_pod(pod, state, kNow), state) + ", " + kPhases[static_cast<int>(phase_of(pod, state))];
}
TEST(PodPlan, ALostSandboxBeginsThePodsLifeAnew) {
  for (const LostCase& test : {
           LostCase{"a service", "Always", "0 lost lost lost", "prepare, Running"},
           LostCase{"it was still initializing", "Always", "lost - - -", "prepare, Pending"},
           LostCase{"an init container had failed", "OnFailure", "1 - - -", "prepare, Pending"},
           LostCase{"a task that may be tried again", "OnFailure", "0 lost lost 0", "prepare, Running"},
           LostCase{"all that there was to do is done", "OnFailure", "0 lost 0 0", "remove, Succeeded"},
           LostCase{"a task that is tried once", "Never", "0 lost lost lost", "remove, Failed"},
           LostCase{"one that had begun in part", "Never", "0 lost 0 -", "remove, Failed"},
           LostCase{"one whose work had not begun", "Never", "0 lost - -", "prepare, Pending"},
           LostCase{"one that was initializing", "Never", "lost - - -", "remove, Failed"},
       })
    EXPECT_EQ(life_after_loss(test), test.expected) << test.what;
}

TEST(PodPlan, AfterALossInitContainersAndSidecarsComeFirstAgain) {
  const Json pod = pod_of(
      "{initContainers: [{name: i, image: b}, {name: s, image: b, restartPolicy: Always}, {name: j, image: b}], "
      "containers: [{name: a, image: b}]}");
  PodState state = ready(pod);
  for (ContainerState& container : state.containers) end(container, container.sidecar || !container.init ? 137 : 0);
  state.containers[1].attempt = 2;
  state.sandbox = Sandbox::kLost;
  begin_anew(pod, state, kNow.wall);
  state.sandbox = Sandbox::kReady;
  const auto next = [&] { return text_of(plan_pod(pod, state, kNow), state); };
  const auto begin = [&](std::size_t i) {
    ++state.containers[i].attempt;
    state.containers[i].phase = RunPhase::kStarting;
  };
  EXPECT_EQ(next(), "start i");
  begin(0);
  EXPECT_EQ(next(), "");
  end(state.containers[0], 0);
  EXPECT_EQ(next(), "start s");
  begin(1);
  EXPECT_EQ(next(), "");
  run(state.containers[1]);
  EXPECT_EQ(next(), "start j");
  begin(2);
  end(state.containers[1], 1);
  EXPECT_EQ(next(), "start s") << "a sidecar that has begun goes on";
  run(state.containers[1]);
  end(state.containers[2], 0);
  EXPECT_EQ(next(), "start a");
  EXPECT_EQ(state.containers[0].attempt, 1);
  EXPECT_EQ(state.containers[1].attempt, 3);
}

TEST(PodPlan, WhatRunsInALostSandboxEndsFirst) {
  const Json pod =
      pod_of("{initContainers: [{name: i, image: b}], containers: [{name: a, image: b}, {name: c, image: b}]}");
  PodState state = ready(pod);
  end(state.containers[0], 0);
  run(state.containers[1]);
  end(state.containers[2], 137);
  state.sandbox = Sandbox::kLost;
  begin_anew(pod, state, kNow.wall);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "terminate a");
  end(state.containers[1], 137);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "prepare");
}

struct RuleCase {
  const char* policy;     // of the pod
  const char* container;  // fields of it
  int code;
  const char* expected;  // whether it is started again, and the phase
};
TEST(PodPlan, RulesAndThePolicyOfAContainerGoBeforeThePods) {
  const char* const on_42 =
      "restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [41, 42]}}]";
  const char* const not_3 =
      "restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: NotIn, values: [3]}}]";
  for (const RuleCase& test : {
           RuleCase{"Never", on_42, 42, "again, Running"},
           RuleCase{"Never", on_42, 1, "over, Failed"},
           RuleCase{"Never", on_42, 0, "over, Succeeded"},
           RuleCase{"Always", on_42, 1, "over, Failed"},
           RuleCase{"Never", not_3, 4, "again, Running"},
           RuleCase{"Never", not_3, 3, "over, Failed"},
           RuleCase{"Never", "restartPolicy: OnFailure", 1, "again, Running"},
           RuleCase{"Never", "restartPolicy: OnFailure", 0, "over, Succeeded"},
           RuleCase{"Never", "restartPolicy: Always", 0, "again, Running"},
           RuleCase{"Always", "restartPolicy: OnFailure", 0, "over, Succeeded"},
           RuleCase{"OnFailure", "stdin: true", 1, "again, Running"},
       }) {
    const Json pod = pod_of(
        base::format("{{restartPolicy: {}, containers: [{{name: a, image: b, {}}}]}}", test.policy, test.container));
    PodState state = ready(pod);
    end(state.containers[0], test.code);
    static constexpr const char* kPhases[] = {"Pending", "Running", "Succeeded", "Failed"};
    EXPECT_EQ(base::format("{}, {}", will_restart(pod, state.containers[0]) ? "again" : "over",
                           kPhases[static_cast<int>(phase_of(pod, state))]),
              test.expected)
        << test.policy << " " << test.container << " " << test.code;
  }
}

TEST(PodPlan, AnInitContainerWithRulesIsTriedAgain) {
  const Json pod = pod_of(
      "{restartPolicy: Never, initContainers: [{name: i, image: b, restartPolicy: Never, restartPolicyRules: [{action: "
      "Restart, exitCodes: {operator: In, values: [42]}}]}], containers: [{name: a, image: b}]}");
  PodState state = ready(pod);
  end(state.containers[0], 42);
  EXPECT_EQ(text_of(plan_pod(pod, state, kNow), state), "start i");
  EXPECT_EQ(phase_of(pod, state), PodPhase::kPending);
  end(state.containers[0], 1);
  EXPECT_EQ(phase_of(pod, state), PodPhase::kFailed);
}

}  // namespace
}  // namespace node
