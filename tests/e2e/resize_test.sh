#!/usr/bin/env bash
# Pods that are resized in place, with stock kubectl: limits of control groups that change under what runs, what waits, and what cannot be.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

loop='trap "exit 0" TERM; while true; do sleep 0.1; done'
pod() { # pod NAME CPU MEMORY [more fields of the container]
  kubectl apply -f - > /dev/null <<< $'---\n'"{apiVersion: v1, kind: Pod, metadata: {name: $1}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: c, image: i,
    command: [sh, -c, '$loop'], resources: {requests: {cpu: $2, memory: $3}, limits: {cpu: $2, memory: $3}} ${4:+, $4}}]}}"
  wait_for 30 field_is pod "$1" .status.phase Running
}
wish() { echo "{\"spec\":{\"containers\":[{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":\"$1\",\"memory\":\"$2\"},\"limits\":{\"cpu\":\"$1\",\"memory\":\"$2\"}}}]}}"; }
resize() { # resize NAME CPU MEMORY
  kubectl patch pod "$1" --subresource resize -p "$(wish "$2" "$3")"
}
condition_is() { field_is pod "$1" ".status.conditions[?(@.type==\"$2\")].reason" "$3"; }
settled() { [ -z "$(field pod "$1" '.status.conditions[?(@.type=="PodResizeInProgress")].type}{.status.conditions[?(@.type=="PodResizePending")].type')" ]; }
has() { field_is pod "$1" '.status.containerStatuses[0].resources.limits' "{\"cpu\":\"$2\",\"memory\":\"$3\"}"; }
# The limits of the pod's group and of the container's below it, whichever control groups the machine has.
groups_have() { # groups_have NAME QUOTA BYTES
  local uid
  uid=$(field pod "$1" .metadata.uid)
  local quotas memory
  quotas=$(cat /sys/fs/cgroup/cpu/volcano-*/pod"$uid"/{,*/}cpu.cfs_quota_us /sys/fs/cgroup/volcano-*/pod"$uid"/{,*/}cpu.max 2> /dev/null | cut -d' ' -f1 | sort -u)
  memory=$(cat /sys/fs/cgroup/memory/volcano-*/pod"$uid"/{,*/}memory.limit_in_bytes /sys/fs/cgroup/volcano-*/pod"$uid"/{,*/}memory.max 2> /dev/null | sort -u)
  [ "$quotas/$memory" = "$2/$3" ] || { echo "$quotas/$memory"; return 1; }
}
event_has() { # event_has POD REASON TEXT
  local text
  text=$(kubectl get events --field-selector "involvedObject.name=$1,reason=$2" -o 'jsonpath={range .items[*]}{.message}{"\n"}{end}' 2> /dev/null)
  grep -qF -- "$3" <<< "$text"
}

