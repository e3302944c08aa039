#!/usr/bin/env bash
# Pods under control groups v2: limits, what a container sees, how it ends without memory, what is measured, what survives, what is left.
# usage: unified_test.sh [TEST...]
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/lib.sh"
flags=(--node-name n1 --host-rootfs --runtime runc)
top=/sys/fs/cgroup

holds() { grep -qF -- "$1" <<< "$2" || { echo "$2"; return 1; }; }
uid_of() { field pod "$1" .metadata.uid; }
group_of() { echo $top/volcano-*/pod"$(uid_of "$1")"; } # group_of POD
container_group_of() { echo $top/volcano-*/pod"$(uid_of "$1")"/*/; }
in_file() { [ "$(cat "$1")" = "$2" ] || { cat "$1"; return 1; }; } # in_file FILE TEXT
says() { holds "$2" "$(kubectl logs "$1" ${3:+-c "$3"} 2>&1)"; } # says POD TEXT [CONTAINER]
ended() { field_is pod "$1" ".status.containerStatuses[${3:-0}].state.terminated.reason" "$2"; }
code_is() { field_is pod "$1" '.status.containerStatuses[0].state.terminated.exitCode' "$2"; }
pod() { # pod NAME SCRIPT [more fields of the container] [more fields of the spec]
  kubectl apply -f - > "$scratch/apply.out" 2>&1 << YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  containers: [{name: main, image: i, command: [sh, -c, '$2'] ${3:+, $3}}]
  ${4:-}
YAML
}
running() { wait_for 20 field_is pod "$1" .status.phase Running; }
gone() { kubectl delete pod "$@" --wait --timeout=$((20 * PATIENCE))s > /dev/null; }
hog='x=x; while true; do x=$x$x; done'
loop='trap "exit 0" TERM; while true; do sleep 0.1; done'

the_machine_has_v2_alone() {
  expect "control groups v2" [ "$(stat -fc %T $top)" = cgroup2fs ]
  expect "no v1" sh -c '! grep -q " - cgroup " /proc/self/mountinfo'
}
limits_are_in_the_groups() {
  pod limits "$loop" 'resources: {requests: {cpu: 250m}, limits: {cpu: 500m, memory: 64Mi}}'
  expect "it to run" running limits
  local group
  for group in "$(group_of limits)" "$(container_group_of limits)"; do
    expect "cpu.max of $group" in_file "$group/cpu.max" "50000 100000"
    expect "cpu.weight of $group" in_file "$group/cpu.weight" 10
    expect "memory.max of $group" in_file "$group/memory.max" 67108864
    expect "pids.max of $group" in_file "$group/pids.max" 4096
  done
  expect "no swap" in_file "$(group_of limits)/memory.swap.max" 0
}
containers_see_their_own_group() {
  expect "the limit of memory" holds 67108864 "$(kubectl exec limits -- cat $top/memory.max 2>&1)"
  expect "the limit of processors" holds "50000 100000" "$(kubectl exec limits -- cat $top/cpu.max 2>&1)"
  expect "nothing of the machine" [ "$(kubectl exec limits -- sh -c "cat /proc/1/cgroup; ls -d $top/*.slice 2>/dev/null")" = "0::/" ]
  expect "nothing to be written" holds 'Read-only file system' "$(kubectl exec limits -- mkdir $top/mine 2>&1)"
  pod all "ls $top; cat /proc/self/cgroup; mkdir $top/volcano-test && rmdir $top/volcano-test && echo writes; sleep 1000" 'securityContext: {privileged: true}'
  expect "who is privileged to see all" wait_for 20 says all system.slice
  expect "and to write" wait_for 5 says all writes
  gone all
}
who_has_ids_of_its_own_sees_its_group() {
  pod users "cat $top/memory.max; ls $top; id -u; sleep 1000" 'resources: {limits: {memory: 64Mi}}' 'hostUsers: false'
  wait_for 20 sh -c 'kubectl get pod users -o "jsonpath={.status.phase}" | grep -qE "Running|Failed"'
  if field_is pod users .status.reason UnsupportedByNode; then
    skipped=$(field pod users .status.message)
    return
  fi
  expect "its limit" wait_for 20 says users 67108864
  expect "nothing of the machine" sh -c '! kubectl logs users | grep -q slice'
  gone users
}
out_of_memory_ends_a_container() {
  pod oom "$hog" 'resources: {limits: {memory: 32Mi}}'
  expect "OOMKilled" wait_for 30 ended oom OOMKilled
  expect "exit code 137" code_is oom 137
  pod part "($hog); echo survived; sleep 1000" 'resources: {limits: {memory: 32Mi}}'
  expect "a container to end with a process of it" wait_for 30 ended part OOMKilled
  expect "as a whole" sh -c '! kubectl logs part | grep -q survived'
  kubectl apply -f - > /dev/null 2>&1 << YAML
apiVersion: v1
kind: Pod
metadata: {name: shared}
spec:
  terminationGracePeriodSeconds: 1
  restartPolicy: Never
  resources: {limits: {memory: 48Mi}}
  containers:
  - {name: hog, image: i, command: [sh, -c, 'sleep 3; $hog']}
  - {name: idle, image: i, command: [sh, -c, '$loop']}
YAML
  expect "the limit of a pod as a whole" wait_for 30 ended shared OOMKilled
  expect "its other container to live" [ -n "$(field pod shared '.status.containerStatuses[1].state.running.startedAt')" ]
  gone oom part shared
}
swap_is_no_way_out() {
  fallocate -l 256M "$scratch/swap" && chmod 600 "$scratch/swap" && mkswap "$scratch/swap" > /dev/null && swapon "$scratch/swap" || { skipped="no swap here"; return; }
  pod swaps 'head -c 100000000 /dev/zero | tail -c 99999999 > /dev/null; echo done' 'resources: {limits: {memory: 32Mi}}'
  expect "OOMKilled" wait_for 40 ended swaps OOMKilled
  gone swaps
  swapoff "$scratch/swap"
}
processors_are_held_to_the_quota() {
  pod busy 'while true; do :; done' 'resources: {limits: {cpu: 200m, memory: 32Mi}}'
  expect "it to run" running busy
  local before after group
  group=$(container_group_of busy)
  before=$(sed -n 's/^usage_usec //p' "$group/cpu.stat")
  elapse 10 the span of the measurement
  after=$(sed -n 's/^usage_usec //p' "$group/cpu.stat")
  expect "a fifth of a processor in ten seconds, not $((after - before)) us" [ $((after - before)) -lt 2600000 -a $((after - before)) -gt 500000 ]
  expect "it to be throttled" grep -qE '^nr_throttled [1-9]' "$group/cpu.stat"
}
processes_are_counted() {
  echo 8 > "$(group_of limits)/pids.max"
  expect "no more processes than the pod may have" holds 'Resource temporarily unavailable' "$(kubectl exec limits -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 5 & done; wait' 2>&1; kubectl exec limits -- python3 -c 'import os
for i in range(9):
    if os.fork() == 0: os.execvp("sleep", ["sleep", "5"])' 2>&1)"
  echo 4096 > "$(group_of limits)/pids.max"
}
measured() { # measured URL TEXT
  holds "$2" "$(kubectl get --raw "$1" 2>&1)"
}
use_is_measured() {
  expect "kubectl top" wait_for 60 sh -c "kubectl top pod busy --no-headers | grep -E '^busy +(1[0-9][0-9]|2[0-3][0-9])m +[1-9]'"
  [ -z "$problem" ] || kubectl top pod busy
  local pod=/api/v1/nodes/n1/proxy
  expect "a summary" measured "$pod/stats/summary" '"name":"busy"'
  kubectl get --raw "$pod/stats/summary" > "$scratch/summary" 2> /dev/null
  expect "memory in it that the group has" python3 -c '
import json, sys
summary, current = json.load(open(sys.argv[1])), int(open(sys.argv[2] + "/memory.current").read())
memory = [p for p in summary["pods"] if p["podRef"]["name"] == "busy"][0]["containers"][0]["memory"]
assert 0 < memory["workingSetBytes"] <= memory["usageBytes"], memory
assert abs(memory["usageBytes"] - current) < 4 << 20, (memory, current)
assert 0 < memory["rssBytes"] <= memory["usageBytes"] and memory["pageFaults"] > 0, memory' "$scratch/summary" "$(container_group_of busy)"
  expect "cadvisor's lines" measured "$pod/metrics/cadvisor" 'container_cpu_usage_seconds_total{container="main"'
  expect "memory among them" measured "$pod/metrics/cadvisor" 'container_memory_working_set_bytes{container="main"'
  gone busy
}
pods_outlive_the_agent() {
  pod later 'until [ -e /dev/shm/go ]; do sleep 0.1; done; x=x; while true; do x=$x$x; done' 'resources: {limits: {memory: 32Mi}}'
  expect "it to run" running later
  kill_cluster
  pgrep -f "[c]onmon.*$scratch" > /dev/null || problem="no monitor is left"
  start_cluster "${flags[@]}"
  expect "it to be found" running limits
  expect "no restart" field_is pod limits '.status.containerStatuses[0].restartCount' 0
  expect "its limits" in_file "$(container_group_of limits)/memory.max" 67108864
  kubectl exec later -- touch /dev/shm/go
  expect "the new agent to see an end without memory" wait_for 30 ended later OOMKilled
  gone later
}
systemd_leaves_the_groups_alone() {
  command -v systemctl > /dev/null || { skipped="no systemd here"; return; }
  systemctl daemon-reload
  systemd-run --quiet --wait -p CPUWeight=50 -p MemoryMax=100M true
  expect "controllers to stay" holds "cpu memory" "$(sed 's/cpuset //; s/ io / /' $top/cgroup.subtree_control)"
  expect "limits to stay" in_file "$(container_group_of limits)/cpu.max" "50000 100000"
  pod after 'echo here'
  expect "another pod" wait_for 20 says after here
  gone after
}
processes_end_with_their_container() {
  pod orphans '(setsid sleep 4321.5 &); sleep 1' '' 'shareProcessNamespace: true'
  expect "its end" wait_for 20 ended orphans Completed
  expect "nothing it left to run" wait_for 10 sh -c '! pgrep -f "[s]leep 4321.5"'
  pod nested "mkdir $top/nested-test && echo \$\$ > $top/nested-test/cgroup.procs; echo moved; sleep 5432.5 & sleep 1000" 'securityContext: {privileged: true}'
  expect "one that leaves its group" wait_for 20 says nested moved
  gone orphans nested
  expect "it to end" wait_for 10 sh -c '! pgrep -f "[s]leep 5432.5"'
  rmdir $top/nested-test 2> /dev/null
}
nothing_is_left_of_a_pod() {
  local group
  group=$(group_of limits)
  expect "a group" [ -d "$group" ]
  gone limits
  expect "no group" wait_for 10 [ ! -e "$group" ]
}
a_stop_leaves_no_groups() {
  pod last "$loop"
  expect "it to run" running last
  stop_cluster
  expect "no groups" sh -c '! find /sys/fs/cgroup -maxdepth 1 -name "volcano-*" | grep -q .'
  expect "no monitors" sh -c "! pgrep -f '[c]onmon.*$scratch'"
}

start_cluster "${flags[@]}"
wait_for 20 kubectl get node n1
[ $# != 0 ] || set -- the_machine_has_v2_alone limits_are_in_the_groups containers_see_their_own_group who_has_ids_of_its_own_sees_its_group out_of_memory_ends_a_container swap_is_no_way_out processors_are_held_to_the_quota \
  processes_are_counted use_is_measured pods_outlive_the_agent systemd_leaves_the_groups_alone processes_end_with_their_container nothing_is_left_of_a_pod a_stop_leaves_no_groups
run_tests "$@"
exit ${failed:-0}
