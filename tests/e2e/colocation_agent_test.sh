#!/usr/bin/env bash
# vc-agent as on a cluster, over HTTPS: groups and counters of a machine that is made up, of control groups v2 with systemd and containerd.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
. tests/e2e/made_up_groups.sh

machine=$scratch/machine
port=$(free_port)
agent=""
offline=$machine/sys/cgroup/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod
start_agent() {
  SYS_FS_PATH=$machine/sys PROC_STAT_PATH=$machine/stat MEM_INFO_PATH_ENV=$machine/meminfo KUBELET_ROOT_DIR=$machine/kubelet \
    CGROUP_DRIVER=systemd VOLCANO_TEST_CGROUP_VERSION=v2 KUBE_NODE_NAME=n2 KUBE_POD_NAME=agent-1 KUBE_POD_NAMESPACE=volcano-system \
    "$PWD/build/release/bin/vc-agent" --kubeconfig "$KUBECONFIG" --supported-features='*' --healthz-address=127.0.0.1 --healthz-port="$port" \
    --state-dir="$scratch/state" >> "$scratch/agent.log" 2>&1 &
  agent=$!
}
page() { curl -sf "http://127.0.0.1:$port$1"; }
page_has() { page "$1" | grep -q -- "$2"; }
reads() { [ "$(cat "$1")" = "$2" ]; }
offered_is() { field_is node n2 '.status.allocatable.kubernetes\.io/batch-cpu' "$1"; }
make_machine() {
  group "$machine/sys/cgroup/kubepods.slice" $((2 << 30))
  group "$machine/sys/cgroup/system.slice"
  printf 'cpu  10 0 10 1000 0 0 0 0 0 0\n' > "$machine/stat"
  printf 'MemTotal: 20000000 kB\nMemAvailable: 15000000 kB\n' > "$machine/meminfo"
  kubectl create -f - > /dev/null <<< '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n2","labels":{"volcano.sh/oversubscription":"true"}}}'
  kubectl patch node n2 --subresource status -p '{"status":{"capacity":{"cpu":"10","memory":"10Gi"},"allocatable":{"cpu":"10","memory":"10Gi"}}}' > /dev/null
  kubectl apply -f - > /dev/null << 'END'
---
{apiVersion: v1, kind: Pod, metadata: {name: batch, annotations: {volcano.sh/qos-level: BE}}, spec: {nodeName: n2, containers: [{name: c, image: i,
  resources: {requests: {kubernetes.io/batch-cpu: "2000"}, limits: {kubernetes.io/batch-cpu: "4000"}}}]}}
END
  kubectl patch pod batch --subresource status -p '{"status":{"phase":"Running","containerStatuses":[{"name":"c","image":"i","imageID":"","ready":true,"restartCount":0,"containerID":"containerd://abc","state":{"running":{}}}]}}' > /dev/null
  offline+=$(field pod batch .metadata.uid | tr - _).slice
  group "$offline"
  group "$offline/cri-containerd-abc.scope"
}

the_node_offers_and_the_group_is_set() {
  make_machine
  start_agent
  expect "health" wait_for 20 page_has /healthz ok
  expect "a configuration" wait_for 20 kubectl get configmap volcano-agent-configuration -n volcano-system
  expect "the offer" wait_for 30 offered_is 6k
  expect "its metric" page_has /metrics 'volcano_agent_oversubscription_resource_quantity{node="n2",resource="cpu"} 6000'
  expect "a quota" wait_for 15 reads "$offline/cri-containerd-abc.scope/cpu.max" "400000 100000"
  kubectl patch configmap volcano-agent-configuration -n volcano-system --type merge -p '{"data":{"colocation-config":"{\"globalConfig\":{\"cpuQosConfig\":{\"enable\":true},\"overSubscriptionConfig\":{},\"evictingConfig\":{}}}"}}' > /dev/null
  expect "an idle group" wait_for 15 reads "$offline/cpu.idle" 1
  expect "the journal" page_has /debug/colocation cpu.idle
  expect "readiness" wait_for 5 page_has /readyz ok
  expect "an event" wait_for 10 kubectl get events -n volcano-system -o 'jsonpath={.items[?(@.reason=="ConfigApplySuccess")].message}'
  expect "other groups as they were" reads "$machine/sys/cgroup/system.slice/cpu.weight" 100
}
killed_it_leaves_the_safe_side_and_the_next_start_takes_over() {
  kill -9 $agent
  wait $agent 2> /dev/null
  expect "an idle group still" reads "$offline/cpu.idle" 1
  start_agent
  expect "health" wait_for 20 page_has /healthz ok
  expect "the offer still" wait_for 20 offered_is 6k
  kill $agent
  wait $agent 2> /dev/null
  agent=""
  expect "the group as it was" reads "$offline/cpu.idle" 0
  expect "its weight" reads "$offline/cpu.weight" 100
  expect "the quota as it was" reads "$offline/cri-containerd-abc.scope/cpu.max" "max 100000"
  expect "no offer" offered_is ""
}
wrong_flags_are_refused() {
  local program=$PWD/build/release/bin/vc-agent
  expect "a ratio" refused "over subscription ratio must be greater than 0" env KUBE_NODE_NAME=n "$program" --oversubscription-ratio=0
  expect "a policy" refused "--oversubscription-policy" env KUBE_NODE_NAME=n "$program" --oversubscription-policy=other
  expect "no node" refused "--kube-node-name" env -u KUBE_NODE_NAME "$program"
  expect "a port" refused "--healthz-port" env KUBE_NODE_NAME=n "$program" --healthz-port=70000
}

start_cluster --components apiserver
run_tests the_node_offers_and_the_group_is_set killed_it_leaves_the_safe_side_and_the_next_start_takes_over wrong_flags_are_refused
[ -z "$agent" ] || kill $agent 2> /dev/null
[ "${failed:-0}" = 0 ] || tail -n 20 "$scratch/agent.log"
