#!/usr/bin/env bash
# Volcano jobs from kubectl apply to their end, with real processes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

job() { # job NAME REPLICAS COMMAND [extra yaml of the spec]: a job of one task, each pod 100m
  cat <<Y
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1}
spec:
  minAvailable: $2
  queue: default
${4:-}
  tasks:
  - name: main
    replicas: $2
    policies: [{event: TaskCompleted, action: CompleteJob}]
    template:
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 1
        containers:
        - {name: main, image: "nginx:latest", command: [sh, -c, "$3"], resources: {requests: {cpu: ${CPU:-100m}}}}
Y
}

job_1_runs_to_completed() {
  kubectl apply -f examples/manifests/queue-test.yaml > /dev/null
  expect "the queue opens" wait_for 5 field_is queue test .status.state Open
  sed 's/- 10m$/- 2s/' examples/manifests/job-1.yaml | kubectl apply -f - > /dev/null
  expect "running" wait_for 10 phase_is job-1 Running
  local uid=$(field vcjob job-1 .metadata.uid)
  expect "the group's name and phase" wait_for 5 field_is podgroup "job-1-$uid" .status.phase Running
  expect "minResources" field_is podgroup "job-1-$uid" '.spec.minResources' '{"count/pods":"1","cpu":"1","limits.cpu":"1","pods":"1","requests.cpu":"1"}'
  expect "allocated" wait_for 5 field_is queue test .status.allocated '{"cpu":"1","memory":"0","pods":"1"}'
  expect "cpu keeps the integer the user sent" sh -c 'kubectl get queue test -o json | grep -q "\"cpu\": 2"'
  expect "scheduled event" sh -c 'kubectl get events | grep -q "Successfully assigned default/job-1-nginx-0 to"'
  expect "completed" wait_for 15 phase_is job-1 Completed
  expect "succeeded" field_is vcjob job-1 .status.succeeded 1
  expect "version" field_is vcjob job-1 .status.version 3
  expect "task counts" field_is vcjob job-1 .status.taskStatusCount '{"nginx":{"phase":{"Succeeded":1}}}'
  expect "conditions" field_is vcjob job-1 '.status.conditions[*].status' 'Pending Running Completing Completed'
  expect "the group is gone" wait_for 5 sh -c '! kubectl get podgroup -o name | grep -q .'
  expect "the pod is kept" field_is pod job-1-nginx-0 .status.phase Succeeded
  expect "row" sh -c 'kubectl get vcjob job-1 --no-headers | grep -qE "^job-1 +Completed +1 "'
}
logs_are_kept_and_followed() {
  job talk 1 'echo one; sleep 1; echo two' | kubectl apply -f - > /dev/null
  expect "pod" wait_for 10 kubectl get pod talk-main-0
  expect "runs" wait_for 10 sh -c 'kubectl get pod talk-main-0 -o "jsonpath={.status.phase}" | grep -qE "Running|Succ"'
  expect "follow" bash -c '[ "$(timeout 10 kubectl logs -f talk-main-0 | tr "\n" " ")" = "one two " ]'
  expect "tail" sh -c '[ "$(kubectl logs --tail=1 talk-main-0)" = two ]'
}
suspends_and_resumes() {
  job pause 1 'sleep 60' | kubectl apply -f - > /dev/null
  expect "running" wait_for 10 phase_is pause Running
  expect "suspend" build/release/bin/vcctl job suspend -N pause
  expect "aborted" wait_for 10 phase_is pause Aborted
  expect "no pods" wait_for 10 sh -c '! kubectl get pod pause-main-0'
  expect "resume" build/release/bin/vcctl job resume -N pause
  expect "running again" wait_for 10 phase_is pause Running
  expect "delete" build/release/bin/vcctl job delete -N pause
  expect "gone" wait_for 10 sh -c '! kubectl get vcjob pause && ! kubectl get pod pause-main-0'
}
a_killed_pod_restarts_the_job() {
  job again 2 'sleep 60' '  policies: [{event: PodEvicted, action: RestartJob}]' | kubectl apply -f - > /dev/null
  expect "running" wait_for 10 phase_is again Running
  kubectl delete pod again-main-0 --wait=false > /dev/null
  expect "restarted" wait_for 15 field_is vcjob again .status.version 1
  expect "running again" wait_for 15 phase_is again Running
  kubectl delete vcjob again --wait=false > /dev/null
}
a_gang_that_does_not_fit_waits_and_then_starts() {
  local half=$(($(nproc) * 1000 / 2 + 100))
  CPU=${half}m job first 1 'sleep 60' | kubectl apply -f - > /dev/null
  expect "the first runs" wait_for 10 phase_is first Running
  CPU=${half}m job second 1 'sleep 1' | kubectl apply -f - > /dev/null
  expect "the second waits, and its group says why" wait_for 10 sh -c 'kubectl get events | grep -q "podgroup/second-.*queue resource quota insufficient: insufficient cpu"'
  expect "its pods do not run" sh -c '[ "$(kubectl get vcjob second -o "jsonpath={.status.running}")" = "" ]'
  kubectl delete vcjob first --wait=false > /dev/null
  expect "it starts when there is room" wait_for 20 phase_is second Completed
}
survives_a_kill_during_a_job() {
  job long 1 'sleep 4; echo done' | kubectl apply -f - > /dev/null
  expect "running" wait_for 10 phase_is long Running
  local started=$(field pod long-main-0 '.status.containerStatuses[0].state.running.startedAt')
  kill_cluster
  start_cluster --host-rootfs
  expect "the same process" sh -c "[ \"\$(kubectl get pod long-main-0 -o 'jsonpath={.status.containerStatuses[0].state.*.startedAt}')\" = '$started' ]"
  expect "completes" wait_for 15 phase_is long Completed
  expect "its output is whole" sh -c '[ "$(kubectl logs long-main-0)" = done ]'
}
closes_a_queue() {
  expect "create" build/release/bin/vcctl queue create -n q2 -w 1
  expect "open" wait_for 5 field_is queue q2 .status.state Open
  expect "close" build/release/bin/vcctl queue operate -n q2 -a close
  expect "closed" wait_for 5 field_is queue q2 .status.state Closed
  expect "a job is refused" sh -c "sed 's/queue: test/queue: q2/; s/job-1/refused/' examples/manifests/job-1.yaml | kubectl create -f - 2>&1 | grep -q 'can only submit job to queue with state .Open., queue .q2. status is .Closed.'"
  expect "delete" build/release/bin/vcctl queue delete -n q2
}
a_missing_image_is_named() {
  stop_cluster
  start_cluster
  job lost 1 true | sed 's/nginx:latest/nowhere.invalid\/lost:1/' | kubectl apply -f - > /dev/null
  expect "the reason" wait_for 20 sh -c 'kubectl get pod lost-main-0 -o "jsonpath={.status.containerStatuses[0].state.waiting.reason}" | grep -qxE "ErrImagePull|ImagePullBackOff"'
  expect "the image is named" sh -c 'kubectl get events | grep -q nowhere.invalid/lost:1'
  kubectl delete vcjob lost --wait=false > /dev/null
}
a_stop_leaves_nothing() {
  stop_cluster
  start_cluster --host-rootfs
  job rest 1 'sleep 98765' | kubectl apply -f - > /dev/null
  expect "running" wait_for 20 phase_is rest Running
  stop_cluster
  expect "no process is left" sh -c '! pgrep -f "^sleep 98765"'
  expect "no mount is left" sh -c "! grep -q $scratch /proc/mounts"
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests job_1_runs_to_completed logs_are_kept_and_followed suspends_and_resumes a_killed_pod_restarts_the_job a_gang_that_does_not_fit_waits_and_then_starts \
  survives_a_kill_during_a_job closes_a_queue a_missing_image_is_named a_stop_leaves_nothing
