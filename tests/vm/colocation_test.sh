#!/usr/bin/env bash
# Co-location on control groups v2 as the kernel has them: idle groups, burst, protected memory, and stalls that the kernel reports. First with
# the pods of `volcano up`, then vc-agent alone beside groups as systemd makes them for a kubelet with containerd.
# usage: colocation_test.sh [TEST...]
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
top=/sys/fs/cgroup
node=$(hostname)
uid_of() { field pod "$1" .metadata.uid; }
group_of() { echo $top/volcano-*/pod"$(uid_of "$1")"; } # group_of POD
container_group_of() { echo $top/volcano-*/pod"$(uid_of "$1")"/*/; }
in_file() { [ "$(cat "$1")" = "$2" ] || { cat "$1"; return 1; }; } # in_file FILE TEXT
gone() { ! kubectl get pod "$1"; }
runs() { field_is pod "$1" .status.phase Running; }
report() { kubectl get --raw /debug/colocation; }
reports() { grep -q "$1" <<< "$(report)"; }
offers() { # 6k is 6000
  case "$(field node "$node" '.status.allocatable.kubernetes\.io/batch-cpu')" in "" | 0) false ;; esac
}
configure() { # configure SECTIONS
  kubectl patch configmap volcano-agent-configuration -n volcano-system --type merge \
    -p "{\"data\":{\"colocation-config\":\"{\\\"globalConfig\\\":{$(sed 's/"/\\"/g' <<< "$1")}}\"}}"
}
pod() { # pod NAME ANNOTATIONS SCRIPT [more fields of the container] [more fields of the spec]
  kubectl apply -f - > "$scratch/apply.out" 2>&1 << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {run: $1}, annotations: {$2}}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  containers: [{name: main, image: i, command: [sh, -c, '$3'] ${4:+, $4}}]
  ${5:-}
YAML
}
marks() { # marks CPU MEMORY: the percents above which offline pods go; an emulated machine is busy with itself
  kubectl annotate --overwrite node "$node" volcano.sh/evicting-cpu-high-watermark="$1" volcano.sh/evicting-cpu-low-watermark=$(($1 - 1)) \
    volcano.sh/evicting-memory-high-watermark="$2" volcano.sh/evicting-memory-low-watermark=$(($2 - 1)) > /dev/null
}
loop='while :; do :; done'
rest='trap "exit 0" TERM; while true; do sleep 1; done'
offline='volcano.sh/qos-level: BE'
all='"cpuQosConfig":{"enable":true},"cpuBurstConfig":{"enable":true},"memoryQosV2Config":{"enable":true},"overSubscriptionConfig":{"enable":true},"evictingConfig":{}'

the_kernel_has_what_it_takes() {
  expect "control groups v2" [ "$(stat -fc %T $top)" = cgroup2fs ]
  expect "pressure of memory" grep -q '^some' /proc/pressure/memory
  expect "its page" wait_for 20 reports '"version": 2'
  expect "the kernel's word on stalls" wait_for 20 reports '"kernelTellsOfStalls": true'
  expect "an offer" wait_for 60 offers
  expect "a configuration" configure "$all"
  marks 100000 100000
}
offline_pods_are_idle() {
  pod loops "$offline" "$loop"
  pod web "volcano.sh/qos-level: LS" "$rest" 'resources: {requests: {cpu: 100m, memory: 32Mi}}'
  expect "both to run" wait_for 40 runs loops
  expect "the online one, too" wait_for 40 runs web
  expect "cpu.idle" wait_for 20 in_file "$(group_of loops)/cpu.idle" 1
  expect "none of the online one" in_file "$(group_of web)/cpu.idle" 0
}
an_idle_group_yields() { # by the kernel's own account: two loops beside two idle ones
  local online idle
  spent() { awk '/^usage_usec/ { print $2 }' "$(group_of "$1")/cpu.stat"; }
  pod second "$offline" "$loop"
  pod works "" "$loop" 'resources: {requests: {cpu: 100m}}'
  pod works-too "" "$loop" 'resources: {requests: {cpu: 100m}}'
  for one in second works works-too; do expect "$one" wait_for 40 runs $one; done
  expect "cpu.idle of the second one" wait_for 20 in_file "$(group_of second)/cpu.idle" 1
  online=$(($(spent works) + $(spent works-too))) idle=$(($(spent loops) + $(spent second)))
  enough() { [ $(($(spent works) + $(spent works-too) - online)) -gt 5000000 ]; }
  expect "five seconds of online work" wait_for 30 enough
  online=$(($(spent works) + $(spent works-too) - online)) idle=$(($(spent loops) + $(spent second) - idle))
  expect "online work to get four fifths of the processors (online $online us, offline $idle us)" [ $online -gt $((4 * idle)) ]
  kubectl delete pod works works-too second --now > /dev/null
}
quota_can_be_saved_up() {
  pod bursts 'volcano.sh/enable-quota-burst: "true", volcano.sh/quota-burst-time: "20000"' "$rest" 'resources: {limits: {cpu: 500m, memory: 32Mi}}'
  expect "it to run" wait_for 40 runs bursts
  expect "cpu.max.burst of the container" wait_for 20 in_file "$(container_group_of bursts)/cpu.max.burst" 20000
  expect "and of the pod" in_file "$(group_of bursts)/cpu.max.burst" 20000
  kubectl delete pod bursts --now > /dev/null
}
memory_is_protected_and_throttled() {
  kubectl apply -f - > /dev/null << YAML
apiVersion: config.volcano.sh/v1alpha1
kind: ColocationConfiguration
metadata: {name: ratios}
spec: {selector: {matchLabels: {run: ratios}}, memoryQos: {highRatio: 75, lowRatio: 50, minRatio: 25}}
YAML
  pod ratios "" "$rest" 'resources: {requests: {memory: 64Mi}, limits: {memory: 128Mi}}'
  expect "it to run" wait_for 40 runs ratios
  expect "memory.high" wait_for 20 in_file "$(container_group_of ratios)/memory.high" $((96 << 20))
  expect "memory.low" in_file "$(container_group_of ratios)/memory.low" $((32 << 20))
  expect "memory.min" in_file "$(container_group_of ratios)/memory.min" $((16 << 20))
}
a_crash_leaves_the_groups_and_the_next_start_takes_over() {
  local idle burst
  idle=$(group_of loops)/cpu.idle ratio=$(container_group_of ratios)/memory.low
  kill_cluster
  expect "the group to stay idle" in_file "$idle" 1
  expect "and memory protected" in_file "$ratio" $((32 << 20))
  start_cluster "${flags[@]}"
  expect "the pod, still" wait_for 20 runs loops
  expect "a new configuration" configure '"overSubscriptionConfig":{"enable":true},"evictingConfig":{}'
  expect "the value from before the crash" wait_for 20 in_file "$idle" 0
  expect "of memory, too" wait_for 20 in_file "$ratio" 0
  kubectl delete pod ratios --now > /dev/null
}
online_work_that_waits_for_disks_takes_the_offline_pod_that_writes() {
  expect "everything switched on" configure "$all"
  mkdir -p /mnt/slow
  mountpoint -q /mnt/slow || mount /dev/vdc /mnt/slow
  local mounts='volumeMounts: [{name: disk, mountPath: /slow}]' volumes='volumes: [{name: disk, hostPath: {path: /mnt/slow}}]'
  pod syncs "volcano.sh/qos-level: LS" 'while :; do dd if=/dev/zero of=/slow/small bs=4k count=1 conv=fsync 2> /dev/null; done' "$mounts" "$volumes"
  expect "online work" wait_for 40 runs syncs
  pod writes "$offline" 'while :; do dd if=/dev/zero of=/slow/large bs=256k count=64 oflag=direct 2> /dev/null; done' "$mounts" "$volumes"
  expect "the pod that writes to go" wait_for 60 gone writes
  expect "with an event" sh -c 'kubectl get events | grep -q "Evict offline pod due to io resource pressure"'
  expect "the loop to stay" runs loops
  expect "online work to stay" runs syncs
  kubectl delete pod syncs --now > /dev/null
}
short_memory_takes_offline_pods_and_no_other() {
  expect "everything switched on" configure "$all"
  marks 100000 60
  wait_for 20 in_file "$(group_of loops)/cpu.idle" 1
  # More than there is: without the agent the kernel would choose a victim in the end.
  pod fills "$offline" 'exec python3 -c "import time; held = [time.sleep(0.02) or bytearray(8 << 20) for _ in iter(int, 1)]"'
  expect "it to run" wait_for 40 runs fills
  expect "the pod that holds most to go" wait_for 120 gone fills
  expect "with an event" sh -c 'kubectl get events | grep -q "Evict offline pod due to memory resource pressure"'
  expect "the online one to stay" runs web
  expect "no pod of the kernel's choice" sh -c '! kubectl get pods -o yaml | grep -q OOMKilled'
}
the_end_takes_back_what_was_set() {
  local idle
  wait_for 30 runs loops || pod loops "$offline" "$loop"
  expect "an offline pod" wait_for 60 runs loops
  idle=$(group_of loops)/cpu.idle
  expect "idle" wait_for 30 in_file "$idle" 1
  expect "it switched off" configure '"overSubscriptionConfig":{"enable":true},"evictingConfig":{}'
  expect "an ordinary group" wait_for 30 in_file "$idle" 0
  stop_cluster
}

# Groups as a kubelet with the systemd driver and containerd has them, with a real process in each.
container=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
slice_of() { echo $top/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod"$(uid_of "$1" | tr - _)".slice; }
kubelet_pod() { # kubelet_pod NAME ANNOTATIONS: the object and its groups, of the class BestEffort
  kubectl create -f - > /dev/null << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, annotations: {$2}}
spec: {nodeName: n1, containers: [{name: c, image: i}]}
YAML
  local scope
  scope=$(slice_of "$1")/cri-containerd-$container.scope
  mkdir -p "$scope"
  setsid unshare --net sh -c "ip link add eth0 type veth peer name veth-$1 netns /proc/$$/ns/net; echo \$\$ > $scope/cgroup.procs; exec sleep 100000" < /dev/null > /dev/null 2>&1 &
  kubectl patch pod "$1" --subresource status -p "{\"status\":{\"phase\":\"Running\",\"qosClass\":\"BestEffort\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],
    \"containerStatuses\":[{\"name\":\"c\",\"image\":\"i\",\"imageID\":\"i\",\"ready\":true,\"restartCount\":0,\"containerID\":\"containerd://$container\",\"state\":{\"running\":{}}}]}}" > /dev/null
}
agent() {
  KUBE_NODE_NAME=n1 KUBE_POD_NAMESPACE=volcano-system PROC_STAT_PATH=/proc/stat MEM_INFO_PATH_ENV=/proc/meminfo CGROUP_DRIVER=systemd \
    "$PWD/build/release/bin/vc-agent" --kubeconfig "$KUBECONFIG" --supported-features='*' --healthz-address=127.0.0.1 --healthz-port=3300 --state-dir="$scratch/state" >> "$scratch/agent.log" 2>&1 &
  agent=$!
}
groups_of_systemd_and_containerd_are_kept() {
  rm -rf "$scratch/data"
  start_cluster --components apiserver
  kubectl create namespace volcano-system > /dev/null
  kubectl create -f - > /dev/null <<< $'---\n''{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {volcano.sh/oversubscription: "true"}}}'
  kubectl patch node n1 --subresource status -p '{"status":{"capacity":{"cpu":"2","memory":"3Gi","pods":"10"},"allocatable":{"cpu":"2","memory":"3Gi","pods":"10"}}}' > /dev/null
  mkdir -p $top/kubepods.slice/kubepods-besteffort.slice
  for one in $top $top/kubepods.slice $top/kubepods.slice/kubepods-besteffort.slice; do echo '+cpu +memory +pids' > $one/cgroup.subtree_control; done
  wait_for 20 kubectl get serviceaccount default
  kubelet_pod batch "$offline"
  kubelet_pod online "volcano.sh/qos-level: LS"
  echo '+cpu +memory' > "$(slice_of batch)/cgroup.subtree_control"
  agent
  expect "its configuration" wait_for 30 kubectl get configmap volcano-agent-configuration -n volcano-system
  expect "everything switched on" configure "$all"
  expect "an idle group" wait_for 30 in_file "$(slice_of batch)/cpu.idle" 1
  expect "the online one as it was" in_file "$(slice_of online)/cpu.idle" 0
  expect "groups that are no pod's untouched" sh -c "! cat $top/system.slice/*/cpu.idle | grep -q 1"
  echo 0 > "$(slice_of batch)/cpu.idle"
  expect "a rewrite to be put right" wait_for 15 in_file "$(slice_of batch)/cpu.idle" 1
}
holds() { nft list table netdev volcano_colocation | grep -q "device \"veth-$1\""; } # holds POD
holds_nobody() { ! nft list table netdev volcano_colocation; }
offline_pods_of_a_kubelet_share_a_rate_of_the_network() {
  local tests=$PWD/build/release/bin/colocation_test
  expect "what this kernel does with rules and interfaces" "$tests" --gtest_filter='PodNetwork.*'
  kubectl annotate node n1 volcano.sh/network-bandwidth-rate=8 > /dev/null
  expect "network QoS" configure "$all,\"networkQosConfig\":{\"enable\":true}"
  expect "rules for the offline pod" wait_for 30 holds batch
  expect "none for the online one" refused "" holds online
  expect "the high rate" grep -q "limit rate over 400000 bytes/second" <(nft list table netdev volcano_colocation)
}
kill_of_the_agent_is_survived() {
  kill -9 $agent
  wait $agent 2> /dev/null
  expect "a safe group" in_file "$(slice_of batch)/cpu.idle" 1
  expect "the rules still" holds batch
  agent
  expect "it to be ready" wait_for 30 curl -sf http://127.0.0.1:3300/readyz
  kill $agent
  wait $agent 2> /dev/null
  expect "everything as it was before the first start" wait_for 15 in_file "$(slice_of batch)/cpu.idle" 0
  expect "no rules" holds_nobody
  pkill -f 'sleep 100000'
}

flags=(--host-rootfs --colocation)
start_cluster "${flags[@]}"
[ $# -gt 0 ] || set -- the_kernel_has_what_it_takes offline_pods_are_idle an_idle_group_yields quota_can_be_saved_up memory_is_protected_and_throttled \
  a_crash_leaves_the_groups_and_the_next_start_takes_over online_work_that_waits_for_disks_takes_the_offline_pod_that_writes \
  short_memory_takes_offline_pods_and_no_other the_end_takes_back_what_was_set groups_of_systemd_and_containerd_are_kept \
  offline_pods_of_a_kubelet_share_a_rate_of_the_network kill_of_the_agent_is_survived
run_tests "$@"
