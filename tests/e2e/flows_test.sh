#!/usr/bin/env bash
# JobFlows and CronJobs from kubectl apply to their end, with real processes.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

template() { # template NAME COMMAND
  cat <<Y
apiVersion: flow.volcano.sh/v1alpha1
kind: JobTemplate
metadata: {name: $1}
spec:
  tasks:
  - name: main
    replicas: 1
    template:
      spec:
        restartPolicy: Never
        terminationGracePeriodSeconds: 1
        containers:
        - {name: main, image: "nginx:latest", command: [sh, -c, "$2"], resources: {requests: {cpu: 100m}}}
---
Y
}
flow() { # flow NAME RETAIN FLOWS...: each in YAML's flow style
  printf 'apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: %s}\nspec:\n  jobRetainPolicy: %s\n  flows:\n' "$1" "$2"
  shift 2
  printf '  - %s\n' "$@"
}
flow_is() { field_is jobflow "$1" .status.state.phase "$2"; }
event_is() { kubectl get events -o 'jsonpath={range .items[*]}{.involvedObject.kind}/{.involvedObject.name} {.reason}: {.message}{"\n"}{end}' | grep -F "$1" > /dev/null; }

a_diamond_runs_in_order() {
  { template first 'echo one; sleep 1'; template left 'echo left'; template right 'echo right'; template last 'echo last'; } | kubectl apply -f - > /dev/null
  flow diamond retain '{name: first}' '{name: left, dependsOn: {targets: [first]}}' '{name: right, dependsOn: {targets: [first]}}' \
    '{name: last, dependsOn: {targets: [left, right]}}' | kubectl apply -f - > /dev/null
  expect "running" wait_for 10 flow_is diamond Running
  expect "succeeds" wait_for 30 flow_is diamond Succeed
  expect "all completed" field_is jobflow diamond '.status.completedJobs[*]' 'diamond-first diamond-left diamond-right diamond-last'
  expect "history" field_is jobflow diamond '.status.jobStatusList[0].runningHistories[-1:].state' Completed
  expect "event" event_is 'JobFlow/diamond Created: create a job named diamond-last!'
  expect "template's list" wait_for 5 field_is jobtemplate left '.status.jobDependsOnList[*]' diamond-left
  expect "row" sh -c 'kubectl get jf diamond --no-headers | grep -qE "^diamond +Succeed "'
  kubectl delete jobflow diamond --wait=false > /dev/null
  expect "its jobs go with it" wait_for 10 sh -c '! kubectl get vcjob -o name | grep -q diamond'
  expect "the list is empty again" wait_for 5 field_is jobtemplate left '.status.jobDependsOnList[*]' ''
}
a_patch_changes_the_job() {
  template plain 'echo plain' | kubectl apply -f - > /dev/null
  flow patched retain '{name: plain, patch: {jobSpec: {maxRetry: 7, tasks: [{name: main, template: {spec: {containers: [{name: main, command: [echo, patched]}]}}}]}}}' |
    kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 20 flow_is patched Succeed
  expect "the command is the patch's" sh -c '[ "$(kubectl logs patched-plain-main-0)" = patched ]'
  expect "so is maxRetry" field_is vcjob patched-plain .spec.maxRetry 7
  expect "the image is the template's" field_is vcjob patched-plain '.spec.tasks[0].template.spec.containers[0].image' nginx:latest
  expect "nothing was added to the patch" field_is jobflow patched '.spec.flows[0].patch.jobSpec.queue' ''
}
probes_are_waited_for() {
  local port
  port=$(free_port)
  { template server "sleep 2; cd /var/empty 2>/dev/null || cd /; exec python3 -m http.server $port"; template user 'echo served'; } | kubectl apply -f - > /dev/null
  flow served retain '{name: server}' "{name: user, dependsOn: {targets: [server], probe: {httpGetList: [{taskName: main, path: /, port: $port}], tcpSocketList: [{taskName: main, port: $port}], taskStatusList: [{taskName: main, phase: Running}]}}}" |
    kubectl apply -f - > /dev/null
  expect "the server runs" wait_for 10 phase_is served-server Running
  expect "the user waits" sh -c '! kubectl get vcjob served-user'
  expect "the user runs once the server answers" wait_for 20 phase_is served-user Completed
  expect "beside the server" phase_is served-server Running
  kubectl delete jobflow served --wait=false > /dev/null
}
jobs_are_deleted_on_demand() {
  flow gone delete '{name: plain}' | kubectl apply -f - > /dev/null
  expect "succeeds" wait_for 20 flow_is gone Succeed
  expect "its job is deleted" wait_for 10 sh -c '! kubectl get vcjob gone-plain'
  expect "the status remembers" field_is jobflow gone '.status.completedJobs[*]' gone-plain
}
a_missing_template_is_named() {
  flow early retain '{name: later}' | kubectl apply -f - > /dev/null
  expect "event" wait_for 5 event_is 'JobFlow/early SyncJobFlow: SyncJobFlow JobFlow failed for jobtemplate.flow.volcano.sh "later" not found'
  template later 'true' | kubectl apply -f - > /dev/null
  expect "it goes on when it comes" wait_for 20 flow_is early Succeed
  expect "a circle is refused" sh -c "printf 'apiVersion: flow.volcano.sh/v1alpha1\nkind: JobFlow\nmetadata: {name: circle}\nspec: {flows: [{name: a, dependsOn: {targets: [a]}}]}\n' | kubectl apply -f - 2>&1 | grep -q 'jobflow Flow is not DAG'"
}
cron() { # cron NAME SCHEDULE COMMAND [more of the spec]
  cat <<Y
apiVersion: batch.volcano.sh/v1alpha1
kind: CronJob
metadata: {name: $1}
spec:
  schedule: "$2"
$4
  jobTemplate:
    metadata: {labels: {from: $1}}
    spec:
      tasks:
      - name: main
        replicas: 1
        template:
          spec:
            restartPolicy: Never
            terminationGracePeriodSeconds: 1
            containers:
            - {name: main, image: "nginx:latest", command: [sh, -c, "$3"], resources: {requests: {cpu: 100m}}}
Y
}
jobs_of() { kubectl get vcjob -l "from=$1" -o name | wc -l; }
runs_by_the_clock() {
  cron tick '@every 1s' 'echo tick' '  successfulJobsHistoryLimit: 2' | kubectl apply -f - > /dev/null
  expect "a run completes" wait_for 20 sh -c 'kubectl get cronvj tick -o "jsonpath={.status.lastSuccessfulTime}" | grep -q T'
  expect "its event" event_is 'for CronJob default/tick'
  expect "its annotation" sh -c 'kubectl get vcjob -l from=tick -o yaml | grep -q "volcano.sh/cronjob-scheduled-timestamp: "'
  expect "history is deleted" wait_for 20 event_is 'SuccessfulDelete: Deleted job "tick-'
  kubectl patch cronvj tick --type merge -p '{"spec":{"suspend":true}}' > /dev/null
  expect "two are kept" wait_for 20 sh -c '[ "$(kubectl get vcjob -l from=tick -o name | wc -l)" = 2 ] && [ -z "$(kubectl get cronvj tick -o "jsonpath={.status.active}")" ]'
  kubectl delete cronvj tick > /dev/null
  expect "its jobs go with it" wait_for 10 sh -c '[ "$(kubectl get vcjob -l from=tick -o name | wc -l)" = 0 ]'
}
policies_are_obeyed() {
  cron alone '@every 1s' 'sleep 60' '  concurrencyPolicy: Forbid' | kubectl apply -f - > /dev/null
  cron newest '@every 2s' 'sleep 60' '  concurrencyPolicy: Replace' | kubectl apply -f - > /dev/null
  expect "forbidden" wait_for 10 event_is 'CronJob/alone ForbidConcurrent: Skipping job creation because another job is already running'
  expect "one job" [ "$(jobs_of alone)" = 1 ]
  expect "replaced" wait_for 10 event_is 'CronJob/newest ReplaceConcurrent: Replacing active job for CronJob'
  kubectl delete cronvj alone newest > /dev/null
}
what_makes_no_sense_is_refused() {
  expect "schedule" sh -c "$(declare -f cron); cron bad '61 * * * *' true '' | kubectl apply -f - 2>&1 | grep -q 'schedule is not a valid cron expression'"
  expect "zone" sh -c "$(declare -f cron); cron bad '@daily' true '  timeZone: Mars/Base' | kubectl apply -f - 2>&1 | grep -q 'invalid timeZone'"
}
pods_get_the_colocation_of_their_namespace() {
  printf 'apiVersion: config.volcano.sh/v1alpha1\nkind: ColocationConfiguration\nmetadata: {name: online}\nspec: {selector: {matchLabels: {app: online}}, memoryQos: {lowRatio: 20}}\n' |
    kubectl apply -f - > /dev/null
  kubectl run online --image nginx:latest --labels app=online --restart Never --command -- sleep 60 > /dev/null
  expect "marked" wait_for 5 field_is pod online '.metadata.annotations.volcano\.sh/colocation-config-name' online
  expect "with the ratios" field_is pod online '.metadata.annotations.volcano\.sh/colocation-config' '{"memoryQos":{"highRatio":100,"lowRatio":20}}'
  kubectl delete colocationconfiguration online > /dev/null
  expect "reset" wait_for 5 field_is pod online '.metadata.annotations.volcano\.sh/colocation-config' '{}'
  kubectl delete pod online --wait=false --grace-period 0 --force > /dev/null 2>&1
}
survives_a_kill() {
  cron often '@every 1s' 'true' '  concurrencyPolicy: Forbid' | kubectl apply -f - > /dev/null
  flow long retain '{name: first}' '{name: last, dependsOn: {targets: [first]}}' | kubectl apply -f - > /dev/null
  expect "the flow runs" wait_for 10 flow_is long Running
  kill_cluster
  start_cluster --host-rootfs
  expect "the flow ends" wait_for 20 flow_is long Succeed
  local last=$(field cronvj often .status.lastScheduleTime)
  expect "the CronJob goes on" wait_for 20 sh -c "[ \"\$(kubectl get cronvj often -o 'jsonpath={.status.lastScheduleTime}')\" \\> \"$last\" ]"
  kubectl delete cronvj often > /dev/null
}

start_cluster --host-rootfs || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests a_diamond_runs_in_order a_patch_changes_the_job probes_are_waited_for jobs_are_deleted_on_demand a_missing_template_is_named runs_by_the_clock \
  policies_are_obeyed what_makes_no_sense_is_refused pods_get_the_colocation_of_their_namespace survives_a_kill
