#!/usr/bin/env bash
# Co-location on this machine, with stock kubectl and real containers: what is offered, how offline pods are held back, what is taken back.
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

groups=/sys/fs/cgroup
idle_of() { cat $groups/cpu/volcano-*/pod"$1"/cpu.idle $groups/volcano-*/pod"$1"/cpu.idle 2> /dev/null; }
weight_of() { cat $groups/cpu/volcano-*/pod"$1"/cpu.shares $groups/volcano-*/pod"$1"/cpu.weight 2> /dev/null; }
is_idle() { [ "$(idle_of "$1")" = "$2" ]; }
offers() { # 6k is 6000
  case "$(field node "$(hostname)" '.status.allocatable.kubernetes\.io/batch-cpu')" in "" | 0) false ;; esac
}
offers_none() { [ -z "$(field node "$(hostname)" '.status.allocatable.kubernetes\.io/batch-cpu')" ]; }
uid_of() { field pod "$1" .metadata.uid; }
configure() { # configure SECTIONS
  kubectl patch configmap volcano-agent-configuration -n volcano-system --type merge \
    -p "{\"data\":{\"colocation-config\":\"{\\\"globalConfig\\\":{$(sed 's/"/\\"/g' <<< "$1")}}\"}}"
}
offline_pod_is_gone() { [ "$(field pod batch-default0-0 .status.phase)" != Running ]; }
journal_has() { kubectl get --raw /debug/colocation | grep -q "$1"; }

the_machine_offers_what_is_idle() {
  expect "an offer" wait_for 120 offers # of the CPU that other programs of this machine leave
  expect "the same amount as capacity" [ "$(field node "$(hostname)" '.status.capacity.kubernetes\.io/batch-cpu')" = "$(field node "$(hostname)" '.status.allocatable.kubernetes\.io/batch-cpu')" ]
  expect "the node's word on it" wait_for 20 field_is node "$(hostname)" '.status.conditions[?(@.type=="ColocationReady")].status' True
  expect "its metric" grep -q '^volcano_agent_oversubscription_resource_quantity{.*resource="cpu"} [1-9]' <(kubectl get --raw /metrics)
}
an_offline_job_runs_on_it_and_yields() {
  kubectl run web --image=i --restart=Never --overrides='{"spec":{"terminationGracePeriodSeconds":1}}' -- sleep 1000 > /dev/null
  "$volcano" vsub --offline -n batch --output none -R cpu=1m,memory=32Mi -- sh -c 'while :; do :; done' > "$scratch/vsub.out" 2>&1
  expect "vsub" grep -q "run job batch successfully" "$scratch/vsub.out"
  expect "an offline pod that runs" wait_for 60 field_is pod batch-default0-0 .status.phase Running
  expect "its level" [ "$(field pod batch-default0-0 '.metadata.annotations.volcano\.sh/qos-level')" = BE ]
  expect "idle amounts" [ "$(field pod batch-default0-0 '.spec.containers[0].resources.requests.kubernetes\.io/batch-cpu')" = 1 ]
  expect "an idle group" wait_for 15 is_idle "$(uid_of batch-default0-0)" 1
  expect "the journal to say so" journal_has cpu.idle
  expect "other pods" wait_for 30 field_is pod web .status.phase Running
  expect "no idle group of theirs" is_idle "$(uid_of web)" 0
}
a_rewrite_by_another_is_put_right() {
  local uid file
  uid=$(uid_of batch-default0-0)
  for file in $groups/cpu/volcano-*/pod"$uid"/cpu.idle $groups/volcano-*/pod"$uid"/cpu.idle; do [ -e "$file" ] && echo 0 > "$file"; done
  expect "idle again" wait_for 12 is_idle "$uid" 1
}
an_idle_pod_can_be_resized() {
  kubectl apply -f - > /dev/null <<< $'---\n''{apiVersion: v1, kind: Pod, metadata: {name: sized, annotations: {volcano.sh/qos-level: BE}}, spec: {terminationGracePeriodSeconds: 1,
    containers: [{name: c, image: i, command: [sleep, "1000"], resources: {requests: {cpu: 100m}, limits: {cpu: 200m}}}]}}'
  wait_for 30 field_is pod sized .status.phase Running
  expect "an idle group" wait_for 15 is_idle "$(uid_of sized)" 1
  kubectl patch pod sized --subresource resize -p '{"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"150m"},"limits":{"cpu":"300m"}}}]}}' > /dev/null
  expect "the new limit" wait_for 20 field_is pod sized '.status.containerStatuses[0].resources.limits.cpu' 300m
  expect "an idle group still" is_idle "$(uid_of sized)" 1
  kubectl delete pod sized --now > /dev/null
}
switched_off_it_takes_back_what_it_set() {
  local uid
  uid=$(uid_of batch-default0-0)
  expect "a new configuration" configure '"cpuQosConfig":{"enable":false},"overSubscriptionConfig":{"enable":true},"evictingConfig":{}'
  expect "a group as it was" wait_for 15 is_idle "$uid" 0
  expect "a weight" [ "$(weight_of "$uid")" -gt 0 ]
  expect "a broken one" configure '"evictingConfig":{"evictingCPULowWatermark":-1}'
  expect "the reason" wait_for 10 journal_has "evictingCPULowWatermark must be a positive number"
  expect "no offer" configure '"overSubscriptionConfig":{"enable":false},"evictingConfig":{}'
  expect "none to be left" wait_for 30 offers_none
  expect "the offline pod to go" wait_for 30 offline_pod_is_gone
  expect "the online one to stay" field_is pod web .status.phase Running
}

if [ $root = 0 ] || ! command -v runc > /dev/null; then
  echo "skip colocation: containers need root and runc"
  exit 0
fi
start_cluster --host-rootfs --colocation
run_tests the_machine_offers_what_is_idle an_offline_job_runs_on_it_and_yields a_rewrite_by_another_is_put_right an_idle_pod_can_be_resized switched_off_it_takes_back_what_it_set