limits_change_under_what_runs() {
  pod p 100m 64Mi
  expect "what it began with" groups_have p 10000 $((64 << 20))
  expect "a resize by kubectl" resize p 200m 128Mi
  expect "what it has to be told" wait_for 20 has p 200m 128Mi
  expect "both groups raised" groups_have p 20000 $((128 << 20))
  expect "no restart" field_is pod p '.status.containerStatuses[0].restartCount' 0
  expect "what is set aside" field_is pod p '.status.containerStatuses[0].allocatedResources' '{"cpu":"200m","memory":"128Mi"}'
  expect "nothing to be left to do" wait_for 10 settled p
  expect "the generation it saw" [ "$(field pod p .status.observedGeneration)" = "$(field pod p .metadata.generation)" ]
  expect "events" wait_for 10 event_has p ResizeCompleted 'Pod resize completed: {"containers":[{"name":"c"'
  resize p 50m 32Mi > /dev/null
  expect "less to be told" wait_for 20 has p 50m 32Mi
  expect "both groups lowered" wait_for 10 groups_have p 5000 $((32 << 20))
}
a_container_restarts_where_it_asks_for_it() {
  pod again 100m 64Mi 'resizePolicy: [{resourceName: memory, restartPolicy: RestartContainer}]'
  resize again 100m 96Mi > /dev/null
  expect "a restart" wait_for 30 field_is pod again '.status.containerStatuses[0].restartCount' 1
  expect "what it has" wait_for 20 has again 100m 96Mi
  expect "both groups" wait_for 10 groups_have again 10000 $((96 << 20))
  kubectl delete pod again > /dev/null
}
memory_in_use_is_not_taken_away() {
  resize p 50m 64Ki > /dev/null
  expect "an error" wait_for 20 condition_is p PodResizeInProgress Error
  expect "the reason" grep -qF 'cannot decrease memory limits: attempting to set pod memory limit (65536) below current usage' <<< "$(field pod p .status.conditions)"
  expect "it to run as before" groups_have p 5000 $((32 << 20))
  expect "the truth to be told" has p 50m 32Mi
  resize p 50m 32Mi > /dev/null
  expect "it to be over" wait_for 20 settled p
}
a_pod_is_resized_as_a_whole() {
  kubectl apply -f - > /dev/null <<< $'---\n'"{apiVersion: v1, kind: Pod, metadata: {name: whole}, spec: {terminationGracePeriodSeconds: 1, resources: {requests: {cpu: 100m, memory: 64Mi},
    limits: {cpu: 100m, memory: 64Mi}}, containers: [{name: c, image: i, command: [sh, -c, '$loop']}]}}"
  wait_for 30 field_is pod whole .status.phase Running
  expect "the pod's limits, which its container sees" groups_have whole 10000 $((64 << 20))
  expect "its class of service" field_is pod whole .status.qosClass Guaranteed
  expect "a resize by kubectl" kubectl patch pod whole --subresource resize -p '{"spec":{"resources":{"requests":{"cpu":"200m"},"limits":{"cpu":"200m"}}}}'
  expect "both groups raised" wait_for 20 groups_have whole 20000 $((64 << 20))
  expect "what it has to be told" wait_for 20 field_is pod whole .status.resources.limits '{"cpu":"200m","memory":"64Mi"}'
  kubectl delete pod whole > /dev/null
}
what_waits_outlives_the_agent() {
  local cores
  cores=$(field node n1 .status.allocatable.cpu)
  pod other $((cores * 1000 - 500))m 64Mi
  resize p 1 32Mi > /dev/null
  expect "it to wait" wait_for 20 condition_is p PodResizePending Deferred
  expect "an event" wait_for 10 event_has p ResizeDeferred "Node didn't have enough resource: cpu, requested: 1000, used: $((cores * 1000 - 500)), capacity: $((cores * 1000))"
  kill_cluster
  start_cluster "${flags[@]}"
  kubectl run fresh --image=i --overrides='{"spec":{"nodeName":"n1"}}' --command -- sleep 1000 > /dev/null 2>&1
  expect "the new agent to work" wait_for 30 field_is pod fresh .status.phase Running
  expect "it to wait after a crash" condition_is p PodResizePending Deferred
  expect "nothing changed" groups_have p 5000 $((32 << 20))
  kubectl delete pod other fresh --grace-period=1 > /dev/null 2>&1
  expect "room to be taken" wait_for 20 has p 1 32Mi
  expect "in the groups, too" wait_for 10 groups_have p 100000 $((32 << 20))
  resize p $((cores + 1)) 32Mi > /dev/null
  expect "what can never be" wait_for 20 condition_is p PodResizePending Infeasible
  expect "it to stay as it is" has p 1 32Mi
}

# With every runtime.
only_amounts_can_change() {
  expect "the pod's own way to stay closed" refused 'pod updates may not change fields' kubectl patch pod p -p "$(wish 1 32Mi)"
  expect "no other class of service" refused 'Pod QOS Class may not change as a result of resizing' kubectl patch pod p --subresource resize -p '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1m"}}}]}}'
  expect "nothing to be removed" refused 'resource limits cannot be removed' kubectl patch pod p --subresource resize -p '{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":null}}}]}}'
  expect "it in discovery" grep -q '"name":"pods/resize"' <<< "$(kubectl get --raw /api/v1)"
  expect "it in OpenAPI" grep -q 'pods/{name}/resize' <<< "$(kubectl get --raw /openapi/v3/api/v1)"
}
# With plain processes.
processes_cannot_be_resized() {
  pod p 100m 32Mi
  expect "no limits that nobody keeps" field_is pod p '.status.containerStatuses[0].resources' '{"requests":{"cpu":"100m","memory":"32Mi"}}'
  resize p 200m 32Mi > /dev/null
  expect "it to be said" wait_for 20 condition_is p PodResizePending Infeasible
  expect "why" event_has p ResizeInfeasible 'In-place resize is not possible on this node: pods are plain processes here, which nothing holds to limits'
}

runtimes=process
[ $root = 1 ] && command -v runc conmon > /dev/null && runtimes="process runc"
for runtime in $runtimes; do
  echo "as $runtime"
  flags=(--node-name n1 --host-rootfs --runtime "$runtime")
  start_cluster "${flags[@]}"
  wait_for 10 kubectl get node n1
  if [ "$runtime" = runc ]; then
    run_tests limits_change_under_what_runs a_container_restarts_where_it_asks_for_it memory_in_use_is_not_taken_away a_pod_is_resized_as_a_whole what_waits_outlives_the_agent only_amounts_can_change
  else
    run_tests processes_cannot_be_resized only_amounts_can_change
  fi
  stop_cluster
  rm -rf "$scratch/data"
done
exit ${failed:-0}
