#!/usr/bin/env bash
# Single pods through the agent scheduler, beside the batch scheduler, and the shards that both get.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

hurried() { # hurried NAME CPU COMMAND
  cat <<Y
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  schedulerName: agent-scheduler
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  containers:
  - {name: main, image: "nginx:latest", command: [sh, -c, "$3"], resources: {requests: {cpu: $2}}}
Y
}
sharing() { # sharing YAML: the sharding configuration
  kubectl create configmap volcano-sharding-configmap -n volcano-system --from-literal=sharding.yaml="$1" -o yaml --dry-run=client | kubectl apply -f -
}

a_single_pod_runs_without_a_group() {
  hurried quick 100m 'echo done' | kubectl apply -f - > /dev/null
  expect "ends" wait_for 15 field_is pod quick .status.phase Succeeded
  expect "event" sh -c 'kubectl get events | grep -q "Successfully assigned default/quick to"'
  expect "no group" sh -c '! kubectl get podgroup -o name | grep -q .'
}
one_that_fits_nowhere_is_told() {
  hurried huge 4000 'true' | kubectl apply -f - > /dev/null
  expect "reason" wait_for 10 field_is pod huge '.status.conditions[?(@.type=="PodScheduled")].reason' Unschedulable
  expect "message" sh -c 'kubectl get pod huge -o "jsonpath={.status.conditions[0].message}" | grep -q "0/1 nodes are unavailable: 1 Insufficient cpu"'
  kubectl delete pod huge --wait=false > /dev/null
}
nodes_are_shared_out() {
  local node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
  expect "the idle node is the batch scheduler's" wait_for 10 field_is nodeshard volcano '.status.nodesInUse[*]' "$node"
  expect "and nobody else's" field_is nodeshard agent-scheduler .spec.nodesDesired '[]'
  kubectl create namespace volcano-system > /dev/null 2>&1
  sharing '{schedulerConfigs: [{name: agent-scheduler}, {name: volcano}]}' > /dev/null
  expect "the ConfigMap gives it away" wait_for 10 field_is nodeshard agent-scheduler '.status.nodesInUse[*]' "$node"
  expect "the batch scheduler leaves it" wait_for 10 field_is nodeshard volcano .spec.nodesDesired '[]'
  sharing '{schedulerConfigs: []}' > /dev/null
  expect "a broken one is told of" wait_for 10 sh -c 'kubectl get events -n volcano-system | grep -q "InvalidConfiguration"'
  expect "and changes nothing" field_is nodeshard agent-scheduler '.spec.nodesDesired[*]' "$node"
}

start_cluster --host-rootfs --agent-scheduler --scheduler-sharding-mode=soft || { echo "FAIL start: $(tail -3 "$scratch/up.log")"; exit 1; }
run_tests a_single_pod_runs_without_a_group one_that_fits_nowhere_is_told nodes_are_shared_out
