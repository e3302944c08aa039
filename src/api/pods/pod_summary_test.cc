// READY, STATUS and RESTARTS of pods in all states that the printer of Kubernetes tells apart.
#include "api/pods/pod_summary.h"

#include <gtest/gtest.h>

#include "api/json/yaml.h"
#include "base/format.h"

namespace api {
namespace {

// "READY STATUS RESTARTS".
std::string line_of(const std::string& yaml) {
  const PodSummary one = summary_of(*parse_yaml(yaml));
  return base::format("{}/{} {} {}{}", one.ready, one.total, one.status, one.restarts, one.last_restart ? " ago" : "");
}

const std::string kTwo = "spec: {containers: [{name: a}, {name: b}]}, ";
const std::string kSidecar =
    "spec: {initContainers: [{name: first}, {name: side, restartPolicy: Always}], containers: [{name: a}]}, ";

TEST(PodSummary, says_what_kubectl_prints) {
  const struct {
    std::string pod;
    const char* line;
  } rows[] = {
      {kTwo + "status: {phase: Pending}", "0/2 Pending 0"},
      {kTwo + "status: {phase: Failed, reason: Evicted}", "0/2 Evicted 0"},
      {kTwo + "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]}",
       "0/2 SchedulingGated 0"},
      {kTwo + "status: {phase: Running, containerStatuses: [{name: a, ready: true, restartCount: 2, state: {running: "
              "{}}, lastState: {terminated: {finishedAt: '2026-11-20T08:00:00Z'}}}, {name: b, ready: false, "
              "restartCount: 1, state: {waiting: {reason: CrashLoopBackOff}}}]}",
       "1/2 CrashLoopBackOff 3 ago"},
      {kTwo + "status: {phase: Running, containerStatuses: [{name: a, ready: true, state: {running: {}}}, {name: b, "
              "state: {terminated: {exitCode: 0, reason: Completed}}}]}",
       "1/2 NotReady 0"},
      {kTwo + "status: {phase: Running, conditions: [{type: Ready, status: 'True'}], containerStatuses: [{name: a, "
              "state: {terminated: {reason: Completed}}}, {name: b, ready: true, state: {running: {}}}]}",
       "1/2 Running 0"},
      {kTwo + "status: {phase: Running, conditions: [{type: Ready, status: 'False'}], containerStatuses: [{name: a, "
              "state: {terminated: {reason: Completed}}}, {name: b, ready: true, state: {running: {}}}]}",
       "1/2 NotReady 0"},
      {kTwo + "status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 7}}}]}",
       "0/2 ExitCode:7 0"},
      {kTwo +
           "status: {phase: Failed, containerStatuses: [{name: a, state: {terminated: {exitCode: 137, signal: 9}}}]}",
       "0/2 Signal:9 0"},
      {kTwo + "metadata: {deletionTimestamp: '2026-11-20T08:00:00Z'}, status: {phase: Running}", "0/2 Terminating 0"},
      {kTwo + "metadata: {deletionTimestamp: '2026-11-20T08:00:00Z'}, status: {phase: Succeeded}", "0/2 Succeeded 0"},
      {kTwo + "metadata: {deletionTimestamp: '2026-11-20T08:00:00Z'}, status: {phase: Running, reason: NodeLost}",
       "0/2 Unknown 0"},
      // Init containers: the first that is not through.
      {kSidecar + "status: {phase: Pending, initContainerStatuses: [{name: first, restartCount: 3, state: {waiting: "
                  "{reason: PodInitializing}}}]}",
       "0/2 Init:0/2 3"},
      {kSidecar + "status: {phase: Pending, initContainerStatuses: [{name: first, state: {waiting: {reason: "
                  "ErrImagePull}}}]}",
       "0/2 Init:ErrImagePull 0"},
      {kSidecar + "status: {phase: Pending, initContainerStatuses: [{name: first, restartCount: 1, state: {terminated: "
                  "{exitCode: 1, reason: Error}}}]}",
       "0/2 Init:Error 1"},
      {kSidecar + "status: {phase: Pending, initContainerStatuses: [{name: first, state: {terminated: {exitCode: 143, "
                  "signal: 15}}}]}",
       "0/2 Init:Signal:15 0"},
      // A sidecar that has not started holds the others up; one that has counts as a container.
      {kSidecar + "status: {phase: Pending, initContainerStatuses: [{name: first, state: {terminated: {exitCode: 0}}}, "
                  "{name: side, started: false, state: {running: {}}}]}",
       "0/2 Init:1/2 0"},
      {kSidecar + "status: {phase: Running, initContainerStatuses: [{name: first, restartCount: 4, state: {terminated: "
                  "{exitCode: 0}}}, {name: side, started: true, ready: true, restartCount: 2, state: {running: {}}}], "
                  "containerStatuses: [{name: a, ready: true, restartCount: 1, state: {running: {}}}]}",
       "2/2 Running 3"},
      {kSidecar + "status: {phase: Running, initContainerStatuses: [{name: first, state: {terminated: {exitCode: 0}}}, "
                  "{name: side, started: true, ready: false, state: {running: {}}}], containerStatuses: [{name: a, "
                  "ready: true, state: {running: {}}}]}",
       "1/2 Running 0"},
      {kSidecar + "status: {phase: Running, initContainerStatuses: [{name: first, state: {terminated: {exitCode: 0}}}, "
                  "{name: side, started: true, ready: true, state: {running: {}}}], containerStatuses: [{name: a, "
                  "restartCount: 2, state: {waiting: {reason: CrashLoopBackOff}}}]}",
       "1/2 CrashLoopBackOff 2"},
      // A sidecar that restarts after the pod was initialized does not take it back.
      {kSidecar + "status: {phase: Running, conditions: [{type: Initialized, status: 'True'}], initContainerStatuses: "
                  "[{name: first, state: {terminated: {exitCode: 0}}}, {name: side, started: false, restartCount: 1, "
                  "state: {waiting: {reason: CrashLoopBackOff}}}], containerStatuses: [{name: a, ready: true, state: "
                  "{running: {}}}]}",
       "1/2 Init:CrashLoopBackOff 1"},
  };
  for (const auto& row : rows) EXPECT_EQ(line_of("{" + row.pod + "}"), row.line) << row.pod;
}

}  // namespace
}  // namespace api
