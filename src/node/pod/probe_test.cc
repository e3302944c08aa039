// Probes: thresholds, when each is asked, and what their answers make of a container.
#include "node/pod/probe.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "node/pod/pod_plan.h"
#include "node/pod/pod_status.h"

namespace node {
namespace {

using api::Json;

constexpr Moment kNow{base::minutes(1), {1'767'225'600'000'000'000}};

Json yaml(const std::string& text) {
  const auto json = api::parse_yaml(text);
  CHECK(json.ok());
  return *json;
}

struct ThresholdCase {
  const char* probe;
  bool held;
  const char* answers;   // g(ood), b(ad), u(nknown)
  const char* verdicts;  // h(olds), f(ails), -
};
TEST(Probe, VerdictsFollowThresholds) {
  for (const ThresholdCase& test :
       {ThresholdCase{"{}", false, "gbbbg", "h--fh"}, ThresholdCase{"{failureThreshold: 1}", true, "bgb", "fhf"},
        ThresholdCase{"{successThreshold: 2}", false, "gbgg", "---h"},
        ThresholdCase{"{failureThreshold: 2}", true, "bububb", "--f-ff"},
        ThresholdCase{"{failureThreshold: 2}", true, "bgbgbb", "-h-h-f"},
        ThresholdCase{"{failureThreshold: -7, successThreshold: 0}", true, "bg", "fh"},
        ThresholdCase{"{}", true, "uuuuu", "-----"}}) {
    ProbeState probe{.wanted = true, .holds = test.held};
    std::string verdicts;
    for (const char* c = test.answers; *c != '\0'; ++c) {
      const Answer answer = *c == 'g' ? Answer::kSuccess : *c == 'b' ? Answer::kFailure : Answer::kUnknown;
      verdicts += "-hf"[static_cast<int>(weigh(probe_settings(yaml(test.probe)), answer, probe))];
    }
    EXPECT_EQ(verdicts, test.verdicts) << test.probe << test.answers;
  }
}

TEST(Probe, SettingsHaveDefaultsAndBounds) {
  const ProbeSettings plain = probe_settings(yaml("{}"));
  EXPECT_EQ(plain.period, base::seconds(10));
  EXPECT_EQ(plain.timeout, base::seconds(1));
  EXPECT_EQ(plain.failure_threshold, 3);
  EXPECT_FALSE(plain.grace);
  const ProbeSettings wild =
      probe_settings(yaml("{initialDelaySeconds: -5, periodSeconds: 0, timeoutSeconds: 9223372036854775807, "
                          "terminationGracePeriodSeconds: 0}"));
  EXPECT_EQ(wild.initial_delay, base::Duration{});
  EXPECT_EQ(wild.period, base::seconds(1));
  EXPECT_EQ(wild.timeout, base::seconds(2147483647));
  EXPECT_EQ(wild.grace, base::seconds(1));
}

// Which probes of the container are asked for.
std::string asked(const Json& pod, const PodState& state) {
  std::string text;
  for (const Action& action : plan_pod(pod, state, kNow).actions)
    if (action.kind == ActionKind::kProbe) text += std::string(probe_word(action.probe)) + " ";
  return text;
}

TEST(Probe, EachIsAskedInItsTime) {
  const Json pod = yaml(
      "{metadata: {uid: u}, spec: {containers: [{name: a, startupProbe: {exec: {}}, livenessProbe: {exec: {}}, "
      "readinessProbe: {exec: {}, initialDelaySeconds: 5}, lifecycle: {postStart: {exec: {}}}}]}}");
  PodState state = initial_state(pod);
  state.sandbox = Sandbox::kReady;
  ContainerState& container = state.containers[0];
  container.phase = RunPhase::kRunning;
  container.started_at = kNow.uptime - base::seconds(4);
  EXPECT_EQ(asked(pod, state), "") << "before the hook is through";
  container.post_start = HookPhase::kDone;
  EXPECT_EQ(asked(pod, state), "Startup ");
  EXPECT_FALSE(is_started(container));
  container.probes[0].busy = true;
  EXPECT_EQ(asked(pod, state), "");
  container.probes[0].busy = false;
  container.probes[0].holds = true;
  EXPECT_TRUE(is_started(container));
  EXPECT_EQ(asked(pod, state), "Liveness ");
  EXPECT_EQ(plan_pod(pod, state, kNow).wake, kNow.uptime + base::seconds(1));
  container.started_at = kNow.uptime - base::seconds(5);
  EXPECT_EQ(asked(pod, state), "Liveness Readiness ");
  EXPECT_FALSE(is_ready(container));
  container.probes[2].holds = true;
  EXPECT_TRUE(is_ready(container));
  container.probes[1].next = kNow.uptime + base::seconds(1);
  EXPECT_EQ(asked(pod, state), "Readiness ");
  container.doom = "x";
  EXPECT_EQ(asked(pod, state), "");
  EXPECT_EQ(plan_pod(pod, state, kNow).actions, (std::vector<Action>{{ActionKind::kTerminate, 0, base::seconds(30)}}));
  container.doom_grace = base::seconds(3);
  EXPECT_EQ(plan_pod(pod, state, kNow).actions, (std::vector<Action>{{ActionKind::kTerminate, 0, base::seconds(3)}}));
}

TEST(Probe, WhatIsEndedForAProbeStartsAgainWhateverItsExitCode) {
  for (const char* policy : {"Always", "OnFailure", "Never"}) {
    const Json pod =
        yaml(std::string("{metadata: {uid: u}, spec: {containers: [{name: a}], restartPolicy: ") + policy + "}}");
    PodState state = initial_state(pod);
    state.sandbox = Sandbox::kReady;
    state.containers[0].phase = RunPhase::kEnded;
    state.containers[0].image_ready = true;
    state.containers[0].doom = "it failed its liveness probe";
    const bool never = std::string_view(policy) == "Never";
    EXPECT_EQ(plan_pod(pod, state, kNow).actions,
              (std::vector<Action>{{never ? ActionKind::kRemove : ActionKind::kStart}}))
        << policy;
  }
}

TEST(Probe, ReadinessWaitsForItsGates) {
  struct Case {
    const char* conditions;
    const char* ready;
    const char* message;
  };
  for (const Case& test : {Case{"[]", "False", "corresponding condition of pod readiness gate \"x/y\" does not exist."},
                           Case{"[{type: x/y, status: 'False'}]", "False",
                                "the status of pod readiness gate \"x/y\" is not \"True\", but False"},
                           Case{"[{type: x/y, status: 'True'}]", "True", ""}}) {
    const Json pod = yaml(std::string("{metadata: {uid: u}, spec: {readinessGates: [{conditionType: x/y}], "
                                      "containers: [{name: a}]}, status: {conditions: ") +
                          test.conditions + "}}");
    PodState state = initial_state(pod);
    state.containers[0].phase = RunPhase::kRunning;
    const Json status = status_for(pod, state, "10.0.0.1", kNow);
    for (const Json& one : status["conditions"].items()) {
      const std::string_view type = one["type"].as_string();
      if (type == "ContainersReady") {
        EXPECT_EQ(one["status"].as_string(), "True");
      }
      if (type != "Ready") continue;
      EXPECT_EQ(one["status"].as_string(), test.ready);
      EXPECT_EQ(one["message"].as_string(), test.message);
    }
  }
}

TEST(Probe, ASidecarHoldsUpTheOthersUntilItHasStarted) {
  const Json pod = yaml(
      "{metadata: {uid: u}, spec: {initContainers: [{name: s, restartPolicy: Always, startupProbe: {exec: {}}}], "
      "containers: [{name: a}]}}");
  PodState state = initial_state(pod);
  state.sandbox = Sandbox::kReady;
  state.containers[0].phase = RunPhase::kRunning;
  state.containers[0].started_at = kNow.uptime;
  state.containers[0].probes[0].next = kNow.uptime + base::seconds(1);
  EXPECT_TRUE(plan_pod(pod, state, kNow).actions.empty());
  state.containers[0].probes[0].holds = true;
  EXPECT_EQ(plan_pod(pod, state, kNow).actions, (std::vector<Action>{{ActionKind::kPull, 1}}));
}

}  // namespace
}  // namespace node
