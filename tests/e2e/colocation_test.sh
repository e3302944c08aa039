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
# The network: of 4 Mbps online pods may have 400 kB a second before offline ones go from 200 to 50. An idle pod might get no processor to send by.
network_section() { # network_section ON-OR-OFF CPU-QOS-ON-OR-OFF
  echo '"cpuQosConfig":{"enable":'"$2"'},"overSubscriptionConfig":{},"evictingConfig":{"evictingCPUHighWatermark":100000,"evictingMemoryHighWatermark":100000},"networkQosConfig":{"enable":'"$1"'}'
}
of_network() { kubectl get --raw /debug/colocation | python3 -c "import json, sys; print(json.load(sys.stdin)['network']$1)"; }
interface_of() { kubectl get --raw /debug/colocation | python3 -c "import json, sys; print(*(one['interface'] for one in json.load(sys.stdin)['network']['interfaces'] if one['pod'] == '$1'))"; }
has_interface() { [ -n "$(interface_of "$1")" ]; }
of_network_is() { [ "$(of_network "$1")" = "$2" ]; }
has_network_table() { nft list tables | grep -q 'netdev volcano_colocation_'; }
sender() { # sender NAME LEVEL PACKETS: sends so many each tenth of a second, to its node
  kubectl apply -f - > /dev/null <<< "---
{apiVersion: v1, kind: Pod, metadata: {name: $1, annotations: {volcano.sh/qos-level: $2}}, spec: {terminationGracePeriodSeconds: 0, restartPolicy: Never, containers: [{name: c, image: i,
  command: [bash, -c, 'exec 3> /dev/udp/$(ip -4 -o addr show | sed -n 's,.* vcbr[^ ]* *inet \([0-9.]*\)/.*,\1,p' | head -1)/9; while :; do for ((i = 0; i < $3; i++)); do printf %1400s x >&3; done 2> /dev/null; sleep 0.1; done']}]}}"
}
# Counted by rules of the test, where packets have passed those of the agent.
passed_bytes() { nft list chain bridge e2e_colocation passed | sed -n 's/.* bytes \([0-9]*\).*/\1/p'; }
passed_a_second() {
  local bytes time
  bytes=$(passed_bytes) time=$(date +%s%N)
  elapse 2 "a rate is bytes over a time"
  echo $((($(passed_bytes) - bytes) * 1000000 / (($(date +%s%N) - time) / 1000)))
}
passes() { # passes OPERATOR BYTES-A-SECOND
  local rate
  rate=$(passed_a_second)
  echo "$rate bytes a second"
  [ "$rate" "$1" "$2" ]
}
offline_pods_leave_the_network_to_online_ones() {
  command -v nft > /dev/null || { skipped="the program nft counts what passes"; return 0; }
  kubectl annotate node "$(hostname)" volcano.sh/network-bandwidth-rate=4 > /dev/null
  sender quiet BE 50
  expect "a pod that sends" wait_for 30 field_is pod quiet .status.phase Running
  expect "a new configuration" configure "$(network_section true false)"
  expect "its interface" wait_for 30 has_interface default/quiet
  expect "its limit" wait_for 30 of_network_is "['limit']" 200000
  [ -n "$(of_network "['trouble']")" ] && { skipped=$(of_network "['trouble']"); return 0; }
  printf 'table bridge e2e_colocation {\nchain passed {\ntype filter hook prerouting priority -200; policy accept;\niifname "%s" counter\n}\n}\n' "$(interface_of default/quiet)" | nft -f -
  expect "the high rate" wait_for 60 passes -le 300000
  expect "no less" wait_for 60 passes -ge 100000
  sender loud LS 200
  expect "the low rate, while an online pod sends" wait_for 30 of_network_is "['limit']" 50000
  expect "no more" wait_for 60 passes -le 90000
  expect "the journal to say so" journal_has ": 50000 bytes/s"
  kubectl delete pod loud --now > /dev/null
  expect "the high rate again" wait_for 30 of_network_is "['limit']" 200000
  expect "more" wait_for 60 passes -ge 100000
}
killed_it_leaves_the_rules_and_the_next_start_takes_over() {
  command -v nft > /dev/null || { skipped="the program nft looks for tables"; return 0; }
  kill_cluster
  expect "the table still" has_network_table
  start_cluster --host-rootfs --colocation
  expect "its limit" wait_for 30 of_network_is "['limit']" 200000
  expect "a new configuration" configure "$(network_section false false)"
  expect "no limit" wait_for 30 of_network_is "['limit']" None
  expect "no table" wait_for 10 eval '! has_network_table'
  expect "all that the pod sends" wait_for 60 passes -ge 350000
  expect "the test's own rules still" nft delete table bridge e2e_colocation
  kubectl delete pod quiet --now > /dev/null
  expect "processors as before" configure "$(network_section false true)"
  expect "an idle group again" wait_for 15 is_idle "$(uid_of batch-default0-0)" 1
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
run_tests the_machine_offers_what_is_idle an_offline_job_runs_on_it_and_yields a_rewrite_by_another_is_put_right an_idle_pod_can_be_resized offline_pods_leave_the_network_to_online_ones \
  killed_it_leaves_the_rules_and_the_next_start_takes_over switched_off_it_takes_back_what_it_set
